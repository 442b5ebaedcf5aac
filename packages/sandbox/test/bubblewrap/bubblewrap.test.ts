import { createSandbox } from "../../src/index.ts";
import { conformanceSuite } from "../conformance/conformance.ts";
import { plainUserPython } from "../conformance/differential.ts";

const { path: python, libraries } = await plainUserPython();
const make = (options = {}) => createSandbox({ backend: "bubblewrap", python, ...options });
conformanceSuite({ name: "bubblewrap", make, python, libraries });
