/** In: the data settings. Out: problems in the order in which batches take them, and where they came from. */
import { basename } from "node:path";
import { shuffle, type MathExample } from "@interlace/core";
import { embeddedProblemFiles } from "@interlace/sampler-clients";
import type { Config } from "../config/schema.ts";
import { columnMapOf, readProblemFile } from "../data-files/read-problem-file.ts";
import { formatPlural } from "../terminal/format.ts";

export type OpenedProblems = {
  readonly problems: readonly MathExample[];
  /** For people: a file, or that it is the built-in set. */
  readonly source: string;
  /** Hex SHA-256 of the file. */
  readonly hash: string;
  readonly isBuiltIn: boolean;
  readonly notes: readonly string[];
};

export async function openProblems({ data, rollout }: Config): Promise<OpenedProblems> {
  const path = data.path ?? embeddedProblemFiles.train;
  const read = await readProblemFile(path, columnMapOf(data.columns));
  const hash = new Bun.CryptoHasher("sha256").update(await Bun.file(path).bytes()).digest("hex");
  const used = data.maxSamples === 0 ? read.problems : read.problems.slice(0, data.maxSamples);
  const problems = data.shuffle === "none" ? used : shuffle(used, rollout.seed, data.shuffle);
  const notes: string[] = [];
  if (read.blankLines > 0)
    notes.push(`${path}: ${formatPlural(read.blankLines, "blank line")} skipped`);
  if (read.duplicateIds.ids > 0) {
    const [example] = read.duplicateIds.examples;
    notes.push(
      `${path}: ${formatPlural(read.duplicateIds.ids, "id")} used more than once, ${example?.id} for one`,
    );
  }
  const isBuiltIn = data.path === null;
  const source = isBuiltIn ? `built-in arithmetic (${basename(path)})` : path;
  return { problems, source, hash, isBuiltIn, notes };
}
