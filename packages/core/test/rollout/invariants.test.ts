/**
 * The eleven invariants of the rollout as properties over random scripted worlds, in both schedules and in any
 * order of completion. The oracle of each is the list of requests that the scripted ports saw, not our state.
 */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  collect,
  concatIds,
  groupCentred,
  requestSeed,
  rounds,
  continuous,
  scoreGrade,
  type Event,
  type Group,
  type Member,
  type RolloutConfig,
} from "../../src/index.ts";
import {
  BROKEN_SAMPLER,
  BROKEN_SANDBOX,
  placeOf,
  printed,
  problem,
  scriptedPorts,
  toyPlan,
  type Said,
  type World,
} from "../support/scripted-world.ts";
import { toyIds, TOY_VOCAB } from "../support/toy-protocol.ts";

type Script = {
  readonly config: Partial<RolloutConfig>;
  readonly questions: readonly string[];
  /** Picked by (question, group, turn), so that siblings differ. */
  readonly sayings: readonly Said[];
  readonly outputs: readonly string[];
  readonly brokenTool: boolean;
};

const saying: fc.Arbitrary<Said> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom("run:1", "run:22", "  run:3 ") },
  { weight: 4, arbitrary: fc.constantFrom("42", "is 42", "no", "") },
  { weight: 1, arbitrary: fc.constantFrom("bad call") },
  { weight: 1, arbitrary: fc.constant(BROKEN_SAMPLER) },
  { weight: 1, arbitrary: fc.constant({ finish: "aborted" as const }) },
  { weight: 1, arbitrary: fc.constant(toyIds("run:4")) }, // cut: no END
  { weight: 1, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.constant([TOY_VOCAB]) }, // outside the vocabulary
);

const script: fc.Arbitrary<Script> = fc.record({
  config: fc.record({
    groupSize: fc.integer({ min: 1, max: 5 }),
    maxCodeCalls: fc.integer({ min: 0, max: 3 }),
    maxAssistantTurns: fc.integer({ min: 1, max: 5 }),
    maxTrajectoryTokens: fc.integer({ min: 4, max: 120 }),
    maxAssistantTokens: fc.integer({ min: 10, max: 40 }),
    maxToolResponseTokens: fc.integer({ min: 1, max: 40 }),
    observationReserveTokens: fc.integer({ min: 0, max: 20 }),
    minNextTurnTokens: fc.integer({ min: 0, max: 5 }),
    seed: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
    seedScheme: fc.constantFrom("hashed" as const, "positional" as const),
  }),
  questions: fc.array(fc.constantFrom("q", "what?", "x".repeat(50)), {
    minLength: 1,
    maxLength: 4,
  }),
  sayings: fc.array(saying, { minLength: 1, maxLength: 12 }),
  outputs: fc.array(fc.constantFrom("", "1", "x".repeat(30), "line\n".repeat(9)), { minLength: 1 }),
  brokenTool: fc.boolean(),
});

function worldOf(plan: Script, delay?: World["delay"]): World {
  const pick = <T>(list: readonly T[], n: number) => list[n % list.length] as T;
  return {
    say(question, group, turn) {
      const answer = pick(plan.sayings, question * 7 + group * 3 + turn * 5);
      // A real server keeps max_tokens; ours is only ever asked for more than these say.
      return answer;
    },
    tool(request) {
      const n = [...request.id].reduce((sum, c) => sum + c.charCodeAt(0), 0);
      if (plan.brokenTool && n % 4 === 0) return BROKEN_SANDBOX;
      if (n % 5 === 0) return printed(pick(plan.outputs, n), "error", "Traceback: boom");
      return printed(pick(plan.outputs, n));
    },
    ...(delay === undefined ? {} : { delay }),
  };
}

async function play(plan: Script, schedule = continuous, delay?: World["delay"]) {
  const toy = toyPlan(plan.config);
  const { ports, asked } = scriptedPorts(worldOf(plan, delay));
  const problems = plan.questions.map((q) => problem(q));
  const events: Event[] = [];
  let settled = 0;
  const batch = await collect(toy, problems, ports, {
    schedule,
    maxFailedFraction: 1,
    onEvent: (event) => events.push(event),
    onSettled: () => settled++,
  });
  return { toy, asked, events, settled, problems, ...batch };
}

const members = (groups: readonly Group[]) =>
  groups.flatMap((group) => group.members.map((member) => ({ group, member })));
const check = (property: (run: Awaited<ReturnType<typeof play>>, plan: Script) => void) =>
  fc.assert(
    fc.asyncProperty(script, fc.boolean(), async (plan, inRounds) => {
      property(await play(plan, inRounds ? rounds : continuous), plan);
    }),
    { numRuns: 400 },
  );

describe("invariants", () => {
  test("1: one finite logprob ≤ 1e-4 per sampled id, every id inside the vocabulary", () =>
    check(({ groups }) => {
      for (const { member } of members(groups)) {
        for (const { kind, ids, logprobs } of member.tokens.segments) {
          expect(logprobs === null).toBe(kind !== "sampled");
          expect(logprobs === null || logprobs.length === ids.length).toBe(true);
          expect(logprobs?.every((l) => Number.isFinite(l) && l <= 1e-4) ?? true).toBe(true);
          expect(ids.every((id) => id >= 0 && id < TOY_VOCAB)).toBe(true);
        }
      }
    }));

  test("2: P_{i+1} = P_i + C_i + D_i, and C_i is what the sampler sent", () =>
    check(({ groups, asked, events }) => {
      const sent = new Map<string, Int32Array>();
      for (const event of events) {
        if (event.type !== "sampled") continue;
        for (const [i, answer] of event.sequences.entries()) {
          const { question, group, turn } = event.key;
          if (answer.ok) sent.set(`${question}/${group ?? i}/${turn}`, answer.ids);
        }
      }
      const prompts = new Map(asked.requests.map((r) => [r.id, [...concatIds(r.prompt)]]));
      for (const { group, member } of members(groups)) {
        const all = [...concatIds(member.tokens)];
        for (const [turn, { promptLength, length }] of member.turns.entries()) {
          const id = `s0-q${group.question}-g${turn === 0 ? "x" : member.index}-t${turn}`;
          expect(prompts.get(id)).toEqual(all.slice(0, promptLength));
          const completion = sent.get(`${group.question}/${member.index}/${turn}`) ?? [];
          expect(all.slice(promptLength, promptLength + length)).toEqual([...completion]);
        }
      }
    }));

  test("3: whatever was sampled is in turns, whatever became of it", () =>
    check(({ groups, events }) => {
      let sampled = 0;
      for (const event of events) {
        if (event.type === "sampled") sampled += event.sequences.filter((s) => s.ok).length;
      }
      const turns = members(groups).map(({ member }) => member.turns.length);
      expect(turns.reduce((a, b) => a + b, 0)).toBe(sampled);
    }));

  test("4: the first request of a problem asks group_size samples, every later one 1", () =>
    check(({ asked, toy }) => {
      for (const request of asked.requests) {
        const { group, turn } = placeOf(request);
        expect(group === null).toBe(turn === 0);
        expect(request.samples).toBe(group === null ? toy.config.groupSize : 1);
        expect(request.seed).toBe(requestSeed(toy.config, { step: 0, ...placeOf(request) }));
      }
    }));

  test("5: only completions carry logprobs; all else is context or observation", () =>
    check(({ groups }) => {
      for (const { member } of members(groups)) {
        const sampled = member.tokens.segments.filter((s) => s.logprobs !== null);
        expect(sampled.map((s) => s.ids.length)).toEqual(member.turns.map((t) => t.length));
        expect(member.tokens.segments[0]?.kind).toBe("context");
      }
    }));

  test("6: len(P_i) + max_tokens_i ≤ max_trajectory_tokens, and max_tokens ≥ 1", () =>
    check(({ asked, toy }) => {
      for (const { prompt, maxTokens } of asked.requests) {
        expect(prompt.length + maxTokens).toBeLessThanOrEqual(toy.config.maxTrajectoryTokens);
        expect(maxTokens).toBeGreaterThanOrEqual(1);
      }
    }));

  test("7: every problem yields exactly group_size trajectories, each counted once", () =>
    check(({ groups, settled, problems, toy }) => {
      expect(groups.map((g) => g.question)).toEqual(problems.map((_, i) => i));
      expect(groups.every((g) => g.members.length === toy.config.groupSize)).toBe(true);
      expect(settled).toBe(problems.length * toy.config.groupSize);
    }));

  test("8: every member of a yielded group is graded, and advantages sum to 0 over the scored", () =>
    check(({ groups }) => {
      for (const group of groups) {
        const rewards = group.members.map((m) => {
          expect(m.phase.type).toBe("graded");
          return m.phase.type === "graded" ? (scoreGrade(m.phase.grade)?.reward ?? null) : null;
        });
        const sum = groupCentred(rewards).reduce<number>((a, b) => a + (b ?? 0), 0);
        expect(Math.abs(sum)).toBeLessThan(1e-12);
      }
    }));

  test("9: writing into one member's newest arrays never shows in a sibling", () =>
    check(({ groups }) => {
      for (const group of groups) {
        const own = (m: Member) => m.tokens.segments.slice(1);
        for (const member of group.members) {
          const before = group.members.map((m) => own(m).map((s) => [...s.ids]));
          const kept = own(member).map((s) => s.ids.slice());
          for (const s of own(member)) s.ids.fill(77);
          for (const [i, sibling] of group.members.entries()) {
            if (sibling !== member) {
              expect(own(sibling).map((s) => [...s.ids])).toEqual(before[i] as number[][]);
            }
          }
          for (const [i, s] of own(member).entries()) s.ids.set(kept[i] as Int32Array);
        }
      }
    }));

  test("10: the result does not depend on completion order nor on the schedule", () =>
    fc.assert(
      fc.asyncProperty(script, fc.boolean(), fc.scheduler(), async (plan, inRounds, s) => {
        const expected = await play(plan);
        const delay: World["delay"] = (answer, label) => s.schedule(Promise.resolve(answer), label);
        const shuffled = await s.waitFor(play(plan, inRounds ? rounds : continuous, delay));
        expect(shuffled.groups).toEqual(expected.groups);
        const byId = (run: typeof expected) =>
          run.asked.requests.toSorted((a, b) => (a.id < b.id ? -1 : 1));
        expect(byId(shuffled)).toEqual(byId(expected));
      }),
      { numRuns: 300 },
    ));

  test("11: nothing in, nothing out, nothing asked", async () => {
    const { ports, asked } = scriptedPorts({ say: () => "42" });
    expect((await collect(toyPlan(), [], ports)).groups).toEqual([]);
    expect(asked).toEqual({ requests: [], calls: [], graded: [] });
  });

  test("a recording cut anywhere, its lines in any order, resumes to the same groups", () =>
    fc.assert(
      fc.asyncProperty(script, fc.nat(), fc.boolean(), async (plan, cutAt, reversed) => {
        const whole = await play(plan);
        const past = whole.events.slice(0, cutAt % (whole.events.length + 1));
        if (reversed) past.reverse();
        const { ports, asked } = scriptedPorts(worldOf(plan));
        const rest = await collect(whole.toy, whole.problems, ports, {
          past,
          maxFailedFraction: 1,
        });
        expect(rest.groups).toEqual(whole.groups);
        const asks = asked.requests.length + asked.calls.length + asked.graded.length;
        expect(asks).toBe(whole.events.length - past.length);
      }),
      { numRuns: 400 },
    ));
});
