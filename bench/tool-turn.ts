/**
 * What a tool turn costs the engine by length of history, and what a live trajectory holds in memory.
 *
 *   bun bench/tool-turn.ts
 *
 * Method: one scripted trajectory per length on a real tokenizer (Qwen2.5) and template; a round parses and
 * records a tool call, fits a 20-token observation and makes the next request. Lengths take turns within each
 * round, so that load on the machine falls on all of them; medians are compared, not times.
 */
import {
  open,
  rolloutConfigSchema,
  step,
  type Event,
  type Group,
  type Plan,
  type Segment,
} from "../packages/core/src/index.ts";
import { openQwen } from "./support/qwen.ts";
import { ranPrinting } from "./support/stub-tool.ts";
import { loadavg } from "node:os";

const HISTORIES = [1_000, 8_000, 32_000] as const;
const ROUNDS = 300;
const CALL =
  "Let me compute.\n<tool_call>\n<function=code_interpreter>\n<parameter=code>\nprint(6*7)\n</parameter>\n</function>\n</tool_call>";

const { tokenizer, protocol } = await openQwen();
const plan: Plan = {
  config: rolloutConfigSchema.parse({
    groupSize: 1,
    maxTrajectoryTokens: 1_000_000,
    maxCodeCalls: 1_000_000,
    maxAssistantTurns: 1_000_000,
  }),
  protocol,
  step: 0,
};
const callIds = tokenizer.encode(`${CALL}<|im_end|>`);
const printed = ranPrinting("The answer to the question is 42, and the rest is 17.\n");

function problemOf(tokens: number) {
  return { id: "p", question: "word ".repeat(tokens), answer: "42", dataSource: "made" };
}

function sampled(group: Group, turn: number): Event {
  const answer = {
    ok: true,
    ids: callIds.slice(),
    logprobs: new Float32Array(callIds.length).fill(-0.5),
    finish: "stop",
    seed: 0,
    versions: [],
    serverText: null,
  } as const;
  const key = { step: 0, question: group.question, group: turn === 0 ? null : 0, turn };
  return { type: "sampled", key, prompt: { length: 0, hash: 0 }, sequences: [answer] };
}

function toolTurn(group: Group, turn: number): Group {
  const called = step(plan, group, sampled(group, turn)).group;
  const key = { step: 0, question: group.question, group: 0, turn: turn + 1 };
  return step(plan, called, { type: "executed", key, result: printed }).group;
}

const runs = HISTORIES.map((history) => {
  const start = open(plan, problemOf(history), 0).group;
  return { history, start, times: [] as number[] };
});
for (let round = 0; round < ROUNDS + 30; round++) {
  for (const run of runs) {
    const before = performance.now();
    // One turn on the same history each time: it must not grow while it is measured.
    toolTurn(run.start, 0);
    if (round >= 30) run.times.push((performance.now() - before) * 1000);
  }
}
const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
const base = median(runs[0]?.times ?? []);
console.log(
  `load ${loadavg()
    .map((l) => l.toFixed(2))
    .join(" ")}, ${ROUNDS} interleaved rounds, medians`,
);
console.log("history tokens   µs per tool turn   ÷ shortest");
for (const { history, times } of runs) {
  const value = median(times);
  const row = [
    String(history).padStart(14),
    value.toFixed(1).padStart(18),
    (value / base).toFixed(2),
  ];
  console.log(row.join("   "));
}

const LIVE_GROUPS = 125;
const GROUP_SIZE = 8;
const wide: Plan = { ...plan, config: { ...plan.config, groupSize: GROUP_SIZE } };
const groups = Array.from({ length: LIVE_GROUPS }, (_, question) => {
  let { group } = open(wide, problemOf(500), question);
  const first = sampled(group, 0);
  if (first.type !== "sampled") throw new Error("Unreachable");
  const [one] = first.sequences;
  const sequences = Array.from({ length: GROUP_SIZE }, () => structuredClone(one!));
  group = step(wide, group, { ...first, key: { ...first.key, group: null }, sequences }).group;
  for (let turn = 0; turn < 4; turn++) {
    for (let member = 0; member < GROUP_SIZE; member++) {
      const key = { step: 0, question, group: member, turn: turn + 1 };
      group = step(wide, group, { type: "executed", key, result: printed }).group;
      const next = sampled(group, turn + 1);
      group = step(wide, group, { ...next, key }).group;
    }
  }
  return group;
});
const segments = new Set<Segment>();
let live = 0;
for (const group of groups) {
  for (const member of group.members) {
    live += member.tokens.length;
    for (const each of member.tokens.segments) segments.add(each);
  }
}
let bytes = 0;
for (const { ids, logprobs } of segments) bytes += ids.byteLength + (logprobs?.byteLength ?? 0);
console.log(
  `${LIVE_GROUPS * GROUP_SIZE} live trajectories, ${live} live tokens: ${(bytes / live).toFixed(2)} B of typed rows per live token`,
);
