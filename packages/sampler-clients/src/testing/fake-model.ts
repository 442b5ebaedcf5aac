/**
 * The policy in the box as an inference engine that a fake server owns. In: prompt ids and sampling values. Out: ids
 * with their logprobs under every meaning that servers use, and what is needed to disturb it: abort, pause, weights.
 * Refuses to know any wire protocol.
 */
import { loadTokenizer, weightVersion, type Tokenizer } from "@interlace/core";
import { join } from "node:path";
import { createBatchLoop } from "../embedded/batch-loop.ts";
import type { BatchCounts, BatchSpan } from "../embedded/batch-request.ts";
import { createBatcher } from "../embedded/batcher.ts";
import type { Drawn, Sampling } from "../embedded/draw.ts";
import { createEngine } from "../embedded/engine.ts";
import { createGenerator } from "../embedded/generator.ts";
import { bestKernels } from "../embedded/kernels.ts";
import { embeddedPolicyFolder, loadPolicy, readWeights } from "../embedded/load-policy.ts";
import { readSafetensors } from "../embedded/safetensors.ts";
import { explainRow, type Candidate, type ServerLogprobs } from "./explain-row.ts";

export type FakeSampling = Sampling & {
  readonly maxTokens: number;
  /** null = the server draws one of its own. */
  readonly seed: number | null;
  readonly stopIds: readonly number[];
  /** Most likely ids that are listed beside each sampled one, by logprobs of `kind`. */
  readonly candidates: number;
  readonly kind: ServerLogprobs;
};

export type FakeToken = Omit<Drawn, "id"> & {
  readonly id: number;
  /** Of the raw logits: 1 = most likely. */
  readonly rank: number;
  readonly candidates: readonly Candidate[];
};

export type FakeSample = {
  readonly tokens: readonly FakeToken[];
  readonly finish: "stop" | "length" | "aborted";
  readonly seed: number;
  readonly versions: readonly BatchSpan[];
};

export type FakeModel = {
  readonly vocabSize: number;
  readonly context: number;
  readonly eosId: number;
  readonly tokenizer: Tokenizer;
  /** `tokens` of a text without special ones; ids without an entry are nothing. */
  text(ids: readonly number[]): string;
  /** One sample. An abort resolves with what there is. `onToken` runs after the step that drew token `index`. */
  generate(
    prompt: readonly number[],
    sampling: FakeSampling,
    signal: AbortSignal,
    onToken?: (index: number) => void,
  ): Promise<FakeSample>;
  /** Weights of `location` (a folder or a safetensors file); cache and name stay. Rejects, and keeps the old ones. */
  swapWeights(location: string): Promise<void>;
  labelVersion(version: string): void;
  version(): string;
  /** Live sequences compute their prefix again. */
  forgetCache(): void;
  pause(): void;
  resume(): void;
  paused(): boolean;
  counts(): BatchCounts;
};

const BATCH = 32;

/** `entropy` seeds what the server draws by itself. */
export async function openFakeModel(
  folder: string = embeddedPolicyFolder,
  entropy = 1,
): Promise<FakeModel> {
  const policy = await loadPolicy(folder);
  const { context, vocabSize } = policy.config;
  const engine = await createEngine(policy.config, {
    slots: BATCH,
    rows: context,
    kernels: await bestKernels(),
  });
  engine.load(readSafetensors(policy.bytes));
  let version = "default";
  const batcher = createBatcher(engine, weightVersion(version), BATCH);
  const loop = createBatchLoop(batcher);
  const tokenizer = await openTokenizer(folder);
  const eosId = tokenizer.eosIds[0];
  if (eosId === undefined) throw new Error(`Expected an eos_token in ${folder}, seen none`);
  const ownSeed = createGenerator(entropy);
  let paused = false;

  return {
    vocabSize,
    context,
    eosId,
    tokenizer,
    text: (ids) => tokenizer.decode(ids.filter((id) => id >= 0 && id < tokenizer.vocabSize)),
    async generate(prompt, sampling, signal, onToken) {
      const tokens: FakeToken[] = [];
      const seed = sampling.seed ?? Math.floor(ownSeed() * 2 ** 31);
      const request = {
        prompt: Int32Array.from(prompt),
        samples: 1,
        maxTokens: sampling.maxTokens,
        temperature: sampling.temperature,
        topP: sampling.topP,
        topK: sampling.topK,
        seed,
        stopIds: sampling.stopIds,
        logprobKind: "raw",
      } as const;
      const [sequence] = await loop.generate(request, signal, (_sample, index, drawn, row) => {
        const { candidates, kind } = sampling;
        tokens.push({ ...drawn, ...explainRow(row, drawn.id, candidates, sampling, kind) });
        // Weights and aborts must not come into the middle of a step.
        if (onToken !== undefined) queueMicrotask(() => onToken(index));
      });
      if (sequence === undefined || sequence.finish === "broken") {
        throw new Error(
          "Expected finite logits of the fake's policy, seen NaN; load other weights",
        );
      }
      return { tokens, finish: sequence.finish, seed, versions: sequence.versions };
    },
    async swapWeights(location) {
      batcher.swap(readSafetensors((await readWeights(location)).bytes));
    },
    labelVersion(next) {
      version = next;
      batcher.label(weightVersion(next));
    },
    version: () => version,
    forgetCache: () => batcher.forget(),
    pause() {
      paused = true;
      loop.pause();
    },
    resume() {
      paused = false;
      loop.resume();
    },
    paused: () => paused,
    counts: () => batcher.counts(),
  };
}

async function openTokenizer(folder: string): Promise<Tokenizer> {
  const json = (name: string): Promise<unknown> => Bun.file(join(folder, name)).json();
  return loadTokenizer({
    tokenizer: await json("tokenizer.json"),
    config: await json("tokenizer_config.json"),
  });
}
