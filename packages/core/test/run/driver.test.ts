import { describe, expect, test } from "bun:test";
import {
  collect,
  formatKey,
  rollout,
  rounds,
  type Event,
  type EventLog,
  type Group,
  type MathExample,
} from "../../src/index.ts";
import { BROKEN_SAMPLER, problem, scriptedPorts, toyPlan } from "../support/scripted-world.ts";

const problems = (n: number) => Array.from({ length: n }, (_, i) => problem(`p${i}`));
const callThenAnswer = (_q: number, _g: number, turn: number) => (turn === 0 ? "run:1" : "42");

/** A log that keeps what it is given and tells when it is flushed. */
function memoryLog(trace: string[] = []): EventLog & { readonly events: Event[] } {
  const events: Event[] = [];
  return {
    events,
    append(event) {
      events.push(event);
      trace.push(`log ${event.type} ${formatKey(event.key)}`);
    },
    flush: () => {
      trace.push("flush");
      return Promise.resolve();
    },
  };
}

async function drain(stream: AsyncIterable<Group>): Promise<Group[]> {
  const groups: Group[] = [];
  for await (const group of stream) groups.push(group);
  return groups;
}

test("a problem at its own question_index is what it is in the whole batch", async () => {
  const seeds = async (indices: readonly number[]): Promise<Map<number, number>> => {
    const seen = new Map<number, number>();
    const { ports } = scriptedPorts({ say: () => "42" });
    const own = indices.map((i) => problem(`p${i}`));
    const stream = rollout(toyPlan({ groupSize: 2 }), own, ports, {
      questionIndex: (position) => indices[position] ?? NaN,
      maxOpenGroups: 1,
      onCommand: (command) => {
        if (command.type === "sample") seen.set(command.key.question, command.request.seed);
      },
    });
    for await (const group of stream) expect(group.problem.id).toBe(`p${group.question}`);
    return seen;
  };
  const whole = await seeds([0, 1, 2, 3, 4]);
  const some = await seeds([4, 1]);
  expect(whole.size).toBe(5);
  expect(some).toEqual(new Map([...whole].filter(([question]) => [1, 4].includes(question))));
});

test("two problems at one question_index are a bug, and told", async () => {
  const { ports } = scriptedPorts({ say: () => "42" });
  const stream = rollout(toyPlan({}), problems(2), ports, { questionIndex: () => 3 });
  expect(await drain(stream).catch(String)).toBe("Error: Expected one problem at question 3");
});

describe("order of effects", () => {
  test("an answer is logged before what it causes is issued, and flushed before its group is yielded", async () => {
    const trace: string[] = [];
    const { ports } = scriptedPorts({ say: callThenAnswer });
    const plan = toyPlan({ groupSize: 1 });
    const stream = rollout(
      plan,
      problems(1),
      { ...ports, log: memoryLog(trace) },
      {
        onCommand: (command) => trace.push(`issue ${command.type} ${formatKey(command.key)}`),
      },
    );
    for await (const group of stream) trace.push(`group ${group.question}`);
    expect(trace).toEqual([
      "issue sample 0/0/-/0",
      "log sampled 0/0/-/0",
      "issue execute 0/0/0/1",
      "log executed 0/0/0/1",
      "issue sample 0/0/0/1",
      "log sampled 0/0/0/1",
      "issue grade 0/0/0/2",
      "log graded 0/0/0/2",
      "flush",
      "group 0",
      "flush",
    ]);
  });

  test("rounds: no tool runs while a sample is out, no sample while a tool runs", async () => {
    const open = { sample: 0, execute: 0 };
    const { ports } = scriptedPorts({ say: callThenAnswer });
    const mixed: string[] = [];
    await drain(
      rollout(toyPlan({ groupSize: 3 }), problems(3), ports, {
        schedule: rounds,
        onCommand: ({ type }) => {
          if (type === "grade") return;
          open[type] += 1;
          if (open.sample > 0 && open.execute > 0) mixed.push(type);
        },
        onEvent: ({ type }) => {
          if (type === "sampled") open.sample -= 1;
          if (type === "executed") open.execute -= 1;
        },
      }),
    );
    expect(mixed).toEqual([]);
  });

  test("a slow consumer does not keep answers waiting", async () => {
    const { ports, asked } = scriptedPorts({ say: callThenAnswer });
    const stream = rollout(toyPlan({ groupSize: 1 }), problems(4), ports);
    await stream.next();
    // The consumer holds the first group; the other three finish meanwhile.
    while (asked.graded.length < 4) await Promise.resolve();
    expect(asked.graded).toHaveLength(4);
    await stream.return();
  });

  test("a full rollout waits for answers without spinning: timers and sockets get their turn", async () => {
    // Answers that come by timer never come when the engine keeps the microtask queue busy.
    const delay = <T>(answer: T) => new Promise<T>((resolve) => setTimeout(resolve, 0, answer));
    const { ports } = scriptedPorts({ say: callThenAnswer, delay });
    const stream = rollout(toyPlan({ groupSize: 2 }), problems(12), ports, { maxOpenGroups: 3 });
    expect(await drain(stream)).toHaveLength(12);
  });

  test("an abort ends a rollout that is full and gets no answer", async () => {
    const stop = new AbortController();
    const { ports } = scriptedPorts({ say: callThenAnswer });
    const sampler: typeof ports.sampler = {
      ...ports.sampler,
      sample: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("aborted")));
        }),
    };
    const options = { maxOpenGroups: 2, signal: stop.signal };
    const ended = drain(rollout(toyPlan(), problems(9), { ...ports, sampler }, options));
    setTimeout(() => stop.abort(), 0);
    expect(await ended).toEqual([]);
  });

  test("max_open_groups bounds an endless stream of problems", async () => {
    let pulled = 0;
    let taken = 0;
    let widest = 0;
    async function* endless(): AsyncGenerator<MathExample> {
      for (;;) {
        pulled += 1;
        widest = Math.max(widest, pulled - taken);
        yield problem(`p${pulled}`);
      }
    }
    const { ports } = scriptedPorts({ say: callThenAnswer });
    for await (const _ of rollout(toyPlan({ groupSize: 2 }), endless(), ports, {
      maxOpenGroups: 3,
    })) {
      taken += 1;
      if (taken === 20) break;
    }
    // One more may be in the hand of the feeder, one in that of the consumer.
    expect(widest).toBeLessThanOrEqual(5);
  });
});

describe("failures", () => {
  test("a port that throws costs the trajectory that needed it", async () => {
    const { ports } = scriptedPorts({ say: () => "run:1" });
    const sandbox = { ...ports.sandbox, run: () => Promise.reject(new Error("boom")) };
    const { groups } = await collect(
      toyPlan({ groupSize: 2 }),
      problems(1),
      { ...ports, sandbox },
      {
        maxFailedFraction: 1,
      },
    );
    expect(groups[0]?.members.map((m) => m.failure?.detail)).toEqual(["boom", "boom"]);
  });

  test("a log that cannot be written ends the rollout with its own error", async () => {
    const { ports } = scriptedPorts({ say: callThenAnswer });
    const full: EventLog = {
      append() {
        throw new Error("ENOSPC");
      },
      flush: () => Promise.resolve(),
    };
    expect(collect(toyPlan(), problems(2), { ...ports, log: full })).rejects.toThrow("ENOSPC");
  });

  test("a stream of problems that throws ends the rollout with its own error", async () => {
    function* broken(): Generator<MathExample> {
      yield problem("a");
      throw new Error("line 2 is bad");
    }
    const { ports } = scriptedPorts({ say: () => "42" });
    expect(drain(rollout(toyPlan(), broken(), ports))).rejects.toThrow("line 2 is bad");
  });

  test("past max_failed_fraction the batch fails, says what failed, keeps what is complete and stops asking", async () => {
    const { ports, asked } = scriptedPorts({
      say: (question) => (question < 3 ? BROKEN_SAMPLER : callThenAnswer(0, 0, 0)),
    });
    const batch = await collect(toyPlan({ groupSize: 2 }), problems(5), ports, {
      maxFailedFraction: 0.5,
    });
    expect(batch.end).toBe("failed");
    expect(batch.failures.get("sampler:server_error")).toBe(6);
    expect(batch.groups.map((g) => g.question)).toEqual([0, 1, 2]);
    expect(asked.requests.every((r) => r.id.endsWith("t0"))).toBe(true);
  });

  test("exactly the allowed share is no failure of the batch", async () => {
    const { ports } = scriptedPorts({
      say: (question) => (question === 0 ? BROKEN_SAMPLER : "42"),
    });
    const batch = await collect(toyPlan({ groupSize: 2 }), problems(2), ports, {
      maxFailedFraction: 0.5,
    });
    expect(batch.end).toBe("complete");
  });

  test("a wrong count, a missing logprob and an id outside the vocabulary never enter a trajectory", async () => {
    const bad = {
      0: { logprobs: Float32Array.of(-1) },
      1: { ids: Int32Array.of(9999), logprobs: Float32Array.of(-1) },
      2: { ids: Int32Array.of(65), logprobs: Float32Array.of(Number.NaN) },
      3: { ids: Int32Array.of(65), logprobs: Float32Array.of(-9999) },
      4: { ids: Int32Array.of(65), logprobs: Float32Array.of(0.5) },
      5: { ids: Int32Array.of(65), logprobs: Float32Array.of(0) },
    } as const;
    const { ports } = scriptedPorts({ say: (_q, group) => bad[group as keyof typeof bad] });
    const batch = await collect(toyPlan({ groupSize: 6 }), problems(1), ports, {
      maxFailedFraction: 1,
    });
    expect(batch.groups[0]?.members.map((m) => m.failure?.cause ?? null)).toEqual([
      "invalid_logprobs",
      "invalid_tokens",
      "invalid_logprobs",
      "invalid_logprobs",
      "invalid_logprobs",
      null,
    ]);
    const sampler = { ...ports.sampler, sample: () => Promise.resolve([BROKEN_SAMPLER]) };
    const short = await collect(
      toyPlan({ groupSize: 3 }),
      problems(1),
      { ...ports, sampler },
      {
        maxFailedFraction: 1,
      },
    );
    expect(short.groups[0]?.members.map((m) => m.failure?.cause)).toEqual(
      Array(3).fill("incomplete"),
    );
  });

  test("a sequence that the server aborted is recorded, never parsed, unscored", async () => {
    const { ports, asked } = scriptedPorts({ say: () => ({ finish: "aborted" as const }) });
    const batch = await collect(toyPlan({ groupSize: 1 }), problems(1), ports, {
      maxFailedFraction: 1,
    });
    const member = batch.groups[0]?.members[0];
    expect(member?.turns).toMatchObject([{ finish: "aborted", parsed: null }]);
    expect(member?.phase).toMatchObject({ termination: "aborted", grade: { kind: "unscored" } });
    expect(asked.graded).toEqual([]);
  });
});

describe("callbacks", () => {
  const rejecting: () => unknown = () => Promise.reject(new Error("broken bar"));

  test("progress counts each trajectory exactly once", async () => {
    const seen: string[] = [];
    const { ports } = scriptedPorts({ say: callThenAnswer });
    await collect(toyPlan({ groupSize: 3 }), problems(4), ports, {
      onSettled: (group, member) => seen.push(`${group.question}.${member.index}`),
    });
    expect(seen).toHaveLength(12);
    expect(new Set(seen).size).toBe(12);
  });

  test.each([
    [
      "throws",
      () => {
        throw new Error("broken bar");
      },
    ],
    ["rejects", rejecting],
  ])("one that %s is told once and the rollout goes on", async (_, onEvent) => {
    const told: string[] = [];
    const { ports } = scriptedPorts({ say: callThenAnswer });
    const batch = await collect(toyPlan({ groupSize: 2 }), problems(3), ports, {
      onEvent,
      onWarning: (message) => told.push(message),
    });
    expect(batch.end).toBe("complete");
    expect(told).toEqual(["A rollout callback threw, the rollout goes on: broken bar"]);
  });
});

describe("abort and resume", () => {
  const plan = toyPlan({ groupSize: 2 });
  const four = problems(4);
  const run = async (past: readonly Event[], stopAfter: number) => {
    const { ports, asked } = scriptedPorts({ say: callThenAnswer });
    const log = memoryLog();
    const stop = new AbortController();
    const batch = await collect(
      plan,
      four,
      { ...ports, log },
      {
        past,
        signal: stop.signal,
        onEvent: () => {
          if (log.events.length >= stopAfter) stop.abort();
        },
      },
    );
    return { batch, asked, events: log.events };
  };

  test("abort cancels what is in flight and keeps the complete groups", async () => {
    const signals: AbortSignal[] = [];
    const { ports } = scriptedPorts({ say: () => "42" });
    const stop = new AbortController();
    const sampler = {
      ...ports.sampler,
      sample: (request: Parameters<typeof ports.sampler.sample>[0], signal: AbortSignal) => {
        if (request.id.startsWith("s0-q0")) return ports.sampler.sample(request, signal);
        signals.push(signal);
        return new Promise<never>((_, reject) => {
          signal.addEventListener("abort", () => reject(new Error("aborted")));
        });
      },
    };
    const batch = await collect(
      plan,
      four,
      { ...ports, sampler },
      {
        signal: stop.signal,
        onSettled: (group) => {
          if (group.question === 0) stop.abort();
        },
      },
    );
    expect(batch.end).toBe("interrupted");
    expect(batch.groups.map((g) => g.question)).toEqual([0]);
    expect(signals).not.toBeEmpty();
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
  });

  test("an abort before the start asks nothing", async () => {
    const { ports, asked } = scriptedPorts({ say: () => "42" });
    const batch = await collect(plan, four, ports, { signal: AbortSignal.abort() });
    expect(batch).toMatchObject({ end: "interrupted", groups: [] });
    expect(asked.requests).toEqual([]);
  });

  test("cut after any number of answers and resumed, nothing is asked twice and the groups are the same", async () => {
    const whole = await run([], Number.POSITIVE_INFINITY);
    for (let cut = 0; cut <= whole.events.length; cut++) {
      const past = whole.events.slice(0, cut);
      const rest = await run(past, Number.POSITIVE_INFINITY);
      expect(rest.batch.groups).toEqual(whole.batch.groups);
      expect(rest.events).toHaveLength(whole.events.length - cut);
      const keys = [...past, ...rest.events].map((e) => `${e.type} ${formatKey(e.key)}`);
      expect(new Set(keys).size).toBe(whole.events.length);
    }
  });

  test("aborted anywhere, the log's events resume to the same groups", async () => {
    const whole = await run([], Number.POSITIVE_INFINITY);
    for (let cut = 1; cut < whole.events.length; cut += 3) {
      const first = await run([], cut);
      const second = await run(first.events, Number.POSITIVE_INFINITY);
      expect(second.batch.groups).toEqual(whole.batch.groups);
    }
  });

  test("a whole recording replays without a single question", async () => {
    const whole = await run([], Number.POSITIVE_INFINITY);
    const replay = await run(whole.events, Number.POSITIVE_INFINITY);
    expect(replay.batch).toEqual(whole.batch);
    expect(replay.asked).toEqual({ requests: [], calls: [], graded: [] });
  });

  test("a recording of another prompt is refused, not trained on", async () => {
    const whole = await run([], Number.POSITIVE_INFINITY);
    const { ports } = scriptedPorts({ say: callThenAnswer });
    const other = [problem("other"), ...four.slice(1)];
    expect(collect(plan, other, ports, { past: whole.events })).rejects.toThrow(
      /Recorded answer 0\/0\/-\/0 belongs to a prompt of 3 tokens .* this run asks with 6/,
    );
  });
});
