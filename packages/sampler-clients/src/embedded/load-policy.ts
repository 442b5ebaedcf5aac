/**
 * Reads a policy from disk. In: a folder as Hugging Face lays it out, or a safetensors file. Out: its shape, its weights'
 * bytes and their version. Refuses to run it.
 */
import { weightVersion, type WeightVersion } from "@interlace/core";
import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseModelConfig, type ModelConfig } from "./model-config.ts";

const assets = fileURLToPath(new URL("../../assets", import.meta.url));

/** The policy in the box: `config.json`, `model.safetensors`, `tokenizer.json`, `tokenizer_config.json`. */
export const embeddedPolicyFolder: string = join(assets, "policy");

/** Problems for it as JSON Lines (`id`, `question`, `answer`, `data_source`): 2,000 to train on, 200 held out. */
export const embeddedProblemFiles: { readonly train: string; readonly heldOut: string } = {
  train: join(assets, "problems", "arith-train.jsonl"),
  heldOut: join(assets, "problems", "arith-held-out.jsonl"),
};

/** The system prompt that the policy in the box was taught with; it knows no other. */
export const embeddedSystemPrompt = "Use the tool. End with \\boxed{}.";

export type WeightFile = { readonly bytes: Uint8Array; readonly version: WeightVersion };

export type Policy = WeightFile & { readonly name: string; readonly config: ModelConfig };

/** `folder` holds `config.json` and `model.safetensors`. */
export async function loadPolicy(folder: string): Promise<Policy> {
  const config = parseModelConfig(await Bun.file(join(folder, "config.json")).json());
  const name = folder === embeddedPolicyFolder ? "interlace-embedded" : basename(folder);
  return { name, config, ...(await readWeights(folder)) };
}

/** `location` is a safetensors file, or a folder with `model.safetensors`. */
export async function readWeights(location: string): Promise<WeightFile> {
  const isFolder = (await stat(location)).isDirectory();
  const file = isFolder ? join(location, "model.safetensors") : location;
  const bytes = await Bun.file(file).bytes();
  return { bytes, version: hashWeights(bytes) };
}

/** `sha256-` and 16 hexadecimal digits: equal bytes have equal versions on any machine. */
export function hashWeights(bytes: Uint8Array): WeightVersion {
  const digest = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
  return weightVersion(`sha256-${digest.slice(0, 16)}`);
}
