/**
 * In: the settings, and what the sampler says of itself. Out: the configuration that an evaluation runs with: the
 * sampling of the `eval` section, the budgets of its mode, one grader for both modes.
 */
import { basename, extname } from "node:path";
import type { SamplerIdentity } from "@interlace/core";
import { embeddedProblemFiles } from "@interlace/sampler-clients";
import type { Config } from "../config/schema.ts";
import { chooseGrader } from "../rollout/open-grader.ts";
import { wrongUse } from "../person-error.ts";
import { findDataset } from "./datasets.ts";

export type EvalConfig = Config & {
  readonly data: Config["data"] & { readonly path: string };
};

/** What is evaluated must not depend on how a training chooses and orders its problems. */
const WHOLE_FILE = {
  shuffle: "none",
  maxSamples: 0,
  minQuestionCharacters: 0,
  maxQuestionCharacters: null,
  maxAnswerCharacters: null,
} as const satisfies Partial<Config["data"]>;

export function evalConfig(config: Config): EvalConfig {
  const { eval: own, rollout, data } = config;
  if (data.mixture.length > 0) {
    throw wrongUse("data.mixture is set: an evaluation is of one data set, name it with --data");
  }
  const path =
    own.dataset === null
      ? (data.path ?? embeddedProblemFiles.heldOut)
      : findDataset(own.dataset, data.path);
  const { valN: groupSize, temperature, topP, topK, seed } = own;
  const oneTurn = own.mode === "text-only" ? { maxCodeCalls: 0, maxAssistantTurns: 1 } : {};
  return {
    ...config,
    data: { ...data, path, ...WHOLE_FILE },
    grading: {
      ...config.grading,
      grader: own.dataset === null ? chooseGrader(config) : namedGrader(config),
    },
    rollout: { ...rollout, ...oneTurn, groupSize, temperature, topP, topK, seed },
    learner: { ...config.learner, maxContextTokens: null },
  };
}

/** A turn of `text-only` may have all that the context leaves. */
export function fitToContext(config: EvalConfig, identity: SamplerIdentity): EvalConfig {
  if (config.eval.mode !== "text-only") return config;
  const context = identity.contextLength ?? config.rollout.maxTrajectoryTokens;
  const budgets = { maxTrajectoryTokens: context, maxAssistantTokens: context };
  return { ...config, rollout: { ...config.rollout, ...budgets } };
}

/** What results call the data set. */
export function datasetName({ eval: own, data }: EvalConfig): string {
  return own.dataset ?? basename(data.path, extname(data.path));
}

function namedGrader({ grading }: Config): Config["grading"]["grader"] {
  return grading.grader === "auto" ? "math_verify" : grading.grader;
}
