import { createSandbox } from "../../src/index.ts";
import { conformanceSuite } from "../conformance/conformance.ts";
import { testPython } from "../conformance/differential.ts";
import { prepareSubject } from "../conformance/harness.ts";

const { path: python, libraries } = await testPython();
const make = (options = {}) => createSandbox({ backend: "process", python, ...options });
conformanceSuite(await prepareSubject({ name: "process", make, python, libraries }));
