import { expect, test } from "bun:test";
import { pythonRandom, shuffle } from "../../src/index.ts";

// Values printed by CPython 3.11.7: random.Random(seed).getrandbits(32), four times.
test.each([
  [0, [3626764237, 1654615998, 3255389356, 3823568514]],
  [42, [2746317213, 478163327, 107420369, 3184935163]],
  [-42, [2746317213, 478163327, 107420369, 3184935163]],
  [2 ** 31 - 1, [1364760256, 4023463762, 3510513048, 516955790]],
  [2 ** 40 + 7, [2635837658, 3209733218, 3500038837, 4028389051]],
])("seed %p draws CPython's 32-bit words", (seed, words) => {
  const random = pythonRandom(seed);
  expect(words.map(() => random.bits(32))).toEqual(words);
});

// random.Random(seed)._randbelow(n) for these n, in this order.
test.each([
  [42, [0, 0, 2, 4, 250, 7314, 599310825]],
  [2 ** 40 + 7, [0, 1, 2, 2, 529, 12296, 1559734921]],
])("seed %p draws CPython's integers below n", (seed, drawn) => {
  const random = pythonRandom(seed);
  expect([1, 2, 3, 10, 1000, 17398, 2 ** 31].map(random.below)).toEqual(drawn);
});

// a = list(range(n)); random.Random(seed).shuffle(a)
test.each([
  [42, 10, [7, 3, 2, 8, 5, 6, 9, 4, 0, 1]],
  [0, 12, [1, 9, 8, 5, 10, 2, 3, 7, 4, 0, 11, 6]],
  [2 ** 40 + 7, 10, [0, 5, 2, 3, 6, 1, 8, 4, 7, 9]],
  [1, 1, [0]],
  [1, 0, []],
])("seed %p shuffles %p items as CPython does", (seed, size, order) => {
  const items = Array.from({ length: size }, (_, index) => index);
  expect(shuffle(items, seed, "python")).toEqual(order);
});

test("17,398 items – the DAPO set without doubles – come out as CPython's list, over many regenerations", () => {
  const items = Array.from({ length: 17_398 }, (_, index) => index);
  const order = shuffle(items, 42, "python");
  expect(order.slice(0, 8)).toEqual([1826, 2065, 7198, 6409, 3671, 15718, 15731, 12037]);
  // SHA-256 of the whole list as little-endian int32, computed by Python's hashlib.
  const bytes = new Uint8Array(Int32Array.from(order).buffer);
  expect(new Bun.CryptoHasher("sha256").update(bytes).digest("hex")).toBe(
    "4749ef6861939962ae8f2a1443390e636f176d01aea5d857ea4ae141b0b6f420",
  );
});

test("a seed that is no integer is refused, for it would draw as another one", () => {
  expect(() => pythonRandom(0.5)).toThrow("Expected an integer seed, got 0.5");
});
