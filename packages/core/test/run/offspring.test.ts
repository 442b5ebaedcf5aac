import { expect, test } from "bun:test";
import { createOffspring } from "../../src/run/offspring.ts";

test("children end with the parent, with its reason, and only those that are not forgotten", () => {
  const parent = new AbortController();
  const offspring = createOffspring(parent.signal);
  const [first, second] = [offspring.bear(), offspring.bear()];
  first.forget();
  parent.abort("enough");
  expect(first.signal.aborted).toBe(false);
  expect(second.signal.aborted).toBe(true);
  expect(second.signal.reason).toBe("enough");
});

test("a child of an aborted parent is born aborted", () => {
  const late = createOffspring(AbortSignal.abort("before"));
  expect(late.bear().signal.reason).toBe("before");
});

test("a child may bear on while its siblings are aborted", () => {
  const parent = new AbortController();
  const offspring = createOffspring(parent.signal);
  const seen: AbortSignal[] = [];
  offspring.bear().signal.addEventListener("abort", () => seen.push(offspring.bear().signal));
  parent.abort("enough");
  expect(seen.map(({ aborted }) => aborted)).toEqual([true]);
});

test("the parent keeps one listener, however many children there are", () => {
  const parent = new AbortController();
  let added = 0;
  const add = parent.signal.addEventListener.bind(parent.signal);
  parent.signal.addEventListener = (...args: Parameters<typeof add>) => {
    added += 1;
    add(...args);
  };
  const offspring = createOffspring(parent.signal);
  for (let i = 0; i < 100; i++) offspring.bear();
  expect(added).toBe(1);
});
