/** Numbers cut out of bytes against JSON.parse, the oracle: what is taken, JSON takes too, and reads the same. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  found,
  literal,
  readDecimal,
  readInteger,
  readLiteral,
  readSame,
  sourceOf,
} from "../src/cut-numbers.ts";
import { writeFloat } from "./support/wire-answers.ts";

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Everything there is, and what there mostly is. */
const float32 = fc.oneof(
  fc.float({ noNaN: true, noDefaultInfinity: true, min: -10_000, max: 10_000 }),
  fc.double({ noNaN: true, min: -30, max: 0 }).map(Math.fround),
  fc.double({ noNaN: true, min: -16, max: 2 }).map((power) => Math.fround(-(10 ** power))),
);

test("every float32 comes through exactly, as Python writes it and as JavaScript does", () => {
  let taken = 0;
  fc.assert(
    fc.property(float32, fc.constantFrom(writeFloat, String), (value, write) => {
      const text = write(value);
      const end = readDecimal(sourceOf(bytesOf(`${text},`)), 0);
      if (end === -1) return;
      taken += 1;
      expect(end).toBe(text.length);
      expect(Math.fround(found)).toBe(Math.fround(Number(text)));
    }),
    { numRuns: 5_000 },
  );
  expect(taken).toBeGreaterThan(2_500);
});

test("logprobs as servers write them are all taken", () => {
  const written = ["-7.843177318572998", "-0.710861086845398", "-0.0", "0.0", "-12.5"];
  const small = ["-1.1920928955078125e-07", "-1.1920928955078125e-7", "-9.5367431640625e-05"];
  for (const text of [...written, ...small]) {
    expect(readDecimal(sourceOf(bytesOf(`${text},`)), 0)).toBe(text.length);
    expect(Math.fround(found)).toBe(Math.fround(Number(text)));
  }
});

const digits = fc.string({ unit: fc.constantFrom(..."00123456789..-eE+,"), maxLength: 24 });

test("whatever is taken as a number is one in JSON, and the same", () => {
  fc.assert(
    fc.property(digits, (text) => {
      const source = sourceOf(bytesOf(text));
      const end = readDecimal(source, 0);
      if (end !== -1) {
        expect(Math.fround(found)).toBe(Math.fround(JSON.parse(text.slice(0, end)) as number));
      }
      const integerEnd = readInteger(source, 0);
      if (integerEnd !== -1) expect(found).toBe(JSON.parse(text.slice(0, integerEnd)) as number);
    }),
    { numRuns: 20_000 },
  );
});

test("what is no number, or no usual one, is refused", () => {
  for (const text of ["", "-", ".5", "5", "-5", "5.", "05.5", "-00.5", "1.5e5", "1.5e+5", "1.5e"]) {
    expect(readDecimal(sourceOf(bytesOf(text)), 0)).toBe(-1);
  }
  for (const text of ["NaN", "null", "Infinity", "1.5e-", "1.5e-99", '"0.5"', " 0.5"]) {
    expect(readDecimal(sourceOf(bytesOf(text)), 0)).toBe(-1);
  }
  for (const text of ["", "-1", "1234567890", "x", " 1", '"1"']) {
    expect(readInteger(sourceOf(bytesOf(text)), 0)).toBe(-1);
  }
});

test("a literal ends behind itself, wherever the text is cut", () => {
  const name = literal(',"logprob":');
  const text = '{"token_id":5,"logprob":-1';
  expect(readLiteral(sourceOf(bytesOf(text)), 13, name)).toBe(24);
  for (let length = 0; length < 24; length += 1) {
    expect(readLiteral(sourceOf(bytesOf(text.slice(0, length))), 13, name)).toBe(-1);
  }
  expect(readLiteral(sourceOf(bytesOf(text)), 12, name)).toBe(-1);
  expect(readLiteral(sourceOf(bytesOf(text)), -1, name)).toBe(-1);
});

test("the same bytes again are found the same, and one other byte is seen", () => {
  expect(readSame(sourceOf(bytesOf("abcdefgabcdefg")), 0, 7, 7)).toBe(-1); // too short to be compared
  for (let length = 8; length < 20; length += 1) {
    const once = "abcdefghijklmnopqrst".slice(0, length);
    expect(readSame(sourceOf(bytesOf(once + once)), 0, length, length)).toBe(2 * length);
    for (let place = 0; place < length; place += 1) {
      const other = `${once.slice(0, place)}_${once.slice(place + 1)}`;
      expect(readSame(sourceOf(bytesOf(once + other)), 0, length, length)).toBe(-1);
    }
  }
});

test("nothing of an earlier text is read behind the end of a later one", () => {
  sourceOf(bytesOf("1234567.1234567,"));
  for (const text of ["123", "123.", "123.4", "123.4567"]) {
    const source = sourceOf(bytesOf(text));
    const end = readDecimal(source, 0);
    expect([-1, text.length]).toContain(end);
    if (end !== -1) expect(found).toBe(Number(text));
    expect(readInteger(source, 0)).toBe(3);
    expect(found).toBe(123);
  }
});

test("a text beyond what is kept is read as well", () => {
  const source = sourceOf(bytesOf(`${" ".repeat(5_000_000)}-0.5,`));
  expect(readDecimal(source, 5_000_000)).toBe(5_000_004);
  expect(found).toBe(-0.5);
});
