/**
 * In: a step's trajectories. Out: the right ones as conversations, without doubles. A call stays the text that the model
 * wrote, with the tool's result behind it. Refuses to know files.
 */
import type { TrajectoryRow } from "@interlace/train-bridge";

export type SftMessage = {
  readonly role: string;
  readonly content: string;
  /** Of a tool's result; null = the message is none. */
  readonly tool_call_id: string | null;
  readonly name: string | null;
};

export type SftRow = {
  readonly messages: readonly SftMessage[];
  readonly problem_id: string;
  readonly data_source: string;
  readonly final_answer: string;
  readonly reward: number;
  readonly turns: number;
  readonly code_calls: number;
  readonly run_id: string;
  readonly step: number;
  readonly question_index: number;
  readonly group_index: number;
};

export type SftCounts = {
  readonly trajectories: number;
  readonly wrong: number;
  readonly unscored: number;
  /** Right, but cut short or ended by a limit: nobody should learn to end so. */
  readonly unfinished: number;
  /** Right, and the same conversation as one before. */
  readonly doubles: number;
  /** Right, but the problem has its number already. */
  readonly overNumber: number;
  readonly kept: number;
};

/** Takes rows one by one; `perProblem` null = all. */
export function createSftFilter(perProblem: number | null) {
  const seen = new Set<string>();
  const taken = new Map<string, number>();
  const counts = {
    trajectories: 0,
    wrong: 0,
    unscored: 0,
    unfinished: 0,
    doubles: 0,
    overNumber: 0,
    kept: 0,
  };
  return {
    counts: (): SftCounts => ({ ...counts }),
    /** The row to export, or null. */
    take(row: TrajectoryRow): SftRow | null {
      const drop = (reason: keyof typeof counts): null => {
        counts[reason] += 1;
        return null;
      };
      counts.trajectories += 1;
      if (row.correct === null) return drop("unscored");
      if (!row.correct) return drop("wrong");
      const isWhole = row.termination === "answer" && row.turns.at(-1)?.finish === "stop";
      if (!isWhole) return drop("unfinished");
      const { messages } = row;
      const question = messages.find(({ role }) => role === "user")?.content ?? "";
      const key = JSON.stringify(messages.map(({ role, content }) => [role, content]));
      if (seen.has(key)) return drop("doubles");
      const count = taken.get(question) ?? 0;
      if (perProblem !== null && count >= perProblem) return drop("overNumber");
      seen.add(key);
      taken.set(question, count + 1);
      counts.kept += 1;
      return {
        messages: messages.map(({ role, content, tool_call_id, name }) => ({
          role,
          content,
          tool_call_id: tool_call_id ?? null,
          name: name ?? null,
        })),
        problem_id: row.problemId,
        data_source: row.dataSource,
        final_answer: row.finalAnswer ?? "",
        reward: row.reward ?? 0,
        turns: row.turns.length,
        code_calls: row.codeCalls,
        run_id: row.runId,
        step: row.step,
        question_index: row.questionIndex,
        group_index: row.groupIndex,
      };
    },
  };
}
