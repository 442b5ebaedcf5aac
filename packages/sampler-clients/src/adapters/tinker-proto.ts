/**
 * The few fields of Tinker's protobuf `SampleResponse` that a sampler needs, read by hand: sequences (1), of each
 * stop_reason (1), tokens (2, int32 LE), logprobs (3, float32 LE). Unknown fields are skipped, as newer servers
 * add some.
 */

export type ProtoSequence = {
  readonly stopReason: number;
  readonly tokens: Int32Array;
  /** null = absent. */
  readonly logprobs: Float32Array | null;
};

/** A text = the bytes are no such message. */
export function readSampleResponse(bytes: Uint8Array): readonly ProtoSequence[] | string {
  try {
    const sequences: ProtoSequence[] = [];
    for (const { field, value } of readFields(bytes)) {
      if (field === 1 && value instanceof Uint8Array) sequences.push(readSequence(value));
    }
    return sequences;
  } catch (error) {
    return `Expected a SampleResponse, got ${bytes.length} bytes that are none: ${(error as Error).message}`;
  }
}

function readSequence(bytes: Uint8Array): ProtoSequence {
  let stopReason = 0;
  let tokens = new Int32Array();
  let logprobs: Float32Array | null = null;
  for (const { field, value } of readFields(bytes)) {
    if (field === 1 && typeof value === "number") stopReason = value;
    if (field === 2 && value instanceof Uint8Array) tokens = new Int32Array(words(value));
    if (field === 3 && value instanceof Uint8Array) logprobs = new Float32Array(words(value));
  }
  return { stopReason, tokens, logprobs };
}

/** A copy, as a view must be aligned; the wire is little-endian, and so is every machine that runs Bun. */
function words(bytes: Uint8Array): ArrayBuffer {
  if (bytes.length % 4 !== 0) throw new RangeError(`${bytes.length} bytes are no whole words`);
  return bytes.slice().buffer;
}

type Field = { readonly field: number; readonly value: number | Uint8Array };

function* readFields(bytes: Uint8Array): Generator<Field> {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[at];
      if (byte === undefined) throw new RangeError("it ends inside a number");
      at += 1;
      value += (byte & 127) * shift;
      if (byte < 128) return value;
      if (shift > 2 ** 63) throw new RangeError("a number has more than ten bytes");
    }
  };
  const take = (length: number): Uint8Array => {
    if (at + length > bytes.length) throw new RangeError("it ends inside a field");
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = varint();
    const field = Math.floor(tag / 8);
    switch (tag % 8) {
      case 0:
        yield { field, value: varint() };
        break;
      case 1:
        yield { field, value: take(8) };
        break;
      case 2:
        yield { field, value: take(varint()) };
        break;
      case 5:
        yield { field, value: take(4) };
        break;
      default:
        throw new RangeError(`wire type ${tag % 8} is not known`);
    }
  }
}
