import { expect, test } from "bun:test";
import fc from "fast-check";
import { sampleParts, splitRequest } from "../../src/wrappers/split.ts";
import { trouble } from "../../src/trouble.ts";
import { NEVER, request, scripted } from "../support/requests.ts";

test("a request that fits is sent as it is", () => {
  const asked = request({ samples: 8 });
  expect(splitRequest(asked, 8)).toEqual([asked]);
});

test("parts take seeds in order", () => {
  const parts = splitRequest(request({ samples: 5, seed: 10 }), 2);
  expect(parts.map(({ id, samples, seed }) => [id, samples, seed])).toEqual([
    ["s0-q0-gx-t0-0", 2, 10],
    ["s0-q0-gx-t0-2", 2, 12],
    ["s0-q0-gx-t0-4", 1, 14],
  ]);
});

test("a part ends where seeds wrap, as servers count on", () => {
  const parts = splitRequest(request({ samples: 3, seed: 2 ** 31 - 2 }), Infinity);
  expect(parts.map(({ samples, seed }) => [samples, seed])).toEqual([
    [2, 2 ** 31 - 2],
    [1, 0],
  ]);
});

test("sample i has seed + i modulo 2^31 however it is split", () => {
  const seeds = fc.integer({ min: 0, max: 2 ** 31 - 1 });
  const near = fc.oneof(seeds, fc.integer({ min: 2 ** 31 - 20, max: 2 ** 31 - 1 }));
  fc.assert(
    fc.property(
      near,
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 50 }),
      (seed, samples, atOnce) => {
        const parts = splitRequest(request({ samples, seed }), atOnce);
        const drawn = parts.flatMap((part) =>
          Array.from({ length: part.samples }, (_, i) => part.seed + i),
        );
        expect(drawn).toEqual(Array.from({ length: samples }, (_, i) => (seed + i) % 2 ** 31));
      },
    ),
  );
});

test("a part that fails does not take the others with it", async () => {
  const backend = scripted(["answer", trouble("refused", "no"), "answer"]);
  const entries = await sampleParts(backend, request({ samples: 5 }), 2, NEVER);
  expect(entries.map((entry) => entry.ok)).toEqual([true, true, false, false, true]);
  expect(entries[2]).toMatchObject({ boundary: "sampler", cause: "refused", detail: "no" });
});
