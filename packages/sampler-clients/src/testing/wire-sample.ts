/** One sample on its way to the wire: what every server kind says of it in its own words, faults already in. */
import type { BatchSpan } from "../embedded/batch-request.ts";
import type { Candidate, ServerLogprobs } from "./explain-row.ts";
import type { FakeModel, FakeSample, FakeToken } from "./fake-model.ts";
import { isSampleFault, type Fault, type SampleFault } from "./faults.ts";

export type Entry = {
  readonly id: number;
  /** May be NaN, null or out of range: faults. */
  readonly logprob: number | null;
  readonly rank: number;
  readonly candidates: readonly Candidate[];
};

export type WireSample = {
  readonly index: number;
  readonly ids: readonly number[];
  readonly entries: readonly Entry[];
  readonly finish: FakeSample["finish"];
  /** Replaces the server's own word for the end; undefined = nothing is replaced. */
  readonly reason: string | null | undefined;
  readonly seed: number;
  readonly versions: readonly BatchSpan[];
  /** Special tokens left out. */
  readonly text: string;
};

export function wireSamples(
  samples: readonly FakeSample[],
  kind: ServerLogprobs,
  model: FakeModel,
  fault: Fault | null,
): readonly WireSample[] {
  const plain = samples.map((sample, index): WireSample => {
    const ids = sample.tokens.map(({ id }) => id);
    return {
      index,
      ids,
      entries: sample.tokens.map((token) => ({ ...token, logprob: logprobOf(token, kind) })),
      finish: sample.finish,
      reason: undefined,
      seed: sample.seed,
      versions: sample.versions,
      text: model.text(ids),
    };
  });
  return isSampleFault(fault) ? disturb(plain, fault) : plain;
}

function logprobOf(token: FakeToken, kind: ServerLogprobs): number {
  switch (kind) {
    case "raw":
      return Math.fround(token.raw);
    case "temperature_scaled":
      return Math.fround(token.temperatureScaled);
    case "processed":
      return Math.fround(token.processed);
  }
}

function disturb(samples: readonly WireSample[], fault: SampleFault): readonly WireSample[] {
  switch (fault.type) {
    case "sample_count":
      return fault.by < 0
        ? samples.slice(0, -1)
        : [...samples, { ...samples.at(-1)!, index: samples.length }];
    case "shuffled":
      return samples.toReversed();
    case "logprob":
    case "logprob_count":
    case "zero_logprobs":
    case "entry_id":
    case "token_id":
    case "finish":
    case "text": {
      const place = fault.sample ?? 0;
      if (place >= samples.length) throw missing(`sample ${place}`, samples.length);
      return samples.with(place, disturbOne(samples[place]!, fault));
    }
  }
}

function disturbOne(
  sample: WireSample,
  fault: Exclude<SampleFault, { type: "sample_count" | "shuffled" }>,
): WireSample {
  const { entries, ids } = sample;
  switch (fault.type) {
    case "logprob": {
      const at = placeOf(fault, ids);
      return { ...sample, entries: entries.with(at, { ...entries[at]!, logprob: fault.value }) };
    }
    case "entry_id": {
      const at = placeOf(fault, ids);
      return { ...sample, entries: entries.with(at, { ...entries[at]!, id: fault.id }) };
    }
    case "token_id": {
      const at = placeOf(fault, ids);
      return {
        ...sample,
        ids: ids.with(at, fault.id),
        entries: entries.with(at, { ...entries[at]!, id: fault.id }),
      };
    }
    case "logprob_count": {
      const last = entries.at(-1);
      if (last === undefined) throw missing("an entry", 0);
      return { ...sample, entries: fault.by < 0 ? entries.slice(0, -1) : [...entries, last] };
    }
    case "zero_logprobs":
      return { ...sample, entries: entries.map((entry) => ({ ...entry, logprob: 0 })) };
    case "finish":
      return { ...sample, reason: fault.reason };
    case "text":
      return { ...sample, text: fault.text };
  }
}

function placeOf({ token = 0 }: { readonly token?: number }, ids: readonly number[]): number {
  if (token >= ids.length) throw missing(`token ${token}`, ids.length);
  return token;
}

function missing(what: string, seen: number): RangeError {
  return new RangeError(`Expected ${what} to put the fault into, seen ${seen}; ask for more`);
}
