import { afterAll, expect, test } from "bun:test";
import { describeIsolation } from "../../src/index.ts";
import type { Subject } from "../conformance/harness.ts";
import { attackSuite, layBait } from "./attack-suite.ts";

/** The attack suite with bait of its own; what the sandbox claims decides what it must hold. */
export async function attackFile(subject: Subject): Promise<void> {
  const { bait, visitors, remove } = await layBait();
  const first = await subject.make();
  const isolation = first.isolation();
  await first[Symbol.asyncDispose]();
  console.log(`attacking ${describeIsolation(isolation)}`);
  attackSuite(subject, isolation, bait);
  const open = isolation.lines.some((line) => line.name === "no_network" && !line.holds);
  test.skipIf(open)(
    `${subject.name}: no connection arrived, and the bait is untouched`,
    async () => {
      expect(visitors()).toBe(0);
      expect(await Bun.file(bait.secret).text()).toBe("BAIT");
    },
  );
  afterAll(remove);
}
