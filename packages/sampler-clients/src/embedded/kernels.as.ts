/**
 * The three hot loops of the forward pass, as WebAssembly SIMD. In and out: byte addresses in one imported memory.
 * Every output element is summed in one fixed order, whatever rows are computed beside it: results do not
 * depend on the batch. No fused multiply-add: results do not depend on the processor.
 *
 * asc kernels.as.ts -O3 --runtime stub --importMemory --noAssert --enable simd --use abort= -o kernels.wasm
 *
 * Weights are packed [outputs/8][inputs][8]: one step over inputs reads two neighbouring vectors.
 */

const LANES: i32 = 8;
const BLOCK_BYTES: usize = 32;

/** y[r][n] = Σ_k x[r][k]·w[n][k], added to y when `add`. `outputs` is a multiple of 8. */
export function gemm(x: usize, w: usize, y: usize, rows: i32, inputs: i32, outputs: i32, add: i32): void {
  const xStride: usize = <usize>inputs << 2;
  const yStride: usize = <usize>outputs << 2;
  const blockBytes: usize = <usize>inputs * BLOCK_BYTES;
  let r: i32 = 0;
  const fours: i32 = rows & ~3;
  for (let n: i32 = 0; n < outputs; n += LANES) {
    const block = w + <usize>(n >> 3) * blockBytes;
    const end = block + blockBytes;
    for (r = 0; r < fours; r += 4) {
      let a0 = f32x4.splat(0), a1 = f32x4.splat(0), b0 = f32x4.splat(0), b1 = f32x4.splat(0);
      let c0 = f32x4.splat(0), c1 = f32x4.splat(0), d0 = f32x4.splat(0), d1 = f32x4.splat(0);
      let xp = x + <usize>r * xStride;
      const xb = xStride, xc = xStride * 2, xd = xStride * 3;
      for (let wp = block; wp < end; wp += BLOCK_BYTES) {
        const w0 = v128.load(wp), w1 = v128.load(wp, 16);
        let v = v128.load32_splat(xp);
        a0 = f32x4.add(a0, f32x4.mul(v, w0));
        a1 = f32x4.add(a1, f32x4.mul(v, w1));
        v = v128.load32_splat(xp + xb);
        b0 = f32x4.add(b0, f32x4.mul(v, w0));
        b1 = f32x4.add(b1, f32x4.mul(v, w1));
        v = v128.load32_splat(xp + xc);
        c0 = f32x4.add(c0, f32x4.mul(v, w0));
        c1 = f32x4.add(c1, f32x4.mul(v, w1));
        v = v128.load32_splat(xp + xd);
        d0 = f32x4.add(d0, f32x4.mul(v, w0));
        d1 = f32x4.add(d1, f32x4.mul(v, w1));
        xp += 4;
      }
      const o = y + <usize>r * yStride + (<usize>n << 2);
      put(o, a0, a1, add);
      put(o + yStride, b0, b1, add);
      put(o + yStride * 2, c0, c1, add);
      put(o + yStride * 3, d0, d1, add);
    }
  }
  for (r = fours; r < rows; r++) oneRow(x + <usize>r * xStride, w, y + <usize>r * yStride, inputs, outputs, add);
}

/** One row: four blocks of eight outputs side by side hide the latency of the adds; same order of sums as above. */
function oneRow(x: usize, w: usize, y: usize, inputs: i32, outputs: i32, add: i32): void {
  const blockBytes: usize = <usize>inputs * BLOCK_BYTES;
  const xEnd = x + (<usize>inputs << 2);
  let n: i32 = 0;
  for (; n + 4 * LANES <= outputs; n += 4 * LANES) {
    let a0 = f32x4.splat(0), a1 = f32x4.splat(0), b0 = f32x4.splat(0), b1 = f32x4.splat(0);
    let c0 = f32x4.splat(0), c1 = f32x4.splat(0), d0 = f32x4.splat(0), d1 = f32x4.splat(0);
    let pa = w + <usize>(n >> 3) * blockBytes;
    let pb = pa + blockBytes, pc = pb + blockBytes, pd = pc + blockBytes;
    for (let xp = x; xp < xEnd; xp += 4) {
      const v = v128.load32_splat(xp);
      a0 = f32x4.add(a0, f32x4.mul(v, v128.load(pa)));
      a1 = f32x4.add(a1, f32x4.mul(v, v128.load(pa, 16)));
      b0 = f32x4.add(b0, f32x4.mul(v, v128.load(pb)));
      b1 = f32x4.add(b1, f32x4.mul(v, v128.load(pb, 16)));
      c0 = f32x4.add(c0, f32x4.mul(v, v128.load(pc)));
      c1 = f32x4.add(c1, f32x4.mul(v, v128.load(pc, 16)));
      d0 = f32x4.add(d0, f32x4.mul(v, v128.load(pd)));
      d1 = f32x4.add(d1, f32x4.mul(v, v128.load(pd, 16)));
      pa += BLOCK_BYTES;
      pb += BLOCK_BYTES;
      pc += BLOCK_BYTES;
      pd += BLOCK_BYTES;
    }
    const o = y + (<usize>n << 2);
    put(o, a0, a1, add);
    put(o + 32, b0, b1, add);
    put(o + 64, c0, c1, add);
    put(o + 96, d0, d1, add);
  }
  for (; n < outputs; n += LANES) {
    let a0 = f32x4.splat(0), a1 = f32x4.splat(0);
    let p = w + <usize>(n >> 3) * blockBytes;
    for (let xp = x; xp < xEnd; xp += 4) {
      const v = v128.load32_splat(xp);
      a0 = f32x4.add(a0, f32x4.mul(v, v128.load(p)));
      a1 = f32x4.add(a1, f32x4.mul(v, v128.load(p, 16)));
      p += BLOCK_BYTES;
    }
    put(y + (<usize>n << 2), a0, a1, add);
  }
}

// @ts-ignore: decorator
@inline
function put(at: usize, low: v128, high: v128, add: i32): void {
  if (add) {
    low = f32x4.add(v128.load(at), low);
    high = f32x4.add(v128.load(at, 16), high);
  }
  v128.store(at, low);
  v128.store(at, high, 16);
}

/** e^x for x in [-87, 80], clamped outside: 2^n · p(r), the single-precision polynomial of Cephes. */
// @ts-ignore: decorator
@inline
function exp4(x: v128): v128 {
  const clamped = f32x4.max(f32x4.min(x, f32x4.splat(80)), f32x4.splat(-87));
  const n = f32x4.nearest(f32x4.mul(clamped, f32x4.splat(1.44269504088896341)));
  let r = f32x4.sub(clamped, f32x4.mul(n, f32x4.splat(0.693359375)));
  r = f32x4.add(r, f32x4.mul(n, f32x4.splat(2.12194440e-4)));
  let p = f32x4.splat(1.9875691500e-4);
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1.3981999507e-3));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(8.3334519073e-3));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(4.1665795894e-2));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1.6666665459e-1));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(5.0000001201e-1));
  p = f32x4.add(f32x4.add(f32x4.mul(f32x4.mul(p, r), r), r), f32x4.splat(1));
  const exponent = i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(n), i32x4.splat(127)), 23);
  return f32x4.mul(p, exponent);
}

// @ts-ignore: decorator
@inline
function sum4(v: v128): f32 {
  const low = f32x4.extract_lane(v, 0) + f32x4.extract_lane(v, 2);
  const high = f32x4.extract_lane(v, 1) + f32x4.extract_lane(v, 3);
  return low + high;
}

/**
 * out[h] = softmax(q[h]·K[h] / √dim)·V[h] over `length` positions. K and V are [heads][context][dim], dim a
 * multiple of 4; `scores` is scratch for `length` + 3 floats.
 */
export function attend(
  q: usize, k: usize, v: usize, out: usize, scores: usize,
  length: i32, heads: i32, dim: i32, context: i32,
): void {
  const dimBytes: usize = <usize>dim << 2;
  const headBytes: usize = <usize>context * dimBytes;
  const scale: f32 = <f32>(1.0 / Math.sqrt(<f64>dim));
  for (let h: i32 = 0; h < heads; h++) {
    const qh = q + <usize>h * dimBytes;
    let kp = k + <usize>h * headBytes;
    let most: f32 = -1e30;
    for (let t: i32 = 0; t < length; t++) {
      let sum = f32x4.splat(0);
      for (let i: usize = 0; i < dimBytes; i += 16) {
        sum = f32x4.add(sum, f32x4.mul(v128.load(qh + i), v128.load(kp + i)));
      }
      const score = sum4(sum) * scale;
      store<f32>(scores + (<usize>t << 2), score);
      if (score > most) most = score;
      kp += dimBytes;
    }
    for (let t: i32 = length; t & 3; t++) store<f32>(scores + (<usize>t << 2), -1e30);
    let total = f32x4.splat(0);
    const top = f32x4.splat(most);
    for (let t: i32 = 0; t < length; t += 4) {
      const at = scores + (<usize>t << 2);
      const e = exp4(f32x4.sub(v128.load(at), top));
      v128.store(at, e);
      total = f32x4.add(total, e);
    }
    const share = f32x4.splat(<f32>1 / sum4(total));
    for (let i: usize = 0; i < dimBytes; i += 16) {
      let sum = f32x4.splat(0);
      let vp = v + <usize>h * headBytes + i;
      for (let t: i32 = 0; t < length; t++) {
        sum = f32x4.add(sum, f32x4.mul(v128.load32_splat(scores + (<usize>t << 2)), v128.load(vp)));
        vp += dimBytes;
      }
      v128.store(out + <usize>h * dimBytes + i, f32x4.mul(sum, share));
    }
  }
}

/** out[r][i] = silu(x[r][i])·x[r][width + i]; x is [rows][2·width], width a multiple of 4. */
export function swiglu(x: usize, out: usize, rows: i32, width: i32): void {
  const widthBytes: usize = <usize>width << 2;
  for (let r: i32 = 0; r < rows; r++) {
    const gate = x + <usize>r * widthBytes * 2, to = out + <usize>r * widthBytes;
    for (let i: usize = 0; i < widthBytes; i += 16) {
      const g = v128.load(gate + i);
      const silu = f32x4.div(g, f32x4.add(f32x4.splat(1), exp4(f32x4.neg(g))));
      v128.store(to + i, f32x4.mul(silu, v128.load(gate + widthBytes + i)));
    }
  }
}
