import { expect, test } from "bun:test";
import { settingsCatalogue } from "../../src/config/catalogue.ts";
import { describeDifferences } from "../../src/eval/describe-differences.ts";

const HASH = "ab".repeat(32);
const OTHER_HASH = "cd".repeat(32);

test("a setting of an evaluation by the name that it is given by, with both values", () => {
  expect(describeDifferences({ "rollout.seed": 42 }, { "rollout.seed": 43 })).toBe(
    "eval.seed (--seed) is 42 there and 43 now",
  );
  expect(describeDifferences({ "rollout.top_k": null }, { "rollout.top_k": 20 })).toBe(
    "eval.top_k is null there and 20 now",
  );
});

test("other settings by their own names, inputs by the beginning of their hashes", () => {
  const there = { data: HASH, "rollout.max_code_calls": 4 };
  expect(describeDifferences(there, { data: OTHER_HASH, "rollout.max_code_calls": 2 })).toBe(
    "the SHA-256 of the problems (--data) is abababababab there and cdcdcdcdcdcd now, rollout.max_code_calls is 4 there and 2 now",
  );
});

test("the first three, what others follow from before the others", () => {
  const there = { a: 1, b: 1, c: 1, d: 1, mode: "retool" };
  expect(describeDifferences(there, { a: 2, b: 2, c: 2, d: 2, mode: "text-only" })).toBe(
    'eval.mode (--mode) is "retool" there and "text-only" now, a is 1 there and 2 now, b is 1 there and 2 now, and 2 more',
  );
});

test("what JSON does not hold is no difference, and a long text is cut", () => {
  expect(describeDifferences({ a: null }, { a: undefined })).toBe("");
  const texts = [{ "protocol.system_prompt": "x".repeat(100) }, { "protocol.system_prompt": null }];
  expect(describeDifferences(texts[0]!, texts[1]!)).toBe(
    `protocol.system_prompt is "${"x".repeat(59)}… there and null now`,
  );
});

test("an evaluation's settings exist", () => {
  const names = ["rollout.seed", "rollout.temperature", "rollout.top_p", "rollout.top_k"];
  for (const name of names) {
    const said = describeDifferences({ [name]: 1 }, { [name]: 2 });
    const [setting = ""] = said.split(" ");
    expect(setting).toStartWith("eval.");
    expect(settingsCatalogue().has(setting)).toBe(true);
  }
});
