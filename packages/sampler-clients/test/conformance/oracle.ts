/**
 * What the logprobs of the policy in the box must be, worked out anew: one forward pass over prompt and completion,
 * log-softmax in doubles. Shares the forward pass (and its kernels) with `embedded` (which PyTorch checks) and nothing with any server,
 * sampler or adapter.
 */
import { createEngine } from "../../src/embedded/engine.ts";
import { bestKernels } from "../../src/embedded/kernels.ts";
import { embeddedPolicyFolder, loadPolicy } from "../../src/embedded/load-policy.ts";
import { readSafetensors } from "../../src/embedded/safetensors.ts";

export type Settings = {
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number | null;
};

/** One value per token of the completion. */
export type Expected = {
  readonly raw: readonly number[];
  readonly temperature_scaled: readonly number[];
  readonly processed: readonly number[];
  /** The most likely id at each place. */
  readonly best: readonly number[];
};

export type Oracle = {
  readonly context: number;
  readonly vocabSize: number;
  explain(prompt: ArrayLike<number>, completion: ArrayLike<number>, settings: Settings): Expected;
};

export async function openOracle(folder: string = embeddedPolicyFolder): Promise<Oracle> {
  const { config, bytes } = await loadPolicy(folder);
  const engine = await createEngine(config, {
    slots: 1,
    rows: config.context,
    kernels: await bestKernels(),
  });
  engine.load(readSafetensors(bytes));
  const { vocabSize, context } = config;
  return {
    context,
    vocabSize,
    explain: (prompt, completion, settings) => {
      const ids = [...Array.from(prompt), ...Array.from(completion)];
      const places = ids.map((_, at) => at);
      const wanted = Array.from(completion, (_, at) => prompt.length - 1 + at);
      const logits = engine.forward(
        ids,
        places,
        places.map(() => 0),
        wanted,
      );
      const rows = wanted.map((_, at) => [
        ...logits.subarray(at * vocabSize, (at + 1) * vocabSize),
      ]);
      const pick = (all: readonly number[], at: number): number => all[completion[at]!]!;
      return {
        raw: rows.map((row, at) => pick(logSoftmax(row, 1), at)),
        temperature_scaled: rows.map((row, at) =>
          pick(logSoftmax(row, settings.temperature || 1), at),
        ),
        processed: rows.map((row, at) => pick(process(row, settings), at)),
        best: rows.map((row) => row.indexOf(Math.max(...row))),
      };
    },
  };
}

function logSoftmax(row: readonly number[], temperature: number): readonly number[] {
  const scaled = row.map((logit) => logit / temperature);
  const most = Math.max(...scaled);
  const total = most + Math.log(scaled.reduce((sum, logit) => sum + Math.exp(logit - most), 0));
  return scaled.map((logit) => logit - total);
}

/** Temperature, then top_k, then top_p, renormalised; −Infinity for what was cut. */
function process(row: readonly number[], { temperature, topP, topK }: Settings): readonly number[] {
  const all = logSoftmax(row, temperature || 1);
  if (temperature === 0) return all;
  const order = all.map((_, id) => id).toSorted((a, b) => all[b]! - all[a]!);
  const among = order.slice(0, topK ?? order.length);
  const amongMass = among.reduce((sum, id) => sum + Math.exp(all[id]!), 0);
  const kept: number[] = [];
  let mass = 0;
  for (const id of among) {
    if (kept.length > 0 && mass >= topP * amongMass) break;
    kept.push(id);
    mass += Math.exp(all[id]!);
  }
  return all.map((logprob, id) => (kept.includes(id) ? logprob - Math.log(mass) : -Infinity));
}
