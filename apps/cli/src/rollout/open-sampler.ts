/** In: the sampler's settings. Out: what samples, and what its server said of itself at the handshake. */
import type { Sampler, WeightFeed } from "@interlace/core";
import {
  createEmbeddedSampler,
  createSampler,
  samplerTokenizer,
  type Answer,
  type SamplerTokenizer,
} from "@interlace/sampler-clients";
import type { Config } from "../config/schema.ts";
import { workFailed, wrongUse } from "../person-error.ts";
import type { Language } from "./open-language.ts";
import type { TokenizerSource } from "./open-tokenizer.ts";

export type HandshakeTable = { readonly url: string; readonly answers: readonly Answer[] };

export type OpenedSampler = AsyncDisposable & {
  readonly sampler: Sampler;
  /** null = this kind cannot load weights while it runs. */
  readonly weights: WeightFeed | null;
  readonly handshakes: readonly HandshakeTable[];
  readonly warnings: readonly string[];
  readonly retries: () => number;
};

/** `language`: servers say who they are while a promised one is read. */
export async function openSampler(
  { sampler: settings, rollout }: Config,
  language: Language | Promise<Language>,
  source: TokenizerSource,
  signal: AbortSignal,
): Promise<OpenedSampler> {
  const { kind, url, tokenizer: _, vocabSize, ...options } = settings;
  if (kind === "embedded") {
    if (url !== null) {
      throw wrongUse(
        "sampler.url is set, but the embedded policy has no server: name a sampler.kind",
      );
    }
    const sampler = await createEmbeddedSampler();
    return {
      sampler,
      weights: sampler,
      handshakes: [],
      warnings: [],
      retries: () => 0,
      [Symbol.asyncDispose]: () => sampler[Symbol.asyncDispose](),
    };
  }
  if (url === null) throw wrongUse(`sampler.kind is ${kind}: say where it listens, with --url`);
  let retries = 0;
  const client = await createSampler(
    {
      ...options,
      kind,
      urls: typeof url === "string" ? [url] : url,
      vocabSize: vocabSize ?? source.modelRows,
    },
    {
      tokenizer: readTokenizer(language),
      sampling: { temperature: rollout.temperature, topP: rollout.topP, topK: rollout.topK },
      maxTrajectoryTokens: rollout.maxTrajectoryTokens,
      maxAssistantTokens: rollout.maxAssistantTokens,
      onRetry: () => {
        retries += 1;
      },
    },
    signal,
  );
  if (!client.ok) throw workFailed(`${client.url} cannot be used: ${client.line}`);
  return {
    sampler: client.sampler,
    weights: client.feed,
    handshakes: client.tables,
    warnings: client.warnings,
    retries: () => retries,
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

async function readTokenizer(language: Language | Promise<Language>): Promise<SamplerTokenizer> {
  return samplerTokenizer((await language).tokenizer);
}
