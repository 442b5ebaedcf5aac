/** The work of `interlace eval`, from flags to an exit code: one checkpoint after the other, a file each. */
import { join } from "node:path";
import type { CliContext } from "../cli-context.ts";
import { EVAL_FLAG_SETTINGS, type EvalFlags } from "../commands/eval.ts";
import { showSettings } from "../config/print.ts";
import { resolveConfig } from "../config/resolve.ts";
import type { Config } from "../config/schema.ts";
import { workFailed, wrongUse } from "../person-error.ts";
import { flagSettings } from "../rollout/flag-settings.ts";
import { describeGradingLoss } from "../rollout/grading-loss.ts";
import { listenForInterrupts } from "../terminal/interrupts.ts";
import { listCheckpoints, type EvalCheckpoint } from "./eval-checkpoints.ts";
import { openEval } from "./open-eval.ts";
import { printSummary } from "./print-summary.ts";
import { runEval } from "./run-eval.ts";
import type { EvalFacts, SummaryLine } from "./summary-line.ts";

export async function evalWork({ terminal, env }: CliContext, flags: EvalFlags): Promise<0 | 1> {
  const resolved = await resolveConfig({
    flags: flagSettings(flags, EVAL_FLAG_SETTINGS),
    env,
    file: flags.config,
    preset: flags.preset,
  });
  const { config } = resolved;
  const isJson = flags.json === true;
  if (flags.printConfig === true) {
    terminal.out(showSettings(resolved, isJson));
    return 0;
  }
  const checkpoints = listCheckpoints(flags.checkpoint ?? [], config.sampler.kind);
  if (checkpoints.length > 1 && config.eval.out.endsWith(".jsonl")) {
    throw wrongUse(
      `--out ${config.eval.out} is one file, there are ${checkpoints.length} checkpoints: name a folder`,
    );
  }
  using interrupts = listenForInterrupts(() =>
    terminal.note(
      "Stopping: cancelling what runs, keeping problems that are complete (again: stop at once)",
    ),
  );
  const { signal } = interrupts;
  const done: { readonly path: string; readonly summary: SummaryLine }[] = [];
  const failed: string[] = [];
  for (const checkpoint of checkpoints) {
    const result = await evaluate(config, checkpoint, flags, { terminal, env, signal });
    if (result.ungraded !== null) failed.push(`${result.path}: ${result.ungraded}`);
    if (result.summary === null) {
      terminal.note("Go on with: the same command");
      return 1;
    }
    done.push({ path: result.path, summary: result.summary });
    if (!isJson) printSummary(result.summary, result.path, terminal);
  }
  if (isJson) terminal.out(JSON.stringify(done));
  else {
    const files = done.map(({ path }) => path).join(" ");
    terminal.out("");
    terminal.out(
      `Next: bun run interlace eval compare ${files}${done.length > 1 ? "" : " OTHER.jsonl"}`,
    );
  }
  for (const each of failed) {
    terminal.note(
      `interlace: ${each}; when the grader is mended, the same command with --retry-failed asks again`,
    );
  }
  return failed.length === 0 ? 0 : 1;
}

type Evaluated = {
  readonly path: string;
  /** null = interrupted. */
  readonly summary: SummaryLine | null;
  /** How the grader failed on everything; null = it did not. */
  readonly ungraded: string | null;
};

async function evaluate(
  config: Config,
  checkpoint: EvalCheckpoint,
  flags: EvalFlags,
  { terminal, signal }: Pick<CliContext, "terminal" | "env"> & { readonly signal: AbortSignal },
): Promise<Evaluated> {
  const tell = (line: string): void => terminal.note(`interlace: ${line}`);
  await using opened = await openUninterrupted(signal, () =>
    openEval(config, checkpoint, signal, tell),
  );
  for (const note of opened.notes) terminal.note(note);
  const path = pathOf(config.eval.out, opened.facts);
  const retryFailed = flags.retryFailed === true;
  const result = await runEval(opened, { path, retryFailed, signal, terminal });
  if (result.end === "complete") {
    const { summary, ungraded } = result;
    return { path, summary, ungraded: ungraded === null ? null : describeGradingLoss(ungraded) };
  }
  terminal.note(
    `interlace: interrupted with ${result.done} of ${opened.problems.length} problems in ${path}; nothing of them is lost`,
  );
  return { path, summary: null, ungraded: null };
}

async function openUninterrupted<T>(signal: AbortSignal, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (!signal.aborted) throw error;
    throw workFailed("Interrupted before anything was sampled", error);
  }
}

/** `evals/arith-held-out-retool-interlace-embedded.jsonl`. */
function pathOf(out: string, { dataset, mode, checkpoint }: EvalFacts): string {
  if (out.endsWith(".jsonl")) return out;
  const name = [dataset, mode, checkpoint].join("-").replaceAll(/[^\w.-]+/g, "-");
  return join(out, `${name}.jsonl`);
}
