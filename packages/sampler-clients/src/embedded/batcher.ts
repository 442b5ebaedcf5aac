/**
 * Many requests, one engine. In: requests at any time. Out: finished answers, one token per live sequence and `step`.
 * Requests that arrive while a step runs join the next; samples of one request share its prompt's cache.
 * Synchronous: whoever drives it decides what happens between tokens. Refuses to know workers, promises, text.
 */
import type { WeightVersion } from "@interlace/core";
import {
  seedOf,
  type BatchAnswer,
  type BatchCounts,
  type BatchRequest,
  type BatchSequence,
  type TokenWatcher,
} from "./batch-request.ts";
import { createDrawer, type Drawn } from "./draw.ts";
import type { Engine } from "./engine.ts";
import { createGenerator, type Generator } from "./generator.ts";
import { createSlots, type Slot } from "./slots.ts";

export type Batcher = {
  submit(request: BatchRequest, watch?: TokenWatcher): void;
  /** What was sampled so far, as `aborted`; null when the request is unknown or finished. */
  abort(id: number): BatchAnswer | null;
  /** Between two steps. Live sequences go on under the new weights, their prefix computed again. */
  load(weights: ReadonlyMap<string, Float32Array>, version: WeightVersion): void;
  /** Only the weights: what is cached goes stale. Servers that forget to drop it do this. */
  swap(weights: ReadonlyMap<string, Float32Array>): void;
  /** Only the name of the tokens to come. */
  label(version: WeightVersion): void;
  /** Everything is computed again, also the prefixes of live sequences. */
  forget(): void;
  step(): readonly BatchAnswer[];
  counts(): BatchCounts;
};

type Job = {
  readonly request: BatchRequest;
  readonly watch: TokenWatcher | null;
  readonly sequences: Live[];
  unfinished: number;
};

type Live = {
  readonly job: Job;
  readonly sample: number;
  readonly most: number;
  readonly generator: Generator;
  readonly ids: number[];
  readonly logprobs: number[];
  readonly versions: { readonly version: WeightVersion; readonly start: number }[];
  finish: BatchSequence["finish"] | null;
  slot: Slot | null;
  /** Siblings that wait for this prompt's logits: they draw from the same row. */
  followers: Live[];
};

/** `batch`: most sequences per step, at most the engine's slots. */
export function createBatcher(engine: Engine, firstVersion: WeightVersion, batch: number): Batcher {
  const { vocabSize, context } = engine.config;
  if (engine.rows < context) {
    throw new RangeError(
      `Expected an engine of at least ${context} rows (one whole context), seen ${engine.rows}`,
    );
  }
  const slots = createSlots(engine.slots, context);
  const drawer = createDrawer(vocabSize);
  const waiting: Live[] = [];
  const jobs = new Map<number, Job>();
  let live: Live[] = [];
  let version = firstVersion;
  const total = { steps: 0, rows: 0, tokens: 0 };

  function admit(): void {
    const leaders: Live[] = [];
    while (waiting.length > 0 && live.length < batch) {
      const sequence = waiting[0]!;
      const taken = slots.take(sequence.job.request.prompt);
      if (taken === null) return;
      waiting.shift();
      live.push(sequence);
      sequence.slot = taken.slot;
      const leader = leaders.find((other) => samePrompt(other.job, sequence.job));
      if (leader !== undefined) {
        taken.slot.cached = 0;
        leader.followers.push(sequence);
        continue;
      }
      leaders.push(sequence);
      if (taken.copyFrom !== null) {
        engine.copySlot(taken.copyFrom.index, taken.slot.index, taken.slot.cached);
      }
    }
  }

  /** Feeds what is not cached of sequences [from, …) as far as the rows reach; returns the next to feed. */
  function feed(order: readonly Live[], from: number): number {
    const tokens: number[] = [];
    const positions: number[] = [];
    const rowSlots: number[] = [];
    const wanted: number[] = [];
    let next = from;
    for (; next < order.length; next++) {
      const sequence = order[next]!;
      const slot = sequence.slot!;
      const length = sequence.job.request.prompt.length + sequence.ids.length;
      if (tokens.length + length - slot.cached > engine.rows) break;
      for (let position = slot.cached; position < length; position++) {
        tokens.push(slot.ids[position]!);
        positions.push(position);
        rowSlots.push(slot.index);
      }
      slot.cached = length;
      wanted.push(tokens.length - 1);
    }
    const logits = engine.forward(tokens, positions, rowSlots, wanted);
    total.rows += tokens.length;
    for (let i = 0; i < wanted.length; i++) {
      const sequence = order[from + i]!;
      const row = logits.subarray(i * vocabSize, (i + 1) * vocabSize);
      const followers = sequence.followers;
      sequence.followers = [];
      for (const follower of followers) {
        const length = sequence.slot!.cached;
        engine.copySlot(sequence.slot!.index, follower.slot!.index, length);
        follower.slot!.cached = length;
        sampleOne(follower, row);
      }
      sampleOne(sequence, row);
    }
    return next;
  }

  function sampleOne(sequence: Live, row: Float32Array): void {
    const { request } = sequence.job;
    const drawn = drawer.draw(row, request, sequence.generator());
    if (drawn.id < 0) {
      sequence.finish = "broken";
      return;
    }
    const index = sequence.ids.length;
    sequence.slot!.ids[request.prompt.length + index] = drawn.id;
    sequence.ids.push(drawn.id);
    sequence.logprobs.push(logprobOf(drawn, request.logprobKind));
    if (sequence.versions.at(-1)?.version !== version) {
      sequence.versions.push({ version, start: index });
    }
    total.tokens++;
    sequence.job.watch?.(sequence.sample, index, drawn, row);
    if (request.stopIds.includes(drawn.id)) sequence.finish = "stop";
    else if (index + 1 === sequence.most) sequence.finish = "length";
  }

  function retire(sequence: Live): void {
    if (sequence.slot !== null) slots.release(sequence.slot);
    sequence.slot = null;
    sequence.job.unfinished--;
  }

  return {
    submit(request, watch) {
      const { id, prompt, samples, seed } = request;
      if (prompt.length < 1 || prompt.length >= context) {
        throw new RangeError(
          `Expected a prompt of 1 to ${context - 1} tokens, seen ${prompt.length}`,
        );
      }
      if (jobs.has(id)) throw new Error(`Expected a new request id, seen ${id} again`);
      const job: Job = { request, watch: watch ?? null, sequences: [], unfinished: samples };
      const most = Math.min(request.maxTokens, context - prompt.length);
      for (let sample = 0; sample < samples; sample++) {
        job.sequences.push({
          job,
          sample,
          most,
          generator: createGenerator(seedOf(seed, sample)),
          ids: [],
          logprobs: [],
          versions: [],
          finish: null,
          slot: null,
          followers: [],
        });
      }
      jobs.set(id, job);
      waiting.push(...job.sequences);
    },
    abort(id) {
      const job = jobs.get(id);
      if (job === undefined) return null;
      jobs.delete(id);
      for (const sequence of job.sequences) {
        if (sequence.finish !== null) continue;
        sequence.finish = "aborted";
        retire(sequence);
      }
      live = live.filter((sequence) => sequence.job !== job);
      for (let i = waiting.length - 1; i >= 0; i--) {
        if (waiting[i]!.job === job) waiting.splice(i, 1);
      }
      return answerOf(job);
    },
    load(weights, next) {
      engine.load(weights);
      version = next;
      slots.forget();
    },
    swap: (weights) => engine.load(weights),
    label(next) {
      version = next;
    },
    forget: () => slots.forget(),
    step() {
      admit();
      if (live.length === 0) return [];
      total.steps++;
      const following = new Set(live.flatMap((sequence) => sequence.followers));
      const order = live.filter((sequence) => !following.has(sequence));
      for (let at = 0; at < order.length;) at = feed(order, at);
      const answers: BatchAnswer[] = [];
      const finished = live.filter((sequence) => sequence.finish !== null);
      live = live.filter((sequence) => sequence.finish === null);
      for (const sequence of finished) {
        retire(sequence);
        if (sequence.job.unfinished > 0) continue;
        jobs.delete(sequence.job.request.id);
        answers.push(answerOf(sequence.job));
      }
      return answers;
    },
    counts: () => ({ live: live.length, waiting: waiting.length, ...total }),
  };
}

function samePrompt(a: Job, b: Job): boolean {
  if (a === b) return true;
  const [left, right] = [a.request.prompt, b.request.prompt];
  return left.length === right.length && left.every((id, i) => id === right[i]);
}

function logprobOf(drawn: Drawn, kind: BatchRequest["logprobKind"]): number {
  switch (kind) {
    case "raw":
      return drawn.raw;
    case "temperature_scaled":
      return drawn.temperatureScaled;
    case "processed":
      return drawn.processed;
  }
}

function answerOf(job: Job): BatchAnswer {
  const { id, seed } = job.request;
  return {
    id,
    sequences: job.sequences.map((sequence): BatchSequence => {
      const { ids, logprobs, versions, finish } = sequence;
      return {
        ids: Int32Array.from(ids),
        logprobs: Float32Array.from(logprobs),
        finish: finish ?? "aborted",
        seed: seedOf(seed, sequence.sample),
        versions: versions.map(({ version, start }, i) => {
          return { version, start, end: versions[i + 1]?.start ?? ids.length };
        }),
      };
    }),
  };
}
