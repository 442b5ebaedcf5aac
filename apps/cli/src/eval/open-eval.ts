/**
 * Everything that the evaluation of one checkpoint needs, opened and looked at before anything is sampled.
 * In: settings and a checkpoint. Out: a plan, problems, ports and the facts that its results are known by.
 */
import type { Grader, MathExample, Plan, Sampler, Sandbox } from "@interlace/core";
import { describeIsolation } from "@interlace/sandbox";
import { hashConfig, hashedValues } from "../config/config-hash.ts";
import type { Config } from "../config/schema.ts";
import { checkPlan } from "../rollout/check-plan.ts";
import { openGrader } from "../rollout/open-grader.ts";
import { openLanguage } from "../rollout/open-language.ts";
import { openSandbox } from "../rollout/open-sandbox.ts";
import { openProblems } from "../rollout/open-problems.ts";
import { openSampler } from "../rollout/open-sampler.ts";
import { openTokenizer } from "../rollout/open-tokenizer.ts";
import { formatCount, formatPlural } from "../terminal/format.ts";
import { checkRows } from "./datasets.ts";
import { loadCheckpoint, type EvalCheckpoint } from "./eval-checkpoints.ts";
import { datasetName, evalConfig, fitToContext, type EvalConfig } from "./eval-config.ts";
import { EVAL_CLOCK, evalProtocol } from "./eval-protocol.ts";
import type { EvalFacts } from "./summary-line.ts";

export type OpenedEval = AsyncDisposable & {
  readonly config: EvalConfig;
  readonly plan: Plan;
  /** All that are asked for; the place in this list is the question_index. */
  readonly problems: readonly MathExample[];
  readonly ports: {
    readonly sampler: Sampler;
    readonly sandbox: Sandbox;
    readonly grader: Grader;
    readonly log: null;
  };
  readonly vocabSize: number;
  readonly facts: EvalFacts;
  /** What a person should know before it starts, one line each. */
  readonly notes: readonly string[];
};

export async function openEval(
  settings: Config,
  checkpoint: EvalCheckpoint,
  signal: AbortSignal,
  tell: (line: string) => void,
): Promise<OpenedEval> {
  const wanted = evalConfig({
    ...settings,
    sampler: { ...settings.sampler, ...checkpoint.sampler },
  });
  const data = await openProblems(wanted);
  if (wanted.eval.dataset !== null) {
    checkRows(wanted.eval.dataset, wanted.data.path, data.problems.length);
  }
  const source = await openTokenizer(wanted, signal, tell);
  const language = await openLanguage(wanted, source, EVAL_CLOCK);
  const { protocol, hashes } = await evalProtocol(wanted, language);
  await using opening = new AsyncDisposableStack();
  const opened = opening.use(await openSampler(wanted, language, source, signal));
  await loadCheckpoint(checkpoint, opened.weights, signal);
  const identity = await opened.sampler.identity();
  const config = fitToContext(wanted, identity);
  checkPlan(config, identity, protocol.vocabSize);
  const sandbox = await openToolSandbox(config, opening);
  const { grader } = opening.use(openGrader(config, tell, sandbox));
  const { limit, mode, seed, temperature, topP, topK, valN } = config.eval;
  const problems = limit === 0 ? data.problems : data.problems.slice(0, limit);
  const name = checkpoint.name ?? identity.model;
  const weights = identity.weightVersion;
  const inputs = {
    ...hashes,
    mode,
    data: data.hash,
    model: identity.model,
    weights: weights ?? "",
  };
  const stack = opening.move();
  return {
    config,
    plan: { config: config.rollout, protocol, step: 0 },
    problems,
    ports: { sampler: opened.sampler, sandbox, grader, log: null },
    vocabSize: identity.vocabSize,
    facts: {
      dataset: datasetName(config),
      mode,
      model: identity.model,
      modelPath: checkpoint.where,
      sampling: { temperature, topP, topK, seed },
      valN,
      settings: comparableSettings(config, hashes, data.hash),
      checkpoint: name,
      weightVersion: weights,
      configHash: hashConfig(config, inputs),
      askedWith: hashedValues(config, inputs),
    },
    notes: [
      `eval     ${name}: ${datasetName(config)}, ${mode}, ${formatPlural(problems.length, "problem")} × ` +
        `${valN} = ${formatCount(problems.length * valN)} generations`,
      `sampler  ${identity.kind}: ${identity.model}, weights ${weights ?? "unknown"}`,
      ...(mode === "retool" ? [`sandbox  ${describeIsolation(sandbox.isolation())}`] : []),
      `grader   ${config.grading.grader}`,
      ...[...data.notes, ...language.warnings, ...opened.warnings].map(
        (note) => `interlace: ${note}`,
      ),
    ],
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Without code to run nothing is opened that could be missing on this machine. */
async function openToolSandbox(config: Config, stack: AsyncDisposableStack): Promise<Sandbox> {
  const isNeeded = config.eval.mode === "retool" || config.grading.grader === "code_tests";
  if (isNeeded) return stack.use(await openSandbox(config));
  return {
    isolation: () => ({ backend: "none", level: "none", lines: [] }),
    run: () => Promise.reject(new Error("text-only runs no code")),
  };
}

/** What two results must have in common besides their sampling, by the names that files use. */
function comparableSettings(
  { rollout, grading }: Config,
  hashes: Readonly<Record<string, string>>,
  dataHash: string,
): EvalFacts["settings"] {
  return {
    grader: grading.grader,
    data_sha256: dataHash,
    prompt_sha256: hashes["systemPrompt"] ?? hashes["questionFrame"] ?? "",
    tool_sha256: hashes["tool"] ?? "",
    max_code_calls: rollout.maxCodeCalls,
    max_assistant_turns: rollout.maxAssistantTurns,
    max_trajectory_tokens: rollout.maxTrajectoryTokens,
    max_assistant_tokens: rollout.maxAssistantTokens,
    max_tool_response_tokens: rollout.maxToolResponseTokens,
  };
}
