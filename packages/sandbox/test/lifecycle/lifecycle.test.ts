import { setDefaultTimeout } from "bun:test";
import { optionsOf, withSubject, type Kind } from "../conformance/subjects.ts";
import { engineSuite, poolSuite } from "./lifecycle.ts";

setDefaultTimeout(30_000); // a busy machine is no failure

const POOLS: readonly Kind[] = ["zygote as root", "zygote as user", "zygote with landlock"];
for (const kind of [...POOLS, "bubblewrap", "process"] as const) {
  await withSubject(kind, ({ name, python }) => {
    const options = { ...optionsOf(kind), python };
    engineSuite(name, options);
    if (POOLS.includes(kind)) poolSuite(name, options);
  });
}
