/** In: the sampler's settings. Out: a folder with the model's tokenizer; a hub's is downloaded once. */
import { basename, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { embeddedPolicyFolder, findTokenizer, readModelRows } from "@interlace/sampler-clients";
import type { Config } from "../config/schema.ts";
import { messageOf, wrongUse } from "../person-error.ts";

export type TokenizerSource = {
  readonly folder: string;
  /** What files call it: a hub's name, or the folder's. */
  readonly id: string;
  /** Names the same tokenizer for ever and from any folder. */
  readonly exact: string;
  /** Rows of the model's output, where a `config.json` lies beside the tokenizer; else null. */
  readonly modelRows: number | null;
};

/** Beside the checkout's other set-up: downloaded once, whatever the working folder is. */
const DOWNLOADS = fileURLToPath(new URL("../../../../.interlace/tokenizers", import.meta.url));

/** Throws a PersonError when there is none. */
export async function openTokenizer(
  { sampler }: Config,
  signal: AbortSignal,
  tell: (line: string) => void,
): Promise<TokenizerSource> {
  const name = sampler.tokenizer ?? (sampler.kind === "embedded" ? embeddedPolicyFolder : null);
  if (name === null) {
    throw wrongUse(
      `sampler.kind is ${sampler.kind}: name the model's tokenizer, a folder or a hub name, with --tokenizer`,
    );
  }
  try {
    const { folder, revision } = await findTokenizer(name, {
      cacheDir: DOWNLOADS,
      signal,
      onDownload: (file) => tell(`downloading ${file} of ${name}, once`),
    });
    const modelRows = await readModelRows(folder);
    if (revision === null) {
      const exact = resolve(folder);
      return { folder, id: basename(exact), exact, modelRows };
    }
    const [id = name] = name.split("@");
    return { folder, id, exact: `${id}@${revision}`, modelRows };
  } catch (error) {
    throw wrongUse(messageOf(error), error);
  }
}
