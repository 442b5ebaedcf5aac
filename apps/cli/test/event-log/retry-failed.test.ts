import { expect, test } from "bun:test";
import { fail, type Event } from "@interlace/core";
import { findFailedAnswers } from "../../src/event-log/retry-failed.ts";
import { BROKEN, EXECUTED, GRADES, SAMPLED } from "./events.ts";

test("a failed first request takes its whole group with it: later turns belong to that one answer", () => {
  const other: Event = { ...EXECUTED, key: { ...EXECUTED.key, question: 4 } };
  expect(findFailedAnswers([SAMPLED, EXECUTED, other])).toEqual([
    "sampled 0/3/-/0",
    "executed 0/3/1/1",
  ]);
});

test("elsewhere only what failed is asked again", () => {
  const turn: Event = {
    type: "sampled",
    key: { step: 0, question: 5, group: 1, turn: 1 },
    prompt: { length: 1, hash: 1 },
    sequences: [fail("sampler", "server_error", "503")],
  };
  expect(findFailedAnswers([EXECUTED, BROKEN, ...GRADES, turn])).toEqual([
    "executed 0/3/2/1",
    "graded 0/3/2/2", // unscored
    "sampled 0/5/1/1",
  ]);
});
