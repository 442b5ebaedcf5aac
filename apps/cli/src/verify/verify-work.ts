/** The work of `interlace verify`, from flags to an exit code. Reads only; needs no GPU and no server. */
import { existsSync, statSync } from "node:fs";
import { basename } from "node:path";
import { createReporter, type Reporter } from "@interlace/core";
import type { VerifyFlags } from "../commands/verify.ts";
import { messageOf, wrongUse } from "../person-error.ts";
import {
  openRecording,
  recordedConfig,
  recordedLanguage,
  recordedTokenizer,
} from "../replay/open-recording.ts";
import type { TokenizerSource } from "../rollout/open-tokenizer.ts";
import { findRun, findRunPath, type FoundRun } from "../run-folder/find-run.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { checkEventLog } from "./check-event-log.ts";
import { holds, printReport, type Progress } from "./print-report.ts";
import { skipRunRules, verifyDatums } from "./verify-datums.ts";
import { verifyRun, type RunChecks } from "./verify-run.ts";

export async function verifyWork(
  terminal: Terminal,
  flags: VerifyFlags,
  target: string,
): Promise<0 | 1> {
  const out = createReporter({ keepPerRule: flags.findings });
  let progress: Progress | null = null;
  if (findRunPath(target, flags.out) !== null) {
    const run = await findRun(target, flags.out);
    const { checked, unfinished } = await verifyRun(run, await openChecks(run, flags, out), out);
    const goOn = run.record.redacted
      ? "this is a redacted copy, only the run itself can go on"
      : `${run.record.command} --resume ${run.folder.path} goes on`;
    progress = { hasChecked: checked.length > 0, unfinished, goOn };
  } else if (existsSync(target) && statSync(target).isFile()) {
    verifyDatums(target, basename(target), out);
    skipRunRules(out);
  } else {
    throw wrongUse(`There is no run and no file at ${target}: name a run folder or a datums.arrow`);
  }
  const report = out.report();
  printReport(report, progress, flags.json === true, terminal);
  return holds(report, progress) ? 0 : 1;
}

async function openChecks(run: FoundRun, flags: VerifyFlags, out: Reporter): Promise<RunChecks> {
  const config = await recordedConfig(run);
  if (run.record.redacted) {
    for (const rule of ["text", "template", "grade", "event_log"] as const) {
      out.skip(rule, "the run is redacted: its texts are gone");
    }
    return { config, language: null, checkEventLog: null, isRedacted: true };
  }
  const skipTexts = (why: string): RunChecks => {
    for (const rule of ["text", "template", "event_log"] as const) out.skip(rule, why);
    return { config, language: null, checkEventLog: null, isRedacted: false };
  };
  let source: TokenizerSource | null;
  try {
    source = await recordedTokenizer(run, config, flags.tokenizer);
  } catch (error) {
    if (flags.tokenizer !== undefined) throw error;
    return skipTexts(messageOf(error));
  }
  if (source === null) return skipTexts("needs --tokenizer DIR");
  const language = await recordedLanguage(run, config, source);
  const recorded = run.record.input_hashes["tokenizer"];
  if (language.hashes.tokenizer !== recorded) {
    throw wrongUse(
      `${source.folder} is not the tokenizer of this run (SHA-256 ${recorded?.slice(0, 12)}, this one ${language.hashes.tokenizer.slice(0, 12)})`,
    );
  }
  const vocabSize = Number(run.record.sampler["vocab_size"]);
  try {
    const recording = await openRecording(run, config, language);
    return {
      config,
      language,
      isRedacted: false,
      checkEventLog: (step, groups) => checkEventLog(recording, step, groups, vocabSize, out),
    };
  } catch (error) {
    out.skip("event_log", messageOf(error));
    return { config, language, checkEventLog: null, isRedacted: false };
  }
}
