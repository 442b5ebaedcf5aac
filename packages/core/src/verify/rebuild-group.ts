/** Rows of `trajectories.arrow` back to the records they are projections of. Call only on rows whose spans hold. */
import { fail } from "../ports/failure.ts";
import type { Grade } from "../ports/grader.ts";
import { weightVersion } from "../ports/sampler.ts";
import { captured, EXEC_STATUSES, type ExecStatus } from "../ports/sandbox.ts";
import type { InvalidCause } from "../protocol/dialects/dialect.ts";
import type { GradedMember, Group, Termination, ToolCall, Turn } from "../rollout/group.ts";
import { append, NO_TOKENS, sampledSegment, segment, type Tokens } from "../tokens/tokens.ts";
import type { GradeRecord, ToolCallRecord, TrajectoryRow, TurnRecord } from "./trajectory-row.ts";

/** Rows of one question, in any order. The reference answer is not in the file: it is left empty. */
export function rebuildGroup(rows: readonly TrajectoryRow[]): Group {
  const ordered = rows.toSorted((a, b) => a.groupIndex - b.groupIndex);
  const [first] = ordered;
  if (first === undefined) throw new RangeError("Expected at least one row of the group, got none");
  const { problemId: id, dataSource } = first;
  const question = first.messages.find(({ role }) => role === "user")?.content ?? "";
  return {
    question: first.questionIndex,
    problem: { id, question, answer: "", dataSource },
    members: ordered.map(rebuildMember),
  };
}

function rebuildMember(row: TrajectoryRow): GradedMember {
  return {
    index: row.groupIndex,
    tokens: tokensOfRow(row),
    turns: row.turns.map(turnOf),
    toolCalls: row.toolCalls.map(toolCallOf),
    codeCalls: row.codeCalls,
    phase: {
      type: "graded",
      termination: row.termination as Termination,
      grade: gradeOf(row.grade),
    },
    failure: row.failure === null ? null : failureOf(row.failure),
  };
}

function tokensOfRow({ tokens, spans, logprobs }: TrajectoryRow): Tokens {
  let sampled = 0;
  return spans.reduce((known, { kind, start, length }) => {
    const ids = tokens.subarray(start, start + length);
    if (kind !== "sampled") return append(known, segment(kind as "context" | "observed", ids));
    sampled += length;
    return append(known, sampledSegment(ids, logprobs.subarray(sampled - length, sampled)));
  }, NO_TOKENS);
}

function turnOf(turn: TurnRecord): Turn {
  return {
    promptLength: turn.prompt_length,
    length: turn.length,
    finish: turn.finish as Turn["finish"],
    seed: turn.seed,
    versions: turn.versions.map(({ version, start, end }) => ({
      version: version === null ? null : weightVersion(version),
      start,
      end,
    })),
    parsed: turn.parsed as Turn["parsed"],
    invalidCause: turn.invalid_cause as InvalidCause | null,
    opensCall: turn.opens_call,
    textMismatch: turn.text_mismatch,
  };
}

/** Streams are not needed for what is recomputed; statuses and times are. */
function toolCallOf({
  id,
  turn,
  code,
  status,
  content,
  truncated,
  usage,
}: ToolCallRecord): ToolCall {
  const isStatus = (EXEC_STATUSES as readonly string[]).includes(status);
  const result: ToolCall["result"] = isStatus
    ? {
        ok: true,
        status: status as ExecStatus,
        exitCode: null,
        signal: null,
        limit: null,
        stdout: captured(""),
        stderr: captured(""),
        usage: {
          queuedSeconds: 0,
          wallSeconds: usage?.wall_seconds ?? 0,
          cpuSeconds: null,
          peakMemoryBytes: null,
        },
      }
    : fail("sandbox", status, "");
  return { id, turn, code, result, content, truncated };
}

function gradeOf({ kind, answer, by, reason, detail }: GradeRecord): Grade {
  if (kind === "equal") return { kind, answer: answer ?? "", by: by ?? "" };
  if (kind === "different") return { kind, answer, by: by ?? "" };
  return { kind: "unscored", reason: reason ?? "", detail: detail ?? "" };
}

function failureOf({ boundary, cause, detail }: NonNullable<TrajectoryRow["failure"]>) {
  return fail(boundary as "sampler" | "sandbox" | "grader", cause, detail);
}
