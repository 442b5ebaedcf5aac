import { createSandbox } from "../../src/index.ts";
import { conformanceSuite } from "../conformance/conformance.ts";
import { testPython } from "../conformance/differential.ts";

const { path: python, libraries } = await testPython();
const make = (options = {}) =>
  createSandbox({ backend: "zygote", level: "root", python, ...options });
conformanceSuite({ name: "zygote as root", make, python, libraries, isFirstProcess: true });
