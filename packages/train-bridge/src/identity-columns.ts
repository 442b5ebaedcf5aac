/** The columns that both tables share: which trajectory a row is. */
import type { ScoredTrajectory } from "@interlace/core";
import { constantColumn, intColumn, textColumn } from "./columns.ts";
import type { Columns } from "./record-batch.ts";
import type { StepContext } from "./step-context.ts";

export function identityColumns(rows: readonly ScoredTrajectory[], context: StepContext): Columns {
  return {
    run_id: constantColumn(context.runId, rows.length, "run_id"),
    step: intColumn(rows.map(() => context.step)),
    question_index: intColumn(rows.map(({ group }) => group.question)),
    group_index: intColumn(rows.map(({ member }) => member.index)),
    problem_id: textColumn(
      rows.map(({ group }) => group.problem.id),
      "problem_id",
    ),
    data_source: textColumn(
      rows.map(({ group }) => group.problem.dataSource),
      "data_source",
    ),
  };
}
