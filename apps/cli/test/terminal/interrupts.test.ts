import { expect, test } from "bun:test";
import { listenForInterrupts } from "../../src/terminal/interrupts.ts";

test("copies of one interrupt count once, a later one stops at once", () => {
  let time = 1_000;
  let firsts = 0;
  const exits: number[] = [];
  using interrupts = listenForInterrupts(
    () => void (firsts += 1),
    () => time,
    (code) => void exits.push(code),
  );
  const send = (name: NodeJS.Signals): void => void process.emit(name, name);
  expect(interrupts.by()).toBe(null);
  send("SIGINT");
  send("SIGINT"); // bun run's copy of what the terminal sent
  time += 200;
  send("SIGTERM"); // a supervisor's
  expect({ firsts, exits, by: interrupts.by() }).toEqual({ firsts: 1, exits: [], by: "SIGINT" });
  expect(interrupts.signal.aborted).toBe(true);
  time += 200;
  send("SIGINT");
  expect(exits).toEqual([130]);
});
