import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { rounds, selectGroups, type Event, type MathExample } from "../../src/index.ts";
import { problem, scriptedPorts, toyPlan, type World } from "../support/scripted-world.ts";

const plan = toyPlan({ groupSize: 2 });

function* endless(): Generator<MathExample> {
  for (let i = 0; ; i++) yield problem(`p${i}`);
}
/** Every third problem has a signal: its members differ. */
const everyThird: World["say"] = (question, group) =>
  question % 3 === 2 && group === 0 ? "42" : "no";

describe("dynamic sampling", () => {
  test("groups without a signal are dropped with their reason and refilled", async () => {
    const { ports } = scriptedPorts({ say: everyThird });
    const result = await selectGroups(plan, endless(), ports, { groups: 3, maxProblems: 20 });
    expect(result).toMatchObject({ end: "full", opened: 9, carried: [] });
    expect(result.groups.map((g) => g.question)).toEqual([2, 5, 8]);
    expect(
      result.dropped
        .get("no_signal")
        ?.map((g) => g.question)
        .toSorted(),
    ).toEqual([0, 1, 3, 4, 6, 7]);
  });

  test("in rounds too: a refill waits for no further problem", async () => {
    const { ports } = scriptedPorts({ say: everyThird });
    const options = { groups: 3, maxProblems: 20, schedule: rounds };
    const result = await selectGroups(plan, endless(), ports, options);
    expect(result.groups.map((g) => g.question)).toEqual([2, 5, 8]);
    expect(result.opened).toBe(9);
  });

  test("a refill that finds nothing ends at its bound, and says so", async () => {
    const { ports, asked } = scriptedPorts({ say: () => "no" });
    const result = await selectGroups(plan, endless(), ports, { groups: 4 });
    expect(result).toMatchObject({ end: "exhausted", groups: [], opened: 12 });
    expect(asked.requests).toHaveLength(12);
  });

  test("too few problems end it too", async () => {
    const { ports } = scriptedPorts({ say: everyThird });
    const three = [problem("a"), problem("b"), problem("c")];
    const result = await selectGroups(plan, three, ports, { groups: 2 });
    expect(result).toMatchObject({ end: "exhausted", opened: 3 });
    expect(result.groups.map((g) => g.question)).toEqual([2]);
  });

  test("without over-sampling the batch does not depend on the order of completion", () =>
    fc.assert(
      fc.asyncProperty(fc.scheduler(), async (s) => {
        const delay: World["delay"] = (answer, label) => s.schedule(Promise.resolve(answer), label);
        const { ports } = scriptedPorts({ say: everyThird, delay });
        const result = await s.waitFor(
          selectGroups(plan, endless(), ports, { groups: 3, maxProblems: 20 }),
        );
        expect(result.groups.map((g) => g.question)).toEqual([2, 5, 8]);
        expect(result.opened).toBe(9);
      }),
      { numRuns: 50 },
    ));
});

test("cut after any number of answers and resumed, the batch is the same and nothing is asked twice", async () => {
  const options = { groups: 2, maxProblems: 20 };
  const events: Event[] = [];
  const { ports } = scriptedPorts({ say: everyThird });
  const onEvent = (event: Event) => void events.push(event);
  const whole = await selectGroups(plan, endless(), ports, { ...options, onEvent });
  for (let cut = 0; cut <= events.length; cut += 3) {
    const asked: Event[] = [];
    const resumed = await selectGroups(plan, endless(), ports, {
      ...options,
      past: events.slice(0, cut),
      onEvent: (event) => void asked.push(event),
    });
    expect(resumed.groups).toEqual(whole.groups);
    expect(resumed.opened).toBe(whole.opened);
    expect(asked).toHaveLength(events.length - cut);
  }
});

describe("over-sampling", () => {
  // Question 0 never answers its second turn in the first batch; all others do at once.
  const slowFirst = (block: boolean) => {
    const say: World["say"] = (_q, group, turn) =>
      turn === 0 ? "run:1" : group === 0 ? "42" : "no";
    const delay: World["delay"] = (answer, label) =>
      block && /^sample s0-q0-g\d/.test(label) ? new Promise(() => {}) : Promise.resolve(answer);
    const { ports, asked } = scriptedPorts({ say, delay });
    const sampler: typeof ports.sampler = {
      ...ports.sampler,
      sample: (request, signal) =>
        Promise.race([
          ports.sampler.sample(request, signal),
          new Promise<never>((_, reject) => {
            signal.addEventListener("abort", () => reject(new Error("aborted")));
          }),
        ]),
    };
    return { ports: { ...ports, sampler }, asked };
  };

  test("the slowest group is carried over, and its recorded answers are not asked for again", async () => {
    const first = slowFirst(true);
    const batch = await selectGroups(plan, endless(), first.ports, { groups: 2, oversample: 1 });
    expect(batch.end).toBe("full");
    expect(batch.groups.map((g) => g.question)).toEqual([1, 2]);
    expect(batch.carried.map((c) => c.problem.id)).toEqual(["p0"]);
    const kept = batch.carried[0]?.events.map((e: Event) => e.type);
    expect(kept).toEqual(["sampled", "executed", "executed"]);

    const second = slowFirst(false);
    const next = await selectGroups({ ...plan, step: 1 }, [problem("p3")], second.ports, {
      groups: 2,
      carried: batch.carried,
    });
    expect(next.end).toBe("full");
    expect(next.groups.map((g) => g.problem.id)).toEqual(["p0", "p3"]);
    expect(second.asked.requests.map((r) => r.id)).toEqual([
      "s1-q0-g0-t1",
      "s1-q0-g1-t1",
      "s1-q1-gx-t0",
      "s1-q1-g0-t1",
      "s1-q1-g1-t1",
    ]);
  });

  test("a group that completes when the batch is full is dropped as such, never lost without a word", async () => {
    const { ports } = scriptedPorts({ say: (_q, group) => (group === 0 ? "42" : "no") });
    const result = await selectGroups(plan, endless(), ports, { groups: 2, oversample: 3 });
    const spare = result.dropped.get("batch_full")?.length ?? 0;
    expect(result.groups).toHaveLength(2);
    expect(spare + result.carried.length + 2).toBe(result.opened);
  });
});

test("bad counts are refused by name", () => {
  const { ports } = scriptedPorts({ say: () => "42" });
  expect(selectGroups(plan, [], ports, { groups: 0 })).rejects.toThrow(
    "Expected groups to be a positive integer, got 0",
  );
});
