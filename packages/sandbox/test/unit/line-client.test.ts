import { expect, test } from "bun:test";
import { startLineClient } from "../../src/line-client.ts";

test("a child that ends: every question is refused, and no refusal goes unheard", async () => {
  const unheard: unknown[] = [];
  const note = (reason: unknown): void => void unheard.push(reason);
  process.on("unhandledRejection", note);
  for (let round = 0; round < 10; round += 1) {
    const child = await startLineClient(["sh", "-c", "echo ready; exec <&-; sleep 0.02"], {});
    const answers = await Promise.allSettled(["a", "b", "c"].map((line) => child.ask(line)));
    answers.push(...(await Promise.allSettled([child.ask("d")])));
    expect(answers.map(({ status }) => status)).toEqual(Array(4).fill("rejected"));
  }
  await Bun.sleep(10);
  process.off("unhandledRejection", note);
  expect(unheard).toEqual([]);
});

test("a child that answers nothing at its start is refused", () => {
  expect(startLineClient(["sh", "-c", "exit 1"], {})).rejects.toThrow("but it ended");
});
