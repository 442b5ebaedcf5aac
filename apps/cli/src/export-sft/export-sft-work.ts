/** The work of `interlace export sft`. In: a run. Out: its right trajectories as chat JSONL and Parquet. */
import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { readTrajectories, writeAtomic } from "@interlace/train-bridge";
import type { ExportSftFlags } from "../commands/export-sft.ts";
import { messageOf, workFailed, wrongUse } from "../person-error.ts";
import { recordedConfig } from "../replay/open-recording.ts";
import { chooseTool } from "../rollout/open-language.ts";
import { findRun, listSteps } from "../run-folder/find-run.ts";
import { stepFolderOf } from "../run-folder/run-folder.ts";
import { formatCount, formatPlural } from "../terminal/format.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { sftParquet } from "./sft-parquet.ts";
import { createSftFilter, type SftCounts, type SftRow } from "./sft-rows.ts";

export async function exportSftWork(
  terminal: Terminal,
  flags: ExportSftFlags,
  name: string,
): Promise<0> {
  const run = await findRun(name, flags.runs);
  const tools = [await chooseTool(await recordedConfig(run))];
  const filter = createSftFilter(flags.perProblem ?? null);
  const rows: SftRow[] = [];
  for (const step of listSteps(run.folder)) {
    const { trajectories } = stepFolderOf(run.folder, step);
    if (!existsSync(trajectories)) continue; // an open step is no export yet
    for (const row of readRows(trajectories)) {
      const kept = filter.take(row);
      if (kept !== null) rows.push(kept);
    }
  }
  const counts = filter.counts();
  if (rows.length === 0) {
    throw wrongUse(`${run.folder.path} holds no right trajectory to export: ${describe(counts)}`);
  }
  const out = flags.out ?? `${run.folder.path}/sft`;
  const files = { jsonl: `${out}.jsonl`, parquet: `${out}.parquet` };
  const encoder = new TextEncoder();
  const lines = rows.map((row) => encoder.encode(`${JSON.stringify(toLine(row, tools))}\n`));
  await write(files.jsonl, lines);
  await write(files.parquet, [sftParquet(rows, JSON.stringify(tools))]);
  if (flags.json === true) terminal.out(JSON.stringify({ ...files, ...toJson(counts) }));
  else {
    terminal.out(describe(counts));
    terminal.out(`files    ${files.jsonl}, ${files.parquet}`);
  }
  return 0;
}

function* readRows(path: string) {
  try {
    yield* readTrajectories(path).rows;
  } catch (error) {
    throw workFailed(`Cannot read ${path}: ${messageOf(error)}`, error);
  }
}

/** A message says only what it has. */
function toLine({ messages, ...rest }: SftRow, tools: readonly unknown[]): object {
  return {
    messages: messages.map(({ role, content, tool_call_id, name }) =>
      tool_call_id === null ? { role, content } : { role, content, tool_call_id, name },
    ),
    tools,
    ...rest,
  };
}

async function write(path: string, pieces: readonly Uint8Array[]): Promise<void> {
  try {
    mkdirSync(dirname(path), { recursive: true });
    await writeAtomic(path, [pieces]);
  } catch (error) {
    throw workFailed(messageOf(error), error);
  }
}

function describe(counts: SftCounts): string {
  const { trajectories, kept, wrong, unscored, unfinished, doubles, overNumber } = counts;
  const parts = [`${formatCount(kept)} exported`];
  for (const [name, count] of Object.entries({ wrong, unscored, unfinished, doubles })) {
    if (count > 0) parts.push(`${formatCount(count)} ${name}`);
  }
  if (overNumber > 0) parts.push(`${formatCount(overNumber)} over --per-problem`);
  return `${formatPlural(trajectories, "trajectory").replace(/ys$/, "ies")} = ${parts.join(" + ")}`;
}

function toJson({ overNumber, ...counts }: SftCounts): Record<string, number> {
  return { ...counts, over_number: overNumber };
}
