/** The shape of a Llama-like model, as Hugging Face's `config.json` writes it. */
import { z } from "zod";

const configSchema = z.object({
  model_type: z.literal("llama"),
  vocab_size: z.int().min(1),
  hidden_size: z.int().min(1),
  intermediate_size: z.int().min(1),
  num_hidden_layers: z.int().min(1),
  num_attention_heads: z.int().min(1),
  num_key_value_heads: z.int().min(1).optional(),
  max_position_embeddings: z.int().min(1),
  rope_theta: z.number().gt(0).default(10_000),
  rope_scaling: z.null().optional(),
  rms_norm_eps: z.number().gt(0),
  hidden_act: z.literal("silu").default("silu"),
  attention_bias: z.literal(false).default(false),
  mlp_bias: z.literal(false).default(false),
});

export type ModelConfig = {
  readonly vocabSize: number;
  readonly width: number;
  readonly feedForward: number;
  readonly layers: number;
  readonly heads: number;
  readonly headDim: number;
  /** Tokens of prompt + completion. */
  readonly context: number;
  readonly ropeTheta: number;
  readonly normEpsilon: number;
};

/** Throws with the field that this engine cannot run. */
export function parseModelConfig(json: unknown): ModelConfig {
  const raw = configSchema.parse(json);
  const config: ModelConfig = {
    vocabSize: raw.vocab_size,
    width: raw.hidden_size,
    feedForward: raw.intermediate_size,
    layers: raw.num_hidden_layers,
    heads: raw.num_attention_heads,
    headDim: raw.hidden_size / raw.num_attention_heads,
    context: raw.max_position_embeddings,
    ropeTheta: raw.rope_theta,
    normEpsilon: raw.rms_norm_eps,
  };
  if ((raw.num_key_value_heads ?? config.heads) !== config.heads) {
    throw new Error(
      `Expected as many key-value heads as heads (${config.heads}), seen ${raw.num_key_value_heads}; grouped attention is not built in`,
    );
  }
  for (const [name, size, of] of [
    ["vocab_size", config.vocabSize, 8],
    ["hidden_size", config.width, 8],
    ["intermediate_size", config.feedForward, 8],
    ["head size", config.headDim, 4],
  ] as const) {
    if (size % of !== 0)
      throw new Error(`Expected ${name} to be a multiple of ${of}, seen ${size}`);
  }
  return config;
}
