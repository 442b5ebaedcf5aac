/**
 * Is a policy ready for reinforcement learning? In: the settings. Out: findings of 16 trajectories, 4 problems × 4:
 * does it call the tool, are its calls and answers well formed, do its groups carry a signal. Writes no file.
 */
import {
  batchAt,
  collect,
  isDegenerate,
  isGraded,
  scoreGrade,
  type Group,
  type Member,
} from "@interlace/core";
import type { ResolvedConfig } from "../config/resolve.ts";
import { messageOf } from "../person-error.ts";
import { prepareRun } from "../rollout/prepare-run.ts";
import { formatPlural, formatShare } from "../terminal/format.ts";
import { reporterFor, type Finding, type Reporter } from "./finding.ts";

const PROBLEMS = 4;
const GROUP_SIZE = 4;
/** Below these shares reinforcement alone rarely gets off the ground. */
const FEW_CALLS = 0.1;
const FEW_VALID = 0.5;

export async function checkPolicy(
  resolved: ResolvedConfig,
  { signal, tell }: { readonly signal: AbortSignal; readonly tell: (line: string) => void },
  findings: Finding[],
): Promise<void> {
  const report = reporterFor("policy", findings);
  await using stack = new AsyncDisposableStack();
  try {
    const identity = { id: "doctor", now: new Date(), command: "rollout" as const };
    const run = await prepareRun(resolved, null, identity, { stack, signal, tell });
    const { config, ports, language } = run;
    const rollout = { ...config.rollout, groupSize: GROUP_SIZE };
    const problems = batchAt(run.data.problems, 0, PROBLEMS);
    const batch = await collect(
      { config: rollout, protocol: language.protocol, step: 0 },
      problems,
      { ...ports, log: null },
      { signal, vocabSize: ports.identity.vocabSize, maxFailedFraction: 1 },
    );
    judge(batch.groups, report);
  } catch (error) {
    report.broken("trajectories", messageOf(error), "mend what this names");
  }
}

/** The verdict on complete groups. */
export function judge(groups: readonly Group[], report: Reporter): void {
  const members = groups.flatMap((group) => group.members);
  const lost = members.filter(({ failure }) => failure !== null);
  if (lost.length > 0) {
    report.broken(
      "trajectories",
      `${lost.length} of ${members.length} were lost: ${lost[0]?.failure?.detail ?? ""}`,
      "mend the server or the sandbox first",
    );
  } else report.ok("trajectories", `${members.length}, none lost`);
  reportCalls(members, report);
  reportAnswers(members, report);
  const signals = groups.filter((group) => !isDegenerate(rewardsOf(group))).length;
  const seen = `${signals} of ${formatPlural(groups.length, "group")} with a signal`;
  if (signals > 0) report.ok("signal", seen);
  else report.note("signal", `${seen}: ${whySilent(members)}`, fixFor(members));
}

function reportCalls(members: readonly Member[], report: Reporter): void {
  const calling = members.filter(({ turns }) => turns.some(({ opensCall }) => opensCall)).length;
  const rate = calling / Math.max(1, members.length);
  const seen = `${formatShare(rate)} of the trajectories call the tool`;
  if (rate >= FEW_CALLS) report.ok("calls", seen);
  else {
    report.note(
      "calls",
      seen,
      "show it how: fine-tune on correct trajectories first, or say more in protocol.system_prompt",
    );
  }
  const turns = members.flatMap((member) => member.turns).filter(({ opensCall }) => opensCall);
  if (turns.length === 0) return;
  const valid = turns.filter(({ parsed }) => parsed === "tool").length / turns.length;
  const cause = turns.find(({ invalidCause }) => invalidCause !== null)?.invalidCause;
  const told = `${formatShare(valid)} of the calls are well formed`;
  if (valid >= FEW_VALID) report.ok("valid calls", told);
  else {
    report.note(
      "valid calls",
      `${told}, ${cause ?? "unknown"} for one`,
      "compare what the model writes with protocol.dialect; raise rollout.max_assistant_tokens where calls are cut",
    );
  }
}

function reportAnswers(members: readonly Member[], report: Reporter): void {
  const scores = members.map(scoreOf).filter((score) => score !== null);
  const boxed = scores.filter(({ validFormat }) => validFormat).length;
  const right = scores.filter(({ correct }) => correct).length;
  const share = boxed / Math.max(1, scores.length);
  const seen = `${formatShare(share)} end with a boxed answer, ${formatShare(right / Math.max(1, scores.length))} are right`;
  if (share >= FEW_VALID) report.ok("answers", seen);
  else {
    report.note(
      "answers",
      seen,
      "ask for \\boxed{} in protocol.system_prompt; raise rollout.max_assistant_tokens where answers are cut",
    );
  }
}

function scoreOf(member: Member) {
  return isGraded(member) ? scoreGrade(member.phase.grade) : null;
}

function rewardsOf(group: Group): (number | null)[] {
  return group.members.map((member) => scoreOf(member)?.reward ?? null);
}

function whySilent(members: readonly Member[]): string {
  const right = members.filter((member) => scoreOf(member)?.correct === true).length;
  if (right === members.length) return "all answers are right";
  return right === 0 ? "no answer is right" : "each group agrees with itself";
}

function fixFor(members: readonly Member[]): string {
  const right = members.filter((member) => scoreOf(member)?.correct === true).length;
  if (right === members.length) return "choose harder problems: data.path";
  return "choose easier problems (data.path) or larger groups (rollout.group_size)";
}
