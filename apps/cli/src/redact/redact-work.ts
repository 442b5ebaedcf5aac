/**
 * `replay RUN --redact DIR`: a copy for a bug report. In: a run. Out: the same files without what was said: texts keep
 * their length, token ids become those of their places, numbers, names, ends and times stay. Asks nothing of anyone.
 */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { writeAtomic } from "@interlace/train-bridge";
import { messageOf, workFailed } from "../person-error.ts";
import { listSteps, type FoundRun } from "../run-folder/find-run.ts";
import { runFolderAt, stepFolderOf, type StepFolder } from "../run-folder/run-folder.ts";
import { writeRunRecord } from "../run-folder/run-record.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { createPlaces, type Places } from "./places.ts";
import { learnPlaces, redactArrow } from "./redact-arrow.ts";
import { redactLog } from "./redact-log.ts";
import { redactRecord } from "./redact-record.ts";

export async function redactWork(
  run: FoundRun,
  target: string,
  json: boolean,
  terminal: Terminal,
): Promise<0> {
  if (existsSync(target)) throw workFailed(`${target} is there already: name a folder that is not`);
  const left: string[] = [];
  try {
    mkdirSync(target, { recursive: true });
    const folder = runFolderAt(target, run.record.run_id);
    await writeRunRecord(folder, redactRecord(run.record));
    await copy(run.folder.metrics, folder.metrics, (bytes) => bytes, left);
    for (const step of listSteps(run.folder)) {
      const files = stepFolderOf(folder, step);
      mkdirSync(files.path);
      await redactStep(stepFolderOf(run.folder, step), files, vocabOf(run), left);
    }
  } catch (error) {
    throw workFailed(`Cannot write ${target}: ${messageOf(error)}`, error);
  }
  if (json) terminal.out(JSON.stringify({ redacted: target, left_out: left }));
  else {
    terminal.out(`redacted  ${target}: no text, no path, no address; names of models are kept`);
    for (const line of left) terminal.out(`left out  ${line}`);
  }
  return 0;
}

function vocabOf({ record }: FoundRun): number {
  return Math.max(1, Number(record.sampler["vocab_size"] ?? 1));
}

async function redactStep(
  source: StepFolder,
  target: StepFolder,
  vocabSize: number,
  left: string[],
): Promise<void> {
  const places = createPlaces(vocabSize);
  await copy(
    source.trajectories,
    target.trajectories,
    (bytes) => learnAndRedact(bytes, places),
    left,
  );
  await copy(source.datums, target.datums, (bytes) => redactInPlace(bytes, places), left);
  await copy(source.events, target.events, (bytes) => redactText(bytes, places), left);
  await copy(source.ledger, target.ledger, (bytes) => bytes, left);
}

function learnAndRedact(bytes: Uint8Array, places: Places): Uint8Array {
  learnPlaces(bytes, places);
  return redactInPlace(bytes, places);
}

function redactInPlace(bytes: Uint8Array, places: Places): Uint8Array {
  redactArrow(bytes, places);
  return bytes;
}

function redactText(bytes: Uint8Array, places: Places): Uint8Array {
  return new TextEncoder().encode(redactLog(new TextDecoder().decode(bytes), places));
}

/** What cannot be read is left out and said: a copy must not hold a byte that nobody looked at. */
async function copy(
  from: string,
  to: string,
  change: (bytes: Uint8Array) => Uint8Array,
  left: string[],
): Promise<void> {
  if (!existsSync(from)) return;
  let bytes: Uint8Array;
  try {
    bytes = change(Uint8Array.from(readFileSync(from)));
  } catch (error) {
    left.push(`${join(basename(join(from, "..")), basename(from))}: ${messageOf(error)}`);
    return;
  }
  await writeAtomic(to, [[bytes]]);
}
