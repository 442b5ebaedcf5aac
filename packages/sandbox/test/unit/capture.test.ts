import { expect, test } from "bun:test";
import fc from "fast-check";
import { createCapture } from "../../src/capture.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function captureOf(keep: number, ...chunks: readonly Uint8Array[]) {
  const capture = createCapture(keep);
  for (const chunk of chunks) capture.push(chunk);
  return capture.finish();
}

test("a stream that fits twice the limit is whole, in the head alone", () => {
  expect(captureOf(4, bytes("abc"), bytes("defgh"))).toEqual({
    head: "abcdefgh",
    tail: "",
    omittedBytes: 0,
    totalBytes: 8,
  });
});

test("of a longer one both ends are kept", () => {
  expect(captureOf(3, bytes("abcdef"), bytes("ghijk"))).toEqual({
    head: "abc",
    tail: "ijk",
    omittedBytes: 5,
    totalBytes: 11,
  });
});

test("a cut inside a character drops the character, and never invents one", () => {
  // "é" is C3 A9: the head would end on C3, the tail would begin on A9.
  expect(captureOf(2, bytes("aéxxxxéb"))).toEqual({
    head: "a",
    tail: "b",
    omittedBytes: 8,
    totalBytes: 10,
  });
});

test("broken bytes become replacement characters", () => {
  expect(captureOf(8, new Uint8Array([0x61, 0xff, 0x62])).head).toBe("a\ufffdb");
});

test("a byte order mark is kept", () => {
  expect(captureOf(8, bytes("\ufeffa")).head).toBe("\ufeffa");
});

test("for any text and chunks: head, gap and tail are the text", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 200 }),
      fc.array(fc.nat(9), { maxLength: 200 }),
      fc.integer({ min: 1, max: 60 }),
      (text, sizes, keep) => {
        const all = bytes(text);
        const capture = createCapture(keep);
        let at = 0;
        for (const size of [...sizes, all.length]) {
          capture.push(all.subarray(at, at + size));
          at += size;
        }
        const { head, tail, omittedBytes, totalBytes } = capture.finish();
        const whole = new TextDecoder("utf-8", { ignoreBOM: true }).decode(all);
        expect(totalBytes).toBe(all.length);
        expect(omittedBytes).toBe(all.length - bytes(head).length - bytes(tail).length);
        expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
        if (all.length <= 2 * keep) expect(head).toBe(whole);
        else expect(bytes(head).length).toBeGreaterThan(keep - 4);
      },
    ),
  );
});
