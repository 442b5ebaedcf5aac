/**
 * In: a ledger. Out: what was paid for and not trained on, or cut short, the dearest first, each with the setting that
 * would change it. Refuses to know the configuration: it names settings, it reads none.
 */
import type { Termination } from "../rollout/group.ts";
import type { Ledger } from "./ledger.ts";

export type Waste = {
  /** As the ledger names it: a cause of a drop, or an end. */
  readonly cause: string;
  readonly trajectories: number;
  /** Sampled tokens that no datum holds; null = they are trained on, as the end of a trajectory that was cut short. */
  readonly sampledTokens: number | null;
  /** `rollout.max_assistant_tokens`: the line of the configuration that would change it. */
  readonly setting: string;
  readonly advice: string;
};

type Remedy = Pick<Waste, "setting" | "advice">;

/** By what a cause holds; the first that fits counts. */
const REMEDIES: readonly (readonly [part: string, Remedy])[] = [
  [
    "zero_advantage",
    {
      setting: "data.path",
      advice: "problems that are sometimes solved: all of a group were right, or all wrong",
    },
  ],
  [
    "no_signal",
    {
      setting: "data.path",
      advice: "problems that are sometimes solved: each group here was refilled",
    },
  ],
  [
    "group_too_small",
    { setting: "run.min_scored", advice: "fewer scored trajectories may make a group" },
  ],
  [
    "over_max_context_tokens",
    { setting: "learner.max_context_tokens", advice: "make it rollout.max_trajectory_tokens" },
  ],
  [
    "no_completion_tokens",
    { setting: "rollout.max_trajectory_tokens", advice: "prompts leave no room to answer" },
  ],
  [
    "not_finished",
    { setting: "run.max_failed_fraction", advice: "the batch ended before these did" },
  ],
  [
    "unscored:sampler_failed:invalid",
    {
      setting: "sampler.url",
      advice: "the server sends bad ids or logprobs: interlace doctor looks at it",
    },
  ],
  [
    "unscored:sampler_failed:drift",
    {
      setting: "sampler.kind",
      advice: "text does not carry ids exactly: choose a server that takes ids",
    },
  ],
  [
    "unscored:sampler_failed",
    { setting: "sampler.retry.attempts", advice: "more tries, or mend the server" },
  ],
  [
    "unscored:tool_failed",
    { setting: "sandbox.workers", advice: "fewer runs at once, or mend the sandbox" },
  ],
  [
    "unscored:aborted",
    { setting: "sampler.max_in_flight", advice: "somebody aborts requests at the server" },
  ],
  [
    ":timeout",
    { setting: "grading.timeout_seconds", advice: "the grader ran out of time: more of it" },
  ],
  [
    "unscored:",
    { setting: "grading.grader", advice: "the grader could not decide: another one may" },
  ],
];

/** Ends that cut a trajectory short of its own will. */
const CUT_SHORT: Readonly<Partial<Record<Termination, Remedy>>> = {
  code_calls_exhausted: { setting: "rollout.max_code_calls", advice: "more calls" },
  turns_exhausted: { setting: "rollout.max_assistant_turns", advice: "more turns" },
  observation_over_budget: {
    setting: "rollout.max_trajectory_tokens",
    advice: "room for observations",
  },
  trajectory_budget_exhausted: {
    setting: "rollout.max_trajectory_tokens",
    advice: "longer trajectories",
  },
  prompt_over_budget: {
    setting: "data.max_question_characters",
    advice: "leave such questions out, or raise rollout.max_trajectory_tokens",
  },
  invalid_format: {
    setting: "protocol.dialect",
    advice: "what the model writes is no valid call",
  },
};

/** The rest is in the ledger. */
const SHOWN_CAUSES = 3;

const CUT_TURNS: Remedy = { setting: "rollout.max_assistant_tokens", advice: "longer turns" };

/** Drops by tokens, then ends by trajectories; empty = everything that was sampled is trained on. */
export function findWaste(ledger: Ledger): readonly Waste[] {
  const dropped = Object.entries(ledger.trajectories.dropped)
    .filter(([, count]) => count > 0)
    .map(([cause, trajectories]): Waste => {
      const sampledTokens = ledger.sampledTokens.dropped[cause] ?? 0;
      return { cause, trajectories, sampledTokens, ...remedyOf(cause) };
    });
  const ends = Object.entries(CUT_SHORT).flatMap(([end, remedy]): Waste[] => {
    const trajectories = ledger.terminations[end as Termination] ?? 0;
    if (trajectories === 0) return [];
    const waste = { cause: end, trajectories, sampledTokens: null, ...remedy };
    if (end !== "invalid_format") return [waste];
    const causes = describeCounts(ledger.invalidTurns);
    return [{ ...waste, advice: `${remedy.advice}${causes}: interlace doctor --policy tells` }];
  });
  const cut = ledger.truncatedTurns;
  const turns: Waste = {
    cause: "truncated_turns",
    trajectories: cut,
    sampledTokens: null,
    ...CUT_TURNS,
  };
  return [
    ...dropped.toSorted((a, b) => (b.sampledTokens ?? 0) - (a.sampledTokens ?? 0)),
    ...[...ends, ...(cut === 0 ? [] : [turns])].toSorted((a, b) => b.trajectories - a.trajectories),
  ];
}

/** ` (5 unclosed_call, 2 bad_arguments)`: the most frequent first; empty = nobody counted. */
function describeCounts(counts: Readonly<Record<string, number>>): string {
  const causes = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .toSorted(([, a], [, b]) => b - a)
    .map(([cause, count]) => `${count} ${cause}`);
  const more = causes.length > SHOWN_CAUSES ? ", …" : "";
  return causes.length === 0 ? "" : ` (${causes.slice(0, SHOWN_CAUSES).join(", ")}${more})`;
}

function remedyOf(cause: string): Remedy {
  const found = REMEDIES.find(([part]) => cause.includes(part));
  if (found !== undefined) return found[1];
  return { setting: "run.max_failed_fraction", advice: "see the ledger" };
}
