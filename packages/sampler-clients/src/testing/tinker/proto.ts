/** Writes Tinker's protobuf `SampleResponse`: sequences (1) of stop_reason (1), tokens (2), logprobs (3). */
import type { ProtoForm } from "../faults.ts";
import type { WireSample } from "../wire-sample.ts";

const STOP_REASONS: Readonly<Record<string, number>> = { stop: 0, length: 1 };
const UNKNOWN_REASON = 7;

export function writeSampleResponse(
  samples: readonly WireSample[],
  form: ProtoForm | null,
): Uint8Array<ArrayBuffer> {
  const sequences = samples.map((sample) => bytesField(1, writeSequence(sample, form)));
  // Newer services add fields; a reader skips them.
  const more = form === "unknown_fields" ? [varintField(4, 3), bytesField(19, [1, 2, 3])] : [];
  return Uint8Array.from([...sequences, ...more].flat());
}

function writeSequence(sample: WireSample, form: ProtoForm | null): number[] {
  const word = sample.reason ?? (sample.finish === "stop" ? "stop" : "length");
  const known = STOP_REASONS[word] ?? UNKNOWN_REASON;
  const reason = form === "unknown_reason" ? UNKNOWN_REASON : known;
  const ids = new Uint8Array(Int32Array.from(sample.ids).buffer);
  const logprobs = Float32Array.from(sample.entries, ({ logprob }) => logprob ?? Number.NaN);
  return [
    // proto3 leaves a 0 out.
    ...(reason === 0 ? [] : varintField(1, reason)),
    ...bytesField(2, ids),
    ...(form === "no_logprobs" ? [] : bytesField(3, new Uint8Array(logprobs.buffer))),
    ...(form === "unknown_fields" ? bytesField(7, [...new TextEncoder().encode("seq-0")]) : []),
  ];
}

function varintField(field: number, value: number): number[] {
  return [...varint(field * 8), ...varint(value)];
}

function bytesField(field: number, bytes: ArrayLike<number>): number[] {
  return [...varint(field * 8 + 2), ...varint(bytes.length), ...Array.from(bytes)];
}

function varint(value: number): number[] {
  const out: number[] = [];
  let left = value;
  for (; left > 127; left = Math.floor(left / 128)) out.push((left % 128) + 128);
  return [...out, left];
}
