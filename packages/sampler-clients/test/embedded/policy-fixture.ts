/** The policy in the box, opened once for the tests of this folder. */
import { join } from "node:path";
import type { BatchRequest, BatchSequence } from "../../src/embedded/batch-request.ts";
import { createBatcher } from "../../src/embedded/batcher.ts";
import { createEngine, type Engine } from "../../src/embedded/engine.ts";
import type { KernelKind } from "../../src/embedded/kernels.ts";
import { embeddedPolicyFolder, loadPolicy } from "../../src/embedded/load-policy.ts";
import { readSafetensors } from "../../src/embedded/safetensors.ts";

/** 100 held-out problems as ids of the Rust tokenizer: first prompt, and the observation of the right answer. */
export const problems = (await Bun.file(join(import.meta.dir, "prompts.jsonl")).text())
  .trimEnd()
  .split("\n")
  .map((line): { prompt: number[]; observation: number[] } => JSON.parse(line));

export const policy = await loadPolicy(embeddedPolicyFolder);
export const weights = readSafetensors(policy.bytes);

/** The `<|im_end|>` of the policy's tokenizer: ends every turn. */
export const EOS = 507;

export async function openEngine(slots: number, kernels: KernelKind = "simd"): Promise<Engine> {
  const engine = await createEngine(policy.config, { slots, rows: policy.config.context, kernels });
  engine.load(weights);
  return engine;
}

export function request(id: number, overrides: Partial<BatchRequest> = {}): BatchRequest {
  return {
    id,
    prompt: somePrompt(id),
    samples: 1,
    maxTokens: 24,
    temperature: 1,
    topP: 1,
    topK: null,
    seed: 1000 + id,
    stopIds: [EOS],
    logprobKind: "temperature_scaled",
    ...overrides,
  };
}

/** 20 ids; prompts of different numbers share their first 12. */
export function somePrompt(number: number): Int32Array {
  return Int32Array.from({ length: 20 }, (_, i) =>
    i < 12 ? 40 + i : (number * 37 + i * 11) % 500,
  );
}

/** The answer of one request that has an engine to itself. */
export function alone(engine: Engine, wanted: BatchRequest): readonly BatchSequence[] {
  const batcher = createBatcher(engine, policy.version, engine.slots);
  batcher.submit(wanted);
  for (;;) {
    const [answer] = batcher.step();
    if (answer !== undefined) return answer.sequences;
  }
}
