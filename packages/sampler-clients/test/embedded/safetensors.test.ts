import { describe, expect, test } from "bun:test";
import { readSafetensors } from "../../src/embedded/safetensors.ts";

/** Written by hand after the format's description: 8 bytes of header length, JSON, data. */
function file(header: Record<string, unknown>, data: readonly number[]): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(header));
  const bytes = new Uint8Array(8 + json.length + data.length);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(json.length), true);
  bytes.set(json, 8);
  bytes.set(data, 8 + json.length);
  return bytes;
}

const entry = (dtype: string, shape: number[], from: number, to: number) => {
  return { dtype, shape, data_offsets: [from, to] };
};

describe("reading safetensors", () => {
  test("float32, float16 and bfloat16 widen to the same numbers", () => {
    const bytes = file(
      {
        __metadata__: { format: "pt" },
        a: entry("F32", [1, 2], 0, 8),
        b: entry("F16", [2], 8, 12),
        c: entry("BF16", [2], 12, 16),
      },
      // 1.5, -2 as F32; the same as F16; the same as BF16
      [0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0, 0, 0x3e, 0, 0xc0, 0xc0, 0x3f, 0, 0xc0],
    );
    const tensors = readSafetensors(bytes);
    expect([...tensors.keys()]).toEqual(["a", "b", "c"]);
    for (const name of ["a", "b", "c"]) {
      expect(tensors.get(name)).toEqual(Float32Array.of(1.5, -2));
    }
  });

  test("bytes that start inside a larger buffer are read where they are", () => {
    const whole = file({ a: entry("F32", [1], 0, 4) }, [0, 0, 0xc0, 0x3f]);
    const shifted = new Uint8Array(whole.length + 3);
    shifted.set(whole, 3);
    expect(readSafetensors(shifted.subarray(3)).get("a")).toEqual(Float32Array.of(1.5));
  });

  test("a file that was cut short is refused with the tensor's name", () => {
    const bytes = file({ a: entry("F32", [2], 0, 8) }, [0, 0, 0xc0, 0x3f]);
    expect(() => readSafetensors(bytes)).toThrow("Expected tensor a within 4 bytes of data");
    expect(() => readSafetensors(bytes.subarray(0, 20))).toThrow("without a whole header");
    expect(() => readSafetensors(new Uint8Array(3))).toThrow("seen 3 bytes");
  });

  test("a shape that does not fit its bytes and an unknown type are refused", () => {
    const data = [0, 0, 0, 0];
    expect(() => readSafetensors(file({ a: entry("F32", [3], 0, 4) }, data))).toThrow(
      "Expected 3 values in tensor a of shape [3], seen 1",
    );
    expect(() => readSafetensors(file({ a: entry("I8", [4], 0, 4) }, data))).toThrow("seen I8");
  });
});
