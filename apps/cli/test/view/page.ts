/** A page as Python's HTML parser reads it. */
import { join } from "node:path";
import { askPythonFile } from "../support/cli.ts";

export type PageToken = {
  readonly title: string;
  /** Of the token itself: its logprob's band, and what kind of piece it is. */
  readonly names: readonly string[];
  /** Of the run that it stands in: mask and advantage. */
  readonly run: readonly string[];
  readonly text: string;
};

export type PageTrajectory = {
  readonly id: string;
  readonly kinds: readonly string[];
  readonly open: boolean;
  readonly facts: Readonly<Record<string, string>>;
  readonly tokens: readonly PageToken[];
  readonly calls: readonly Readonly<Record<"status" | "code" | "stdout" | "stderr", string>>[];
  /** Texts that are shown without tokens. */
  readonly plain: readonly string[];
};

export type Page = {
  readonly tags: readonly string[];
  readonly attributes: readonly string[];
  readonly addresses: readonly string[];
  readonly ids: readonly string[];
  readonly groups: readonly {
    readonly facts: Readonly<Record<string, string>>;
    readonly tokens: readonly PageToken[];
  }[];
  readonly trajectories: readonly PageTrajectory[];
  readonly text: string;
  readonly policy: string;
  readonly style: string;
  readonly checked: readonly string[];
};

export async function readPage(path: string): Promise<Page> {
  return (await askPythonFile(join(import.meta.dir, "read_page.py"), [path])) as Page;
}

/** All that a page is made of: nothing that runs, loads or sends. */
export const HARMLESS_TAGS: ReadonlySet<string> = new Set(
  "html head meta title style body input nav span b i label main header section h1 h2 h3 h5 dl div dt dd details summary table thead tbody tr th td p a footer".split(
    " ",
  ),
);

export const HARMLESS_ATTRIBUTES: ReadonlySet<string> = new Set(
  "lang charset http-equiv content name class type id checked for title scope href open dir".split(
    " ",
  ),
);
