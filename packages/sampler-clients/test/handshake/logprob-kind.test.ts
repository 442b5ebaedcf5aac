/** What logprobs mean is told apart from what they do, on exact distributions (softmax computed here). */
import { expect, test } from "bun:test";
import { measureKind, type Drawn, type ProbedPrompt } from "../../src/handshake/logprob-kind.ts";

const FLAT = [2, 1.5, 1, 0.5, 0.2, 0, -0.3, -1, -2, -4];
const PEAKED = [3, 1, 0, -1, -2];

/** log p of each id at a temperature, over the ids that top_p keeps or over all. */
function logSoftmax(
  logits: readonly number[],
  temperature: number,
  keep: readonly number[],
): Drawn {
  const scaled = logits.map((logit) => logit / temperature);
  const total = Math.log(keep.reduce((sum, id) => sum + Math.exp(scaled[id]!), 0));
  return new Map(keep.map((id) => [id, scaled[id]! - total]));
}

function kept(logits: readonly number[], topP: number): readonly number[] {
  const all = logits.map((_, id) => id);
  const p = logSoftmax(logits, 1, all);
  let mass = 0;
  return all
    .toSorted((a, b) => p.get(b)! - p.get(a)!)
    .filter((id) => {
      const isIn = mass < topP;
      mass += Math.exp(p.get(id)!);
      return isIn;
    });
}

/** What 32 draws of a peaked distribution are likely to meet: the first id only. */
function firstOnly(prompt: ProbedPrompt): ProbedPrompt {
  const first = (drawn: Drawn): Drawn => new Map([...drawn].filter(([id]) => id === 0));
  return { plain: first(prompt.plain), halfT: first(prompt.halfT), halfP: first(prompt.halfP) };
}

function probed(
  logits: readonly number[],
  kind: "raw" | "scaled" | "processed",
  noise = 0,
): ProbedPrompt {
  const all = logits.map((_, id) => id);
  const blur = (drawn: Drawn): Drawn =>
    new Map([...drawn].map(([id, p], place) => [id, p + noise * (place % 2 === 0 ? 1 : -1)]));
  const nucleus = kept(logits, 0.5);
  return {
    plain: blur(logSoftmax(logits, 1, all)),
    halfT: blur(logSoftmax(logits, kind === "raw" ? 1 : 0.5, all)),
    halfP: blur(
      kind === "processed"
        ? logSoftmax(logits, 1, nucleus)
        : new Map([...logSoftmax(logits, 1, all)].filter(([id]) => nucleus.includes(id))),
    ),
  };
}

test("raw, scaled and processed logprobs are told apart", () => {
  expect(measureKind([probed(FLAT, "raw")]).kind).toBe("raw");
  expect(measureKind([probed(FLAT, "scaled")]).kind).toBe("temperature_scaled");
  expect(measureKind([probed(FLAT, "processed")]).kind).toBe("processed");
});

test("also with the noise of half precision, and next to a prompt that says nothing", () => {
  for (const [kind, name] of [
    ["raw", "raw"],
    ["scaled", "temperature_scaled"],
    ["processed", "processed"],
  ] as const) {
    expect(measureKind([probed(PEAKED, kind, 0.02), probed(FLAT, kind, 0.02)]).kind).toBe(name);
  }
});

test("one likely id that comes every time is enough", () => {
  expect(measureKind([firstOnly(probed(PEAKED, "raw"))]).kind).toBe("raw");
  expect(measureKind([firstOnly(probed(PEAKED, "scaled"))]).kind).toBe("temperature_scaled");
  expect(measureKind([firstOnly(probed(PEAKED, "processed"))]).kind).toBe("processed");
});

test("where nothing can be compared, nothing is claimed", () => {
  const nothing: ProbedPrompt = {
    plain: new Map([[1, -1]]),
    halfT: new Map([[2, -1]]),
    halfP: new Map(),
  };
  expect(measureKind([nothing])).toEqual({ kind: "unknown", shift: null, rise: null });
  expect(measureKind([])).toEqual({ kind: "unknown", shift: null, rise: null });
  const certain: Drawn = new Map([[1, -1e-6]]);
  expect(measureKind([{ plain: certain, halfT: certain, halfP: certain }]).kind).toBe("unknown");
});

test("a mixture that no server should have is unknown", () => {
  const { plain, halfP } = probed(FLAT, "processed");
  expect(measureKind([{ plain, halfT: plain, halfP }]).kind).toBe("unknown");
});
