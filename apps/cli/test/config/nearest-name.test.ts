import { expect, test } from "bun:test";
import { nearestName } from "../../src/config/nearest-name.ts";

const NAMES = ["group_size", "max_code_calls", "seed", "schedule"];

test.each([
  ["group_sze", "group_size"], // one letter missing
  ["gruop_size", "group_size"], // two letters swapped
  ["Group_Size", "group_size"], // another case
  ["max_code_call", "max_code_calls"],
  ["sede", "seed"],
])("%s means %s", (written, meant) => {
  expect(nearestName(written, NAMES)).toBe(meant);
});

test("what resembles nothing has no suggestion", () => {
  expect(nearestName("learning_rate", NAMES)).toBeNull();
  expect(nearestName("", NAMES)).toBeNull();
});
