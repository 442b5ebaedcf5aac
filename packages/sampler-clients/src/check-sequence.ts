/**
 * The one place where a server's word becomes a sequence. In: raw samples of one answer and what was asked.
 * Out: exactly `samples` entries in order, each a sequence that holds every promise of the port or a failure
 * with its cause; one bad sample never takes its siblings with it. Knows no kind of server.
 */
import {
  concatIds,
  isLogprob,
  type Failure,
  type LogprobKind,
  type SampleRequest,
  type Sequence,
  type VersionSpan,
  type WeightVersion,
} from "@interlace/core";
import type { PromptEcho, RawSample, RawSequence } from "./raw-sample.ts";
import { samplerFailure } from "./trouble.ts";
import { cutSpans, readSpans, spanOf } from "./versions.ts";

export type Bounds = {
  /** Rows of the model's output: valid ids are `[0, vocabSize)`. */
  readonly vocabSize: number;
  readonly logprobKind: LogprobKind;
  /** `cut`: the server has no stop ids, so its answer is cut after the first one – the same sample, decoded too far. */
  readonly stops: "server" | "cut";
  /** Versions known when the request left and when its answer came; null = not known. */
  readonly before: WeightVersion | null;
  readonly after: WeightVersion | null;
};

export type Checked = Sequence | Failure;

export function checkAnswer(
  raws: readonly RawSample[],
  request: SampleRequest,
  bounds: Bounds,
): readonly Checked[] {
  const places = Array.from({ length: request.samples }, (): RawSample | undefined => undefined);
  for (const raw of raws) {
    const { index } = raw;
    if (!Number.isInteger(index) || index < 0 || index >= request.samples || places[index]) {
      const detail = `Expected ${request.samples} sequences, got ${raws.length} with index ${index} out of place`;
      return places.map(() => samplerFailure("incomplete", detail));
    }
    places[index] = raw;
  }
  return places.map((raw, index) => {
    if (raw !== undefined) return checkSample(raw, request, bounds);
    const detail = `Expected ${request.samples} sequences, got ${raws.length}: number ${index} is missing`;
    return samplerFailure("incomplete", detail);
  });
}

function checkSample(raw: RawSample, request: SampleRequest, bounds: Bounds): Checked {
  if (!raw.ok) return samplerFailure(raw.cause, raw.detail);
  const prompt = checkPrompt(raw.prompt, request);
  if (prompt !== null) return samplerFailure("invalid_tokens", prompt);
  const ids = readIds(raw.ids, bounds.vocabSize);
  if (typeof ids === "string") return samplerFailure("invalid_tokens", ids);
  const mismatch = checkEntries(raw, ids);
  if (mismatch !== null) return samplerFailure("invalid_logprobs", mismatch);
  const logprobs = readLogprobs(raw.logprobs, bounds.logprobKind);
  if (typeof logprobs === "string") return samplerFailure("invalid_logprobs", logprobs);
  if (ids.length > request.maxTokens) {
    const detail = `Expected at most ${request.maxTokens} ids, got ${ids.length}`;
    return samplerFailure("invalid_tokens", detail);
  }
  const versions = raw.versions
    ? readSpans(raw.versions, ids.length)
    : spanOf(bounds.before, bounds.after, ids.length);
  if (typeof versions === "string") return samplerFailure("server_error", versions);
  return endAtStop({ ids, logprobs, versions }, raw, request, bounds);
}

type Sampled = {
  readonly ids: Int32Array;
  readonly logprobs: Float32Array;
  readonly versions: readonly VersionSpan[];
};

/** The ids decide how it ended, whatever the server said. */
function endAtStop(
  sampled: Sampled,
  raw: RawSequence,
  request: SampleRequest,
  bounds: Bounds,
): Checked {
  const { ids, logprobs, versions } = sampled;
  const first = findStop(ids, request.stopIds);
  const seed = (request.seed + raw.index) % 2 ** 31;
  const rest = { ok: true, seed, serverText: raw.text } as const;
  if (first === -1) return { ...rest, ids, logprobs, versions, finish: raw.finish };
  const length = first + 1;
  if (length === ids.length) return { ...rest, ids, logprobs, versions, finish: "stop" };
  if (bounds.stops === "server") {
    const detail = `Expected the end at stop id ${ids[first]} (place ${first}), got ${ids.length} ids`;
    return samplerFailure("invalid_tokens", detail);
  }
  return {
    ...rest,
    ids: ids.slice(0, length),
    logprobs: logprobs.slice(0, length),
    versions: cutSpans(versions, length),
    finish: "stop",
    // Its text runs past the cut.
    serverText: null,
  };
}

/** Place of the first stop id; −1 = there is none. */
function findStop(ids: Int32Array, stopIds: readonly number[]): number {
  let first = -1;
  for (const stop of stopIds) {
    const at = ids.indexOf(stop);
    if (at !== -1 && (first === -1 || at < first)) first = at;
  }
  return first;
}

function checkPrompt(echo: PromptEcho, request: SampleRequest): string | null {
  const sent = request.prompt.length;
  if (echo.length !== null && echo.length !== sent) {
    return `Expected a prompt of ${sent} ids, the server used ${echo.length}`;
  }
  if (echo.ids === null) return null;
  if (echo.ids.length !== sent) {
    return `Expected a prompt of ${sent} ids, the server used ${echo.ids.length}`;
  }
  const ids = concatIds(request.prompt);
  for (let i = 0; i < sent; i += 1) {
    if (echo.ids[i] !== ids[i]) {
      return `Expected prompt id ${ids[i]} at place ${i}, the server used ${show(echo.ids[i])}`;
    }
  }
  return null;
}

function readIds(raw: ArrayLike<unknown>, vocabSize: number): Int32Array | string {
  const ids = raw instanceof Int32Array ? raw : new Int32Array(raw.length);
  for (let i = 0; i < raw.length; i += 1) {
    const id = raw[i];
    if (typeof id !== "number" || !Number.isInteger(id) || id < 0 || id >= vocabSize) {
      return `Expected ids in [0, ${vocabSize}), got ${show(id)} at place ${i}`;
    }
    ids[i] = id;
  }
  return ids;
}

function checkEntries(raw: RawSequence, ids: Int32Array): string | null {
  if (raw.logprobs.length !== ids.length) {
    return `Expected one logprob per id, got ${ids.length} ids and ${raw.logprobs.length} logprobs`;
  }
  if (raw.entryIds === null || raw.entryIds === ids) return null;
  for (let i = 0; i < ids.length; i += 1) {
    if (raw.entryIds[i] !== ids[i]) {
      return `Expected the logprob of id ${ids[i]} at place ${i}, got that of ${show(raw.entryIds[i])}`;
    }
  }
  return null;
}

/** From this many tokens on, nothing but zeros was filled in and not computed. */
const ZERO_RUN = 8;

function readLogprobs(raw: ArrayLike<unknown>, kind: LogprobKind): Float32Array | string {
  const logprobs = raw instanceof Float32Array ? raw : new Float32Array(raw.length);
  let zeros = 0;
  for (let i = 0; i < raw.length; i += 1) {
    const logprob = raw[i];
    if (typeof logprob !== "number" || !isLogprob(logprob)) {
      const hint =
        typeof logprob === "number" && logprob > 0 ? "; does the server send logits instead?" : "";
      return `Expected a logprob in (−9999, 0], got ${show(logprob)} at place ${i}${hint}`;
    }
    if (logprob === 0) zeros += 1;
    logprobs[i] = logprob;
  }
  // After top-p a certain token has logprob 0; over the full vocabulary a whole turn of them is no measurement.
  if (kind !== "processed" && zeros === raw.length && zeros >= ZERO_RUN) {
    return `Expected measured logprobs, got ${zeros} times exactly 0: the server filled them in`;
  }
  return logprobs;
}

function show(value: unknown): string {
  return typeof value === "number" ? String(value) : (JSON.stringify(value) ?? "nothing");
}
