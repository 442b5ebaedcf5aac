import { expect, test } from "bun:test";
import { append, NO_TOKENS, sampledSegment, segment, tokensOf, type Tokens } from "@interlace/core";
import fc from "fast-check";
import { joinIds, promptBytes, promptJson } from "../src/prompt-json.ts";

test("segments are joined in order, empty ones leave no comma", () => {
  const first = append(NO_TOKENS, segment("context", Int32Array.of(1, 300)));
  const empty = append(first, sampledSegment(new Int32Array(), new Float32Array()));
  const whole = append(empty, segment("observed", Int32Array.of(40)));
  expect(promptJson(NO_TOKENS)).toBe("");
  expect(promptJson(first)).toBe("1,300");
  expect(promptJson(whole)).toBe("1,300,40");
  expect(promptJson(whole)).toBe("1,300,40");
  expect(promptJson(append(NO_TOKENS, segment("context", new Int32Array())))).toBe("");
});

test("siblings share the text of their prompt and nothing else", () => {
  const prompt = tokensOf(Int32Array.of(1, 2));
  const a = append(prompt, segment("observed", Int32Array.of(3)));
  const b = append(prompt, segment("observed", Int32Array.of(4)));
  expect([promptJson(a), promptJson(b)]).toEqual(["1,2,3", "1,2,4"]);
});

test("any int32 is written as `join` writes it, also past the first piece of memory", () => {
  fc.assert(
    fc.property(fc.int32Array({ maxLength: 40 }), (ids) => {
      expect(joinIds(ids)).toBe(ids.join(","));
    }),
  );
  const long = Int32Array.from({ length: 50_000 }, (_, i) => (i * 43_033) % 2_147_483_647);
  expect(joinIds(long)).toBe(long.join(","));
  expect(joinIds(Int32Array.of(0, 2_147_483_647))).toBe("0,2147483647");
  expect(joinIds(long.subarray(3, 5))).toBe(long.subarray(3, 5).join(","));
});

test("as bytes it is the same, whatever came before, also past the first piece of memory", () => {
  const read = (prompt: Tokens): string => {
    const { bytes, length } = promptBytes(prompt);
    return bytes.toString("latin1", 0, length);
  };
  const ids = fc.int32Array({ min: 0, maxLength: 9 });
  fc.assert(
    fc.property(fc.array(ids, { maxLength: 5 }), (rows) => {
      const prompt = rows.reduce((all, row) => append(all, segment("context", row)), NO_TOKENS);
      expect(read(prompt)).toBe(promptJson(prompt));
    }),
  );
  const short = tokensOf(Int32Array.of(1, 2));
  const long = append(short, segment("observed", new Int32Array(100_000).fill(7)));
  expect(read(long)).toBe(promptJson(long));
  expect(read(NO_TOKENS)).toBe("");
});
