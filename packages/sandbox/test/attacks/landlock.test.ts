import { createSandbox } from "../../src/index.ts";
import { plainUserPython } from "../conformance/differential.ts";
import { prepareSubject } from "../conformance/harness.ts";
import { attackFile } from "./attack-file.ts";

const { path: python, libraries } = await plainUserPython();
const make = (options = {}) =>
  createSandbox({ backend: "zygote", level: "landlock", runAs: 1234, python, ...options });
await attackFile(
  await prepareSubject({
    name: "zygote with landlock as user",
    make,
    python,
    libraries,
    hasNoSharedMemory: true,
  }),
);
