/** A second set of weights of the policy's shape: every half-precision weight moved by one bit of its mantissa. */
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embeddedPolicyFolder } from "../../src/embedded/load-policy.ts";

/** Folder of the second set. */
export function otherPolicy(): string {
  const folder = mkdtempSync(join(tmpdir(), "interlace-other-policy-"));
  cpSync(embeddedPolicyFolder, folder, { recursive: true });
  const bytes = readFileSync(join(folder, "model.safetensors"));
  const header = Number(bytes.readBigUInt64LE(0));
  // F16 words after the header; bit 5 of 10 is about 3% of a value.
  for (let at = 8 + header; at + 1 < bytes.length; at += 2) bytes[at]! ^= 1 << 5;
  writeFileSync(join(folder, "model.safetensors"), bytes);
  return folder;
}
