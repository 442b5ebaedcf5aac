import { apartSuite } from "./apart.ts";
import { asAFileSuite } from "./as-a-file.ts";
import { autoPrintSuite } from "./auto-print.ts";
import { behaviourSuite } from "./behaviour.ts";
import type { Subject } from "./harness.ts";
import "./patience.ts";
import { limitsSuite } from "./limits.ts";

/** Everything that a backend must show. */
export function conformanceSuite(subject: Subject): void {
  behaviourSuite(subject);
  limitsSuite(subject);
  apartSuite(subject);
  autoPrintSuite(subject);
  asAFileSuite(subject);
}
