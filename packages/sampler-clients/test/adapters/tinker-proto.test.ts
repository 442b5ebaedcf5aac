/**
 * Bytes were made by Google's protobuf for Python from the message of the SDK (`tinker_public.SampleResponse`), and
 * are written out here.
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { readSampleResponse } from "../../src/adapters/tinker-proto.ts";

/** Three sequences: LENGTH with all fields; STOP (absent, as proto3 leaves 0 out) with an unknown field and no logprobs; no tokens. */
const RESPONSE = Uint8Array.fromHex(
  "0a1e" + // field 1, a sequence of 30 bytes
    "0801" + // stop_reason LENGTH
    "120c05000000060000005d500200" + // tokens 5, 6, 151645
    "1a0c000000bf0000a0bf000000c0" + // logprobs -0.5, -1.25, -2
    "0a0b" +
    "120402000000" + // tokens 2
    "4a03616263" + // sequence_id "abc": a field that newer servers add
    "0a02" +
    "1a00" + // logprobs of no tokens
    "12080000c07f000080bf" + // prompt_logprobs
    "20ac02" + // prompt_cache_hit_tokens 300
    "817d0700000000000000" + // field 2000, 64 bits
    "8d7d0000c03f", // field 2001, 32 bits
);

test("ids and logprobs are read bit for bit, unknown fields are skipped", () => {
  expect(readSampleResponse(RESPONSE)).toEqual([
    {
      stopReason: 1,
      tokens: Int32Array.of(5, 6, 151645),
      logprobs: Float32Array.of(-0.5, -1.25, -2),
    },
    { stopReason: 0, tokens: Int32Array.of(2), logprobs: null },
    { stopReason: 0, tokens: Int32Array.of(), logprobs: Float32Array.of() },
  ]);
});

test("an enum value of the future is handed on, to be refused above", () => {
  const bytes = Uint8Array.fromHex("0a080807120402000000");
  expect(readSampleResponse(bytes)).toEqual([
    { stopReason: 7, tokens: Int32Array.of(2), logprobs: null },
  ]);
});

test("no bytes are a response without sequences", () => {
  expect(readSampleResponse(new Uint8Array())).toEqual([]);
});

test("any cut of a message is said to be one, or reads as fewer fields; nothing throws", () => {
  for (let length = 1; length < 30; length += 1) {
    expect(readSampleResponse(RESPONSE.subarray(0, length))).toBeString();
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      const read = readSampleResponse(bytes);
      expect(typeof read === "string" || Array.isArray(read)).toBe(true);
    }),
  );
});
