/**
 * The policy in the box behind core's ports. In: token ids. Out: token ids and exact logprobs, and new weights from a
 * safetensors file. Bit-reproducible: an answer depends on the request and the weights, not on workers, batches or time.
 * Refuses to know text, retries, limits.
 */
import {
  concatIds,
  fail,
  type Failure,
  type LogprobKind,
  type SampleRequest,
  type Sampler,
  type SamplerIdentity,
  type Sequence,
  type WeightFeed,
} from "@interlace/core";
import type { BatchSequence } from "./batch-request.ts";
import { bestKernels, type KernelKind } from "./kernels.ts";
import { embeddedPolicyFolder, loadPolicy, readWeights } from "./load-policy.ts";
import { openWorker, type WorkerClient } from "./worker-client.ts";

export type EmbeddedSamplerOptions = {
  /** Folder with `config.json` and `model.safetensors`; absent = the policy in the box. */
  readonly folder?: string;
  /** Threads that sample; absent = one per processor, at most 4. */
  readonly workers?: number;
  /** Most sequences that one worker advances together. */
  readonly batch?: number;
  /** Sequences whose cache one worker keeps, at least `batch`: later turns then feed only what is new. */
  readonly slots?: number;
  /** Absent = `simd` where the runtime has it. */
  readonly kernels?: KernelKind;
  /** What `logprobs` mean; the three agree at temperature 1 without top_p and top_k. */
  readonly logprobKind?: Exclude<LogprobKind, "unknown">;
};

export type EmbeddedSampler = Sampler &
  WeightFeed &
  AsyncDisposable & { readonly kernels: KernelKind; readonly workers: number };

const BATCH = 16;
const SLOTS = 64;
/** A sequence leaves the worker that holds its prefix when that one is this many sequences ahead. */
const LEAST_IMBALANCE = 8;
const REMEMBERED = 4096;

export async function createEmbeddedSampler(
  options: EmbeddedSamplerOptions = {},
): Promise<EmbeddedSampler> {
  const policy = await loadPolicy(options.folder ?? embeddedPolicyFolder);
  const { config } = policy;
  const kernels = options.kernels ?? (await bestKernels());
  const batch = options.batch ?? BATCH;
  const slots = Math.max(batch, options.slots ?? SLOTS);
  // The full softmax at T is what a learner computes again: PPO's ratio then starts at exactly 1.
  const logprobKind = options.logprobKind ?? "temperature_scaled";
  const count = options.workers ?? Math.min(4, navigator.hardwareConcurrency);
  let version = policy.version;
  const workers = await Promise.all(
    Array.from({ length: Math.max(1, count) }, () =>
      openWorker({ config, weights: policy.bytes, version, kernels, batch, slots }),
    ),
  );
  const choose = createChooser(workers);

  return {
    kernels,
    workers: workers.length,
    identity: async (): Promise<SamplerIdentity> => ({
      kind: "embedded",
      model: policy.name,
      vocabSize: config.vocabSize,
      contextLength: config.context,
      logprobKind,
      honoursSeed: true,
      versionSource: "per_token",
      weightVersion: version,
    }),
    async sample(request, signal) {
      signal.throwIfAborted();
      const refusal = refuse(request, config.vocabSize, config.context);
      if (refusal !== null) return repeat(request.samples, refusal);
      const { samples, maxTokens, temperature, topP, topK, seed, stopIds } = request;
      const prompt = concatIds(request.prompt);
      const sampling = { temperature, topP, topK };
      const ask = { prompt, samples, maxTokens, seed, stopIds, logprobKind, ...sampling };
      try {
        const sequences = await choose(request.affinity).sample(ask, signal);
        if (sequences !== null) return sequences.map(toSequence);
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        if (!signal.aborted) {
          return repeat(samples, fail("sampler", "server_error", error.message));
        }
      }
      signal.throwIfAborted();
      throw new Error("Expected an answer or an abort of the embedded policy, seen neither");
    },
    current: () => version,
    async announce(announced, location, signal) {
      signal.throwIfAborted();
      const weights = await readWeights(location);
      if (weights.version !== announced) {
        throw new Error(
          `Expected weights ${announced} at ${location}, seen ${weights.version}; announce the version that hashWeights gives, after the file is whole`,
        );
      }
      await Promise.all(
        workers.map((worker) => worker.loadWeights(weights.bytes, weights.version)),
      );
      version = weights.version;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(workers.map((worker) => worker[Symbol.asyncDispose]()));
    },
  };
}

/** Requests of one affinity share a prefix: they go where it is cached, unless that worker is clearly busier. */
function createChooser(workers: readonly WorkerClient[]): (affinity: string) => WorkerClient {
  const homes = new Map<string, WorkerClient>();
  return (affinity) => {
    const idlest = workers.reduce((a, b) => (b.load() < a.load() ? b : a));
    const home = homes.get(affinity);
    const chosen =
      home === undefined || home.load() > idlest.load() + LEAST_IMBALANCE ? idlest : home;
    homes.delete(affinity);
    homes.set(affinity, chosen);
    if (homes.size > REMEMBERED) homes.delete(homes.keys().next().value!);
    return chosen;
  };
}

function refuse(request: SampleRequest, vocab: number, context: number): Failure | null {
  const { prompt, maxTokens } = request;
  if (prompt.length === 0) {
    return fail("sampler", "refused", "Expected a prompt of at least one token, seen none");
  }
  if (prompt.length >= context) {
    return fail(
      "sampler",
      "refused",
      `Expected a prompt of at most ${context - 1} tokens (context ${context}), seen ${prompt.length}`,
    );
  }
  if (maxTokens < 1) {
    return fail("sampler", "refused", `Expected max_tokens of at least 1, seen ${maxTokens}`);
  }
  for (const { ids } of prompt.segments) {
    const bad = ids.find((id) => id < 0 || id >= vocab);
    if (bad !== undefined) {
      return fail("sampler", "refused", `Expected prompt ids in [0, ${vocab}), seen ${bad}`);
    }
  }
  return null;
}

function toSequence(sequence: BatchSequence): Sequence | Failure {
  const { ids, logprobs, finish, seed, versions } = sequence;
  if (finish === "broken") {
    return fail(
      "sampler",
      "invalid_logprobs",
      `Expected finite logits after ${ids.length} tokens, seen NaN or infinity; the weights have diverged`,
    );
  }
  return { ok: true, ids, logprobs, finish, seed, versions, serverText: null };
}

function repeat(samples: number, failure: Failure): readonly Failure[] {
  return Array.from({ length: samples }, () => failure);
}
