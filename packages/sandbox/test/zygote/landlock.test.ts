import { createSandbox } from "../../src/index.ts";
import { conformanceSuite } from "../conformance/conformance.ts";
import { plainUserPython } from "../conformance/differential.ts";
import { prepareSubject } from "../conformance/harness.ts";

const { path: python, libraries } = await plainUserPython();
const make = (options = {}) =>
  createSandbox({ backend: "zygote", level: "landlock", runAs: 1234, python, ...options });
conformanceSuite(
  await prepareSubject({
    name: "zygote with landlock",
    make,
    python,
    libraries,
    hasNoSharedMemory: true,
  }),
);
