import { expect, test } from "bun:test";
import fc from "fast-check";
import { canonicalJson, sha256Hex } from "../../src/tokens/fingerprint.ts";

/** The plain way, by which run records were named: objects made again in order, written by the runtime. */
function plainly(value: unknown): string {
  return (
    JSON.stringify(value, (_key, inner: unknown) =>
      typeof inner === "object" && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
        : inner,
    ) ?? "null"
  );
}

test("keys are sorted, whole numbers first", () => {
  const value = { b: [1, { d: null, c: "ü" }], a: true, "10": 1, "9": 2, "01": 3, "4294967295": 4 };
  expect(canonicalJson(value)).toBe(
    '{"9":2,"10":1,"01":3,"4294967295":4,"a":true,"b":[1,{"c":"ü","d":null}]}',
  );
});

test("any value is written as the plain way writes it", () => {
  const names = fc.oneof(
    fc.string(),
    fc.constantFrom("0", "7", "10", "01", "-1", "4294967294", "4294967295", "1e3", "__proto__"),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.jsonValue(),
      fc.constantFrom(undefined, -0, 1e21, "\u2028", "\ud800"),
      fc.array(tie("value"), { maxLength: 5 }),
      fc.dictionary(names, tie("value"), { maxKeys: 6 }),
    ),
  }));
  fc.assert(
    fc.property(value, (any) => {
      expect(canonicalJson(any)).toBe(plainly(any));
    }),
    { numRuns: 1_000 },
  );
});

test("a text's hash is that of its UTF-8", async () => {
  // printf 'ü' | sha256sum
  expect(await sha256Hex("ü")).toBe(
    "607474ca475a9724d7360aba71a56d5df77e61350e3f724cfa1f46e857e2d85f",
  );
});
