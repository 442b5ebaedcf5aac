/**
 * The hot loops behind one interface: WebAssembly SIMD, or plain JavaScript as fallback and oracle.
 * Addresses are float offsets into one memory. Both sum every output in one fixed order, so a row's result
 * does not depend on the rows beside it; the two differ from each other in rounding.
 */
import { plainKernels } from "./plain-kernels.ts";

export type KernelKind = "simd" | "plain";

export type Kernels = {
  readonly kind: KernelKind;
  readonly memory: Float32Array;
  /** Lays the rows of weight matrices out at `to` for `gemm`; together `outputs × inputs` floats. */
  pack(to: number, matrices: readonly Float32Array[], inputs: number): void;
  /** `y[r][n] = Σ_k x[r][k]·w[n][k]`, added to y when `add` is 1; outputs a multiple of 8. */
  gemm(
    x: number,
    w: number,
    y: number,
    rows: number,
    inputs: number,
    outputs: number,
    add: 0 | 1,
  ): void;
  /** `out[h] = softmax(q[h]·K[h]/√dim)·V[h]` over `length` positions; K and V are [heads][context][dim]. */
  attend(
    q: number,
    k: number,
    v: number,
    out: number,
    scores: number,
    length: number,
    heads: number,
    dim: number,
    context: number,
  ): void;
  /** `out[r][i] = silu(x[r][i])·x[r][width + i]`. */
  swiglu(x: number, out: number, rows: number, width: number): void;
};

type Exports = {
  readonly gemm: Kernels["gemm"];
  readonly attend: Kernels["attend"];
  readonly swiglu: Kernels["swiglu"];
};

const PAGE = 65_536;
const wasmUrl = new URL("./kernels.wasm", import.meta.url);

/** Memory of at least `floats`; `kind` as asked, or throws where the runtime has no SIMD. */
export async function openKernels(floats: number, kind: KernelKind): Promise<Kernels> {
  return kind === "plain" ? plainKernels(floats) : await simdKernels(floats);
}

/** What this runtime can do. */
export async function bestKernels(): Promise<KernelKind> {
  return WebAssembly.validate(await Bun.file(wasmUrl).bytes()) ? "simd" : "plain";
}

async function simdKernels(floats: number): Promise<Kernels> {
  const pages = Math.ceil((floats * 4) / PAGE);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  const { instance } = await WebAssembly.instantiate(await Bun.file(wasmUrl).arrayBuffer(), {
    env: { memory },
  });
  const wasm = instance.exports as unknown as Exports;
  const f = new Float32Array(memory.buffer);
  return {
    kind: "simd",
    memory: f,
    pack(to, matrices, inputs) {
      let n = 0;
      for (const matrix of matrices) {
        for (let at = 0; at < matrix.length; at += inputs, n++) {
          const lane = to + (n >> 3) * inputs * 8 + (n & 7);
          for (let k = 0; k < inputs; k++) f[lane + k * 8] = matrix[at + k]!;
        }
      }
    },
    gemm: (x, w, y, rows, inputs, outputs, add) =>
      wasm.gemm(x * 4, w * 4, y * 4, rows, inputs, outputs, add),
    attend: (q, k, v, out, scores, length, heads, dim, context) =>
      wasm.attend(q * 4, k * 4, v * 4, out * 4, scores * 4, length, heads, dim, context),
    swiglu: (x, out, rows, width) => wasm.swiglu(x * 4, out * 4, rows, width),
  };
}
