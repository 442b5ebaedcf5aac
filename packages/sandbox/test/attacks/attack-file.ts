import { afterAll, expect, test } from "bun:test";
import { describeIsolation } from "../../src/index.ts";
import { claims, type Subject } from "../conformance/harness.ts";
import "../conformance/patience.ts";
import { attackSuite, layBait } from "./attack-suite.ts";

/** The attack suite with bait of its own; what the sandbox claims decides what it must hold. */
export async function attackFile(subject: Subject): Promise<void> {
  const { bait, visitors, remove } = await layBait();
  console.log(`attacking ${describeIsolation(subject.isolation)}`);
  attackSuite(subject, bait);
  test.skipIf(!claims(subject, "no_network"))(
    `${subject.name}: no connection arrived, and the bait is untouched`,
    async () => {
      expect(visitors()).toBe(0);
      expect(await Bun.file(bait.secret).text()).toBe("BAIT");
    },
  );
  afterAll(remove);
}
