import { createSandbox } from "../../src/index.ts";
import { testPython } from "../conformance/differential.ts";
import { prepareSubject } from "../conformance/harness.ts";
import { attackFile } from "./attack-file.ts";

const { path: python, libraries } = await testPython();
const make = (options = {}) =>
  createSandbox({ backend: "zygote", level: "root", python, ...options });
await attackFile(await prepareSubject({ name: "zygote as root", make, python, libraries }));
