import { leanPython } from "../conformance/differential.ts";
import { optionsOf, withSubject, type Kind } from "../conformance/subjects.ts";
import { engineSuite, poolSuite } from "./lifecycle.ts";
import "../conformance/patience.ts";

const POOLS: readonly Kind[] = ["zygote as root", "zygote as user", "zygote with landlock"];
// A pool is started again and again here: without libraries that takes a tenth of the time.
const { path: python } = await leanPython();
for (const kind of [...POOLS, "bubblewrap", "process"] as const) {
  await withSubject(kind, ({ name }) => {
    const options = { ...optionsOf(kind), python };
    engineSuite(name, options);
    if (POOLS.includes(kind)) poolSuite(name, options);
  });
}
