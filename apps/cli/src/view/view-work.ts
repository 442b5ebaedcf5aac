/** The work of `interlace view`. In: a run. Out: one HTML file that needs nothing else. Reads the run, changes nothing of it. */
import { existsSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { writeAtomic } from "@interlace/train-bridge";
import type { ViewFlags } from "../commands/view.ts";
import { messageOf, PersonError, workFailed, wrongUse } from "../person-error.ts";
import { recordedConfig } from "../replay/open-recording.ts";
import { findRun, findRunPath } from "../run-folder/find-run.ts";
import { formatCount } from "../terminal/format.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { findStep } from "./find-step.ts";
import { pageBytes } from "./html/page.ts";
import { openReferences, openTokenTexts } from "./open-texts.ts";
import { openStepFiles } from "./step-files.ts";
import { stepPage } from "./step-page.ts";
import { leftOut, tallyStep, type StepTally } from "./tally.ts";

/** A page that a browser scrolls through without waiting. */
const DEFAULT_LIMIT = { trajectories: 64, tokens: 150_000 };

export async function viewWork(terminal: Terminal, flags: ViewFlags, name: string): Promise<0> {
  refuseFile(name, flags.runs);
  const run = await findRun(name, flags.runs);
  const out = resolve(flags.out ?? join(run.folder.path, "view.html"));
  if (existsSync(out) && statSync(out).isDirectory()) {
    throw wrongUse(`${out} is a folder: expected the name of a file, as ${join(out, "view.html")}`);
  }
  const viewed = findStep(run, flags.step ?? null);
  const config = run.record.redacted ? null : await recordedConfig(run);
  const texts = await openTokenTexts(run, config, flags.tokenizer);
  const references = await openReferences(run, config, viewed);
  const files = await openStepFiles(viewed.files);
  const choice = { question: flags.question ?? null, only: flags.only ?? null };
  const limit =
    flags.limit === undefined ? DEFAULT_LIMIT : { trajectories: flags.limit, tokens: Infinity };
  let tally: StepTally;
  let bytes: number;
  try {
    tally = tallyStep(files.rows, choice, limit);
    refuseQuestion(choice.question, viewed.step, tally);
    const page = stepPage({ record: run.record, viewed, files, texts, references, choice, tally });
    bytes = await writeAtomic(out, pageBytes(page));
  } catch (error) {
    throw error instanceof PersonError ? error : workFailed(messageOf(error), error);
  }
  const left = leftOut(tally);
  if (flags.json === true) {
    terminal.out(
      JSON.stringify({
        view: out,
        bytes,
        step: viewed.step,
        trajectories: tally.trajectories,
        chosen: tally.chosen,
        shown: tally.shown,
        tokens: texts.here,
        open_steps: viewed.open,
      }),
    );
    return 0;
  }
  const only = choice.only === null ? "" : ` ${choice.only}`;
  terminal.out(
    `view     ${out}: step ${viewed.step}, ${formatCount(tally.shown)} of ${formatCount(tally.chosen)}${only} trajectories, ${(bytes / 1e6).toFixed(1)} MB`,
  );
  if (left !== null) terminal.out(`left     ${left}`);
  if (!texts.here) terminal.out(`tokens   not shown: ${texts.why}`);
  return 0;
}

function refuseFile(name: string, runs: string): void {
  if (findRunPath(name, runs) !== null || !existsSync(name) || !statSync(name).isFile()) return;
  const step = /^step-0*(\d+)$/.exec(basename(dirname(resolve(name))))?.[1];
  const hint =
    step === undefined ? "" : `: interlace view ${dirname(dirname(name))} --step ${step}`;
  throw wrongUse(`${name} is a file: expected a run folder, for a page needs all of a step${hint}`);
}

function refuseQuestion(question: number | null, step: number, { groups }: StepTally): void {
  if (question === null || groups.some((group) => group.question === question)) return;
  const [first, last] = [groups[0]?.question, groups.at(-1)?.question];
  throw wrongUse(
    `Step ${step} has no question ${question}: it has ${groups.length}, from ${first} to ${last}`,
  );
}
