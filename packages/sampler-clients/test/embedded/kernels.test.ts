import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGenerator } from "../../src/embedded/generator.ts";
import { bestKernels, openKernels, type Kernels } from "../../src/embedded/kernels.ts";

const source = join(import.meta.dir, "../../src/embedded");
const compiler = join(import.meta.dir, "../../node_modules/assemblyscript/bin/asc.js");

/** Room for every array below; offsets in floats. */
const X = 16;
const W = 8192;
const Y = 65_536;
const SCRATCH = 120_000;
const FLOATS = 131_072;

function fill(kernels: Kernels, at: number, length: number, seed: number): void {
  const next = createGenerator(seed);
  for (let i = 0; i < length; i++) kernels.memory[at + i] = 4 * next() - 2;
}

function matrix(rows: number, columns: number, seed: number): Float32Array {
  const next = createGenerator(seed);
  return Float32Array.from({ length: rows * columns }, () => 2 * next() - 1);
}

function product(kernels: Kernels, rows: number, outputs: number, inputs: number): Float32Array {
  fill(kernels, X, rows * inputs, 1);
  fill(kernels, Y, rows * outputs, 2);
  // Two matrices side by side, as q and k are.
  const half = (outputs / 2) * inputs;
  const all = matrix(outputs, inputs, 3);
  kernels.pack(W, [all.slice(0, half), all.slice(half)], inputs);
  kernels.gemm(X, W, Y, rows, inputs, outputs, 1);
  return kernels.memory.slice(Y, Y + rows * outputs);
}

function largestDifference(a: Float32Array, b: Float32Array): number {
  expect(a.length).toBe(b.length);
  return a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i]!)), 0);
}

describe("the kernels", () => {
  test("this runtime runs the SIMD ones", async () => {
    expect(await bestKernels()).toBe("simd");
  });

  test("the committed kernels.wasm is what the compiler makes of kernels.as.ts", async () => {
    expect(existsSync(compiler)).toBe(true);
    const folder = await mkdtemp(join(tmpdir(), "kernels-"));
    try {
      const out = join(folder, "kernels.wasm");
      const flags = "-O3 --runtime stub --importMemory --noAssert --enable simd --use abort=";
      const command = [process.execPath, compiler, "kernels.as.ts", ...flags.split(" "), "-o", out];
      const build = Bun.spawnSync(command, { cwd: source });
      expect(build.stderr.toString()).toBe("");
      const built = await Bun.file(out).bytes();
      const committed = await Bun.file(join(source, "kernels.wasm")).bytes();
      expect(Buffer.from(built).equals(committed)).toBe(true);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("gemm: SIMD agrees with plain for every remainder of rows and outputs", async () => {
    const simd = await openKernels(FLOATS, "simd");
    const plain = await openKernels(FLOATS, "plain");
    for (const outputs of [8, 16, 40, 64]) {
      for (const rows of [1, 2, 3, 4, 5, 7, 8]) {
        const a = product(simd, rows, outputs, 48);
        expect(largestDifference(a, product(plain, rows, outputs, 48))).toBeLessThan(2e-5);
      }
    }
  });

  test.each(["simd", "plain"] as const)(
    "gemm (%s): a row's bits do not depend on the rows beside it",
    async (kind) => {
      const kernels = await openKernels(FLOATS, kind);
      const together = product(kernels, 7, 40, 48);
      for (let row = 0; row < 7; row++) {
        fill(kernels, Y, 7 * 40, 2);
        kernels.gemm(X + row * 48, W, Y + row * 40, 1, 48, 40, 1);
        const single = kernels.memory.slice(Y + row * 40, Y + (row + 1) * 40);
        expect(single).toEqual(together.slice(row * 40, (row + 1) * 40));
      }
    },
  );

  test("attend: SIMD agrees with plain for every length up to 33", async () => {
    const [simd, plain] = [await openKernels(FLOATS, "simd"), await openKernels(FLOATS, "plain")];
    const [heads, dim, context] = [3, 8, 40];
    for (let length = 1; length <= 33; length++) {
      const results = [simd, plain].map((kernels) => {
        fill(kernels, X, heads * dim, 5);
        fill(kernels, W, 2 * heads * context * dim, 6);
        kernels.attend(X, W, W + heads * context * dim, Y, SCRATCH, length, heads, dim, context);
        return kernels.memory.slice(Y, Y + heads * dim);
      });
      expect(largestDifference(results[0]!, results[1]!)).toBeLessThan(1e-6);
    }
  });

  test("attend over one position returns its value", async () => {
    const kernels = await openKernels(FLOATS, "simd");
    kernels.memory.set([1, 2, 3, 4], X);
    kernels.memory.set([5, 6, 7, 8], W);
    kernels.memory.set([0.25, -0.5, 9, 1e-3], W + 4);
    kernels.attend(X, W, W + 4, Y, SCRATCH, 1, 1, 4, 1);
    expect(kernels.memory.slice(Y, Y + 4)).toEqual(Float32Array.of(0.25, -0.5, 9, 1e-3));
  });

  test("swiglu: SIMD agrees with plain, also where the exponential saturates", async () => {
    const [simd, plain] = [await openKernels(FLOATS, "simd"), await openKernels(FLOATS, "plain")];
    const results = [simd, plain].map((kernels) => {
      fill(kernels, X, 3 * 2 * 16, 7);
      kernels.memory.set([-200, -90, 90, 200], X);
      kernels.swiglu(X, Y, 3, 16);
      return kernels.memory.slice(Y, Y + 3 * 16);
    });
    expect(largestDifference(results[0]!, results[1]!)).toBeLessThan(1e-4);
    expect(results[0]![0]).toBeCloseTo(0, 30);
  });
});
