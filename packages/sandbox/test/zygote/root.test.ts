import { createSandbox } from "../../src/index.ts";
import { conformanceSuite } from "../conformance/conformance.ts";
import { testPython } from "../conformance/differential.ts";
import { prepareSubject } from "../conformance/harness.ts";

const { path: python, libraries } = await testPython();
const make = (options = {}) =>
  createSandbox({ backend: "zygote", level: "root", python, ...options });
conformanceSuite(
  await prepareSubject({ name: "zygote as root", make, python, libraries, isFirstProcess: true }),
);
