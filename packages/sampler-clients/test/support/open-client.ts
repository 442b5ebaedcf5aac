/** A client of toy servers, with a run's settings filled in. */
import { tokensOf, type SampleRequest } from "@interlace/core";
import {
  createSampler,
  type SamplerClient,
  type SamplerContext,
} from "../../src/create-sampler.ts";
import type { SamplerOptionsInput } from "../../src/sampler-options.ts";
import { NEVER, request } from "./requests.ts";
import { VOCAB, type ToyServer } from "./toy-vllm.ts";

export const CONTEXT: SamplerContext = {
  tokenizer: null,
  sampling: { temperature: 1, topP: 1, topK: null },
  maxTrajectoryTokens: 512,
  maxAssistantTokens: 64,
  env: {},
  sleep: async () => {},
};

export async function open(
  servers: readonly ToyServer[],
  options: Partial<SamplerOptionsInput> = {},
  context: Partial<SamplerContext> = {},
): Promise<SamplerClient> {
  const input: SamplerOptionsInput = {
    kind: "vllm",
    urls: servers.map(({ url }) => url),
    vocabSize: VOCAB,
    ...options,
  };
  const client = await createSampler(input, { ...CONTEXT, ...context }, NEVER);
  if (!client.ok) throw new Error(client.line);
  return client;
}

/** A request whose ids the toy language knows. */
export function ask(change: Partial<SampleRequest> = {}): SampleRequest {
  return request({
    prompt: tokensOf(Int32Array.of(1, 3, 5)),
    stopIds: [0],
    maxTokens: 12,
    ...change,
  });
}
