import { expect, test } from "bun:test";
import { preflight, rolloutConfigSchema, type Surroundings } from "../../src/index.ts";

const around: Surroundings = {
  serverContext: 8192,
  learnerContext: 8192,
  logprobKind: "temperature_scaled",
};
const fields = (config: object, over: Partial<Surroundings> = {}) =>
  preflight(rolloutConfigSchema.parse(config), { ...around, ...over }).map((f) => [
    f.level,
    f.field,
  ]);

test("the defaults raise nothing", () => {
  expect(fields({})).toEqual([]);
  expect(fields({}, { serverContext: null, learnerContext: null })).toEqual([]);
});

test("fault 5: one number for rollout and learner, a mismatch is an error that names both", () => {
  const findings = preflight(rolloutConfigSchema.parse({}), { ...around, learnerContext: 4096 });
  expect(findings).toEqual([
    {
      level: "error",
      field: "max_trajectory_tokens",
      message:
        "max_trajectory_tokens is 8192, but the learner takes at most 4096 tokens: lower it to 4096 or raise the learner's limit",
    },
  ]);
  expect(fields({}, { serverContext: 512 })).toEqual([["error", "max_trajectory_tokens"]]);
});

test.each([
  [{ groupSize: 1 }, "group_size"],
  [{ maxAssistantTurns: 1 }, "max_assistant_turns"],
  [{ topP: 0.7 }, "top_p"],
  [{ topK: 20 }, "top_k"],
  [{ temperature: 0 }, "temperature"],
])("%p is legal but pointless: one warning", (config, field) => {
  expect(fields(config)).toEqual([["warning", field]]);
});

test("temperature ≠ 1 is a warning only where the server reports raw logprobs", () => {
  expect(fields({ temperature: 0.7 })).toEqual([]);
  expect(fields({ temperature: 0.7 }, { logprobKind: "raw" })).toEqual([
    ["warning", "temperature"],
  ]);
});
