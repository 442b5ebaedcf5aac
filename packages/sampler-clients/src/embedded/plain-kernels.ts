/** The hot loops in plain JavaScript: sums in double precision, rounded once. Slower, and easy to believe. */
import type { Kernels } from "./kernels.ts";

export function plainKernels(floats: number): Kernels {
  const f = new Float32Array(floats);
  return {
    kind: "plain",
    memory: f,
    pack(to, matrices) {
      let at = to;
      for (const matrix of matrices) {
        f.set(matrix, at);
        at += matrix.length;
      }
    },
    gemm(x, w, y, rows, inputs, outputs, add) {
      for (let n = 0; n < outputs; n++) {
        const wn = w + n * inputs;
        let r = 0;
        for (; r + 4 <= rows; r += 4) {
          const x0 = x + r * inputs;
          const x1 = x0 + inputs;
          const x2 = x1 + inputs;
          const x3 = x2 + inputs;
          let a = 0;
          let b = 0;
          let c = 0;
          let d = 0;
          for (let k = 0; k < inputs; k++) {
            const weight = f[wn + k]!;
            a += f[x0 + k]! * weight;
            b += f[x1 + k]! * weight;
            c += f[x2 + k]! * weight;
            d += f[x3 + k]! * weight;
          }
          const o = y + r * outputs + n;
          f[o] = add ? f[o]! + a : a;
          f[o + outputs] = add ? f[o + outputs]! + b : b;
          f[o + 2 * outputs] = add ? f[o + 2 * outputs]! + c : c;
          f[o + 3 * outputs] = add ? f[o + 3 * outputs]! + d : d;
        }
        for (; r < rows; r++) {
          const x0 = x + r * inputs;
          let a = 0;
          for (let k = 0; k < inputs; k++) a += f[x0 + k]! * f[wn + k]!;
          const o = y + r * outputs + n;
          f[o] = add ? f[o]! + a : a;
        }
      }
    },
    attend(q, k, v, out, scores, length, heads, dim, context) {
      const scale = 1 / Math.sqrt(dim);
      for (let h = 0; h < heads; h++) {
        const qh = q + h * dim;
        let most = -Infinity;
        for (let t = 0; t < length; t++) {
          const kt = k + (h * context + t) * dim;
          let score = 0;
          for (let i = 0; i < dim; i++) score += f[qh + i]! * f[kt + i]!;
          f[scores + t] = score * scale;
          most = Math.max(most, f[scores + t]!);
        }
        let total = 0;
        for (let t = 0; t < length; t++) {
          f[scores + t] = Math.exp(f[scores + t]! - most);
          total += f[scores + t]!;
        }
        for (let i = 0; i < dim; i++) {
          let sum = 0;
          for (let t = 0; t < length; t++) {
            sum += f[scores + t]! * f[v + (h * context + t) * dim + i]!;
          }
          f[out + h * dim + i] = sum / total;
        }
      }
    },
    swiglu(x, out, rows, width) {
      for (let r = 0; r < rows; r++) {
        const gate = x + r * 2 * width;
        for (let i = 0; i < width; i++) {
          const g = f[gate + i]!;
          f[out + r * width + i] = (g / (1 + Math.exp(-g))) * f[gate + width + i]!;
        }
      }
    },
  };
}
