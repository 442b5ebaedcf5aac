import { setDefaultTimeout } from "bun:test";
import { plainUserPython } from "../conformance/differential.ts";
import { engineSuite, poolSuite } from "./lifecycle.ts";

setDefaultTimeout(30_000); // a busy machine is no failure
const { path: python } = await plainUserPython();
const LEVELS = [
  ["zygote as root", { backend: "zygote", level: "root", python }],
  ["zygote as user", { backend: "zygote", level: "user", runAs: 1234, python }],
  ["zygote with landlock", { backend: "zygote", level: "landlock", runAs: 1234, python }],
] as const;

for (const [name, options] of LEVELS) {
  engineSuite(name, options);
  poolSuite(name, options);
}
engineSuite("bubblewrap", { backend: "bubblewrap", python });
engineSuite("process", { backend: "process", python });
