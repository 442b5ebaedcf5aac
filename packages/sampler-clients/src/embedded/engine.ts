/**
 * Forward pass of a Llama-shaped model on the CPU, for models of about a million parameters.
 * In: token ids with their position and cache slot, any mix of prompts and single tokens. Out: logits per wanted row.
 * Refuses to know text, sampling, requests.
 */
import { openKernels, type KernelKind } from "./kernels.ts";
import type { ModelConfig } from "./model-config.ts";

export type EngineOptions = {
  /** Sequences whose keys and values are held. */
  readonly slots: number;
  /** Most rows of one `forward`. */
  readonly rows: number;
  readonly kernels: KernelKind;
};

export type Engine = {
  readonly config: ModelConfig;
  readonly slots: number;
  readonly rows: number;
  readonly kernels: KernelKind;
  /** Replaces all weights; whatever the slots hold is then stale. Throws before touching any when one lacks. */
  load(weights: ReadonlyMap<string, Float32Array>): void;
  /**
   * Row i is `tokens[i]` at `positions[i]` of `slots[i]`; rows of one slot come in rising positions and all earlier
   * positions are cached or in the same call. Returns [wanted.length][vocab]; the view is valid until the next call.
   */
  forward(
    tokens: ArrayLike<number>,
    positions: ArrayLike<number>,
    slots: ArrayLike<number>,
    wanted: ArrayLike<number>,
  ): Float32Array;
  /** Copies the first `length` positions of one slot's cache to another. */
  copySlot(from: number, to: number, length: number): void;
};

export async function createEngine(config: ModelConfig, options: EngineOptions): Promise<Engine> {
  const { width, feedForward, layers, heads, headDim, context, vocabSize } = config;
  const half = headDim / 2;
  const at = layOut(config, options);
  const kernels = await openKernels(at.end, options.kernels);
  const f = kernels.memory;
  const { cos, sin } = rotations(config);
  const headFloats = context * headDim;
  const sideFloats = heads * headFloats;
  const slotFloats = layers * 2 * sideFloats;

  function normalise(from: number, to: number, weight: number, rows: number): void {
    for (let r = 0; r < rows; r++) {
      const x = from + r * width;
      const y = to + r * width;
      let squares = 0;
      for (let i = 0; i < width; i++) squares += f[x + i]! * f[x + i]!;
      const scale = 1 / Math.sqrt(squares / width + config.normEpsilon);
      for (let i = 0; i < width; i++) f[y + i] = f[x + i]! * scale * f[weight + i]!;
    }
  }

  /** Turns q and k of one row by its position; stores k and v in the cache at `keys`. */
  function rotateAndStore(row: number, position: number, keys: number): void {
    const angle = position * half;
    for (let h = 0; h < 2 * heads; h++) {
      const x = row + h * headDim;
      for (let i = 0; i < half; i++) {
        const a = f[x + i]!;
        const b = f[x + half + i]!;
        const c = cos[angle + i]!;
        const s = sin[angle + i]!;
        f[x + i] = a * c - b * s;
        f[x + half + i] = b * c + a * s;
      }
    }
    for (let h = 0; h < 2 * heads; h++) {
      const from = row + width + h * headDim;
      const to = keys + h * headFloats + position * headDim;
      for (let i = 0; i < headDim; i++) f[to + i] = f[from + i]!;
    }
  }

  return {
    config,
    slots: options.slots,
    rows: options.rows,
    kernels: kernels.kind,
    load(weights) {
      const tensor = (name: string, size: number): Float32Array => checked(weights, name, size);
      const embed = tensor("model.embed_tokens.weight", vocabSize * width);
      const head = weights.has("lm_head.weight")
        ? tensor("lm_head.weight", vocabSize * width)
        : embed;
      const finalNorm = tensor("model.norm.weight", width);
      const blocks = at.layers.map((_, i) => {
        const prefix = `model.layers.${i}.`;
        const attention = ["q", "k", "v", "o"].map((part) =>
          tensor(`${prefix}self_attn.${part}_proj.weight`, width * width),
        );
        const mlp = ["gate", "up", "down"].map((part) =>
          tensor(`${prefix}mlp.${part}_proj.weight`, width * feedForward),
        );
        return {
          norm: tensor(`${prefix}input_layernorm.weight`, width),
          norm2: tensor(`${prefix}post_attention_layernorm.weight`, width),
          qkv: attention.slice(0, 3),
          out: attention.slice(3),
          gateUp: mlp.slice(0, 2),
          down: mlp.slice(2),
        };
      });
      f.set(embed, at.embed);
      kernels.pack(at.head, [head], width);
      f.set(finalNorm, at.norm);
      for (const [i, block] of blocks.entries()) {
        const to = at.layers[i]!;
        f.set(block.norm, to.norm);
        f.set(block.norm2, to.norm2);
        kernels.pack(to.qkv, block.qkv, width);
        kernels.pack(to.out, block.out, width);
        kernels.pack(to.gateUp, block.gateUp, width);
        kernels.pack(to.down, block.down, feedForward);
      }
    },
    forward(tokens, positions, slots, wanted) {
      const rows = tokens.length;
      if (rows > options.rows) {
        throw new RangeError(`Expected at most ${options.rows} rows, seen ${rows}`);
      }
      for (let r = 0; r < rows; r++) {
        const from = at.embed + tokens[r]! * width;
        f.copyWithin(at.x + r * width, from, from + width);
      }
      for (let i = 0; i < layers; i++) {
        const layer = at.layers[i]!;
        normalise(at.x, at.y, layer.norm, rows);
        kernels.gemm(at.y, layer.qkv, at.qkv, rows, width, 3 * width, 0);
        for (let r = 0; r < rows; r++) {
          const keys = at.cache + slots[r]! * slotFloats + i * 2 * sideFloats;
          rotateAndStore(at.qkv + r * 3 * width, positions[r]!, keys);
        }
        for (let r = 0; r < rows; r++) {
          const keys = at.cache + slots[r]! * slotFloats + i * 2 * sideFloats;
          const q = at.qkv + r * 3 * width;
          const out = at.attended + r * width;
          const length = positions[r]! + 1;
          kernels.attend(
            q,
            keys,
            keys + sideFloats,
            out,
            at.scores,
            length,
            heads,
            headDim,
            context,
          );
        }
        kernels.gemm(at.attended, layer.out, at.x, rows, width, width, 1);
        normalise(at.x, at.y, layer.norm2, rows);
        kernels.gemm(at.y, layer.gateUp, at.gateUp, rows, width, 2 * feedForward, 0);
        kernels.swiglu(at.gateUp, at.hidden, rows, feedForward);
        kernels.gemm(at.hidden, layer.down, at.x, rows, feedForward, width, 1);
      }
      const count = wanted.length;
      for (let i = 0; i < count; i++) {
        normalise(at.x + wanted[i]! * width, at.y + i * width, at.norm, 1);
      }
      kernels.gemm(at.y, at.head, at.logits, count, width, vocabSize, 0);
      return f.subarray(at.logits, at.logits + count * vocabSize);
    },
    copySlot(from, to, length) {
      for (let run = 0; run < layers * 2 * heads; run++) {
        const source = at.cache + from * slotFloats + run * headFloats;
        const target = at.cache + to * slotFloats + run * headFloats;
        f.copyWithin(target, source, source + length * headDim);
      }
    },
  };
}

function checked(
  weights: ReadonlyMap<string, Float32Array>,
  name: string,
  size: number,
): Float32Array {
  const tensor = weights.get(name);
  if (tensor?.length === size) return tensor;
  const seen = tensor === undefined ? "none" : `${tensor.length} values`;
  throw new Error(
    `Expected tensor ${name} with ${size} values, seen ${seen}; give weights of this model's shape`,
  );
}

/** Float offsets of everything in the one memory; each aligned to 64 bytes. */
function layOut(config: ModelConfig, options: EngineOptions) {
  const { width, feedForward, vocabSize, heads, context } = config;
  let end = 16;
  const take = (floats: number): number => {
    const start = end;
    end += (floats + 15) & ~15;
    return start;
  };
  const layers = Array.from({ length: config.layers }, () => ({
    norm: take(width),
    qkv: take(3 * width * width),
    out: take(width * width),
    norm2: take(width),
    gateUp: take(2 * feedForward * width),
    down: take(feedForward * width),
  }));
  const rows = options.rows;
  return {
    layers,
    embed: take(vocabSize * width),
    head: take(vocabSize * width),
    norm: take(width),
    x: take(rows * width),
    y: take(rows * width),
    qkv: take(rows * 3 * width),
    attended: take(rows * width),
    gateUp: take(rows * 2 * feedForward),
    hidden: take(rows * feedForward),
    logits: take(rows * vocabSize),
    scores: take(heads * context),
    cache: take(options.slots * config.layers * 2 * context * width),
    end,
  };
}

/** cos and sin of every position and frequency, [context][headDim / 2]. */
function rotations({ headDim, context, ropeTheta }: ModelConfig) {
  const half = headDim / 2;
  const cos = new Float32Array(context * half);
  const sin = new Float32Array(context * half);
  for (let i = 0; i < half; i++) {
    // PyTorch rounds the exponent, the power and its inverse to float32; angles drift apart otherwise.
    const exponent = Math.fround((2 * i) / headDim);
    const frequency = Math.fround(1 / Math.fround(ropeTheta ** exponent));
    for (let position = 0; position < context; position++) {
      const angle = Math.fround(position * frequency);
      cos[position * half + i] = Math.cos(angle);
      sin[position * half + i] = Math.sin(angle);
    }
  }
  return { cos, sin };
}
