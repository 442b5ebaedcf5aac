/**
 * Reads a safetensors file. In: its bytes. Out: one float32 array per tensor, by name.
 * Refuses to know which tensors a model needs.
 */
import { z } from "zod";

const tensorSchema = z.object({
  dtype: z.string(),
  shape: z.array(z.int().min(0)),
  data_offsets: z.tuple([z.int().min(0), z.int().min(0)]),
});

/** F32, F16 and BF16, widened to float32; element counts are checked against the shapes. */
export function readSafetensors(file: Uint8Array): ReadonlyMap<string, Float32Array> {
  const { header, data } = split(file);
  const tensors = new Map<string, Float32Array>();
  for (const [name, entry] of Object.entries(header)) {
    if (name === "__metadata__") continue;
    const { dtype, shape, data_offsets: offsets } = tensorSchema.parse(entry);
    if (offsets[1] > data.length || offsets[0] > offsets[1]) {
      throw new Error(
        `Expected tensor ${name} within ${data.length} bytes of data, seen [${offsets[0]}, ${offsets[1]}); the file is cut short, write it again`,
      );
    }
    // A copy: views need an aligned start.
    const values = widen(name, dtype, data.slice(offsets[0], offsets[1]).buffer);
    const expected = shape.reduce((product, size) => product * size, 1);
    if (values.length !== expected) {
      throw new Error(
        `Expected ${expected} values in tensor ${name} of shape [${shape.join(", ")}], seen ${values.length}`,
      );
    }
    tensors.set(name, values);
  }
  return tensors;
}

function split(file: Uint8Array): { header: Record<string, unknown>; data: Uint8Array } {
  if (file.length >= 8) {
    const length = Number(
      new DataView(file.buffer, file.byteOffset, file.byteLength).getBigUint64(0, true),
    );
    if (length <= file.length - 8) {
      const header: unknown = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + length)));
      return {
        header: z.record(z.string(), z.unknown()).parse(header),
        data: file.subarray(8 + length),
      };
    }
  }
  throw new Error(
    `Expected a safetensors file, seen ${file.length} bytes without a whole header; check the path`,
  );
}

function widen(name: string, dtype: string, bytes: ArrayBuffer): Float32Array {
  switch (dtype) {
    case "F32":
      return new Float32Array(bytes);
    case "F16":
      return Float32Array.from(new Float16Array(bytes));
    case "BF16":
      return new Float32Array(
        Uint32Array.from(new Uint16Array(bytes), (half) => half << 16).buffer,
      );
    default:
      throw new Error(
        `Expected F32, F16 or BF16 in tensor ${name}, seen ${dtype}; convert the weights`,
      );
  }
}
