/**
 * In: a step's scored trajectories, and a protocol that decodes texts, which state does not hold. Out: the schema
 * and one record batch per group, by trajectory index: messages, tokens, tool results, ends – what viewers and
 * re-scorers read. Times are given by the caller: core has no clock.
 */
import {
  messagesOf,
  turnText,
  type MathExample,
  type Protocol,
  type ScoredTrajectory,
  type StepDatums,
  type Tokens,
} from "@interlace/core";
import type { Schema } from "apache-arrow";
import {
  boolColumn,
  doubleColumn,
  floatListColumn,
  intColumn,
  intListColumn,
  nestedListColumn,
  packRows,
  textColumn,
} from "./columns.ts";
import type { ArrowTable } from "./encode-ipc.ts";
import { identityColumns } from "./identity-columns.ts";
import { metadataToMap } from "./metadata.ts";
import {
  failureColumn,
  gradeColumn,
  messageColumn,
  spanColumn,
  toolCallColumn,
  turnColumn,
  type MessageRow,
  type SpanRow,
} from "./nested-columns.ts";
import { makeRecordBatch, type ColumnBatch } from "./record-batch.ts";
import { tableSchema } from "./schema.ts";
import type { StepContext } from "./step-context.ts";

/** When a turn was asked for and answered, in milliseconds since 1970; null = not known. */
export type TurnTime = { readonly start: number; readonly end: number } | null;

export type TrajectoryOptions = {
  readonly protocol: Protocol;
  /** What a trajectory begins with, as the chat template got it: system and user. */
  readonly firstMessages: (problem: MathExample) => readonly MessageRow[];
  /** Absent = no times. */
  readonly timeOf?: (question: number, group: number, turn: number) => TurnTime;
};

export function trajectoryTable(
  step: StepDatums,
  context: StepContext,
  options: TrajectoryOptions,
): ArrowTable {
  const map = metadataToMap("trajectories", {
    ...context.facts,
    scoredSamples: step.scored,
    rows: step.trajectories.length,
  });
  const schema = tableSchema("trajectories", map);
  const batches = {
    *[Symbol.iterator]() {
      for (const rows of Map.groupBy(step.trajectories, ({ group }) => group).values()) {
        yield batchRows(rows, context, options, schema);
      }
    },
  };
  return { schema, batches };
}

function batchRows(
  rows: readonly ScoredTrajectory[],
  context: StepContext,
  options: TrajectoryOptions,
  schema: Schema,
): ColumnBatch {
  const members = rows.map(({ member }) => member);
  const protocol = decodeOnce(options.protocol);
  return makeRecordBatch(schema, rows.length, {
    ...identityColumns(rows, context),
    reward: doubleColumn(rows.map(({ score }) => score?.reward)),
    correct: boolColumn(rows.map(({ score }) => score?.correct)),
    valid_format: boolColumn(rows.map(({ score }) => score?.validFormat)),
    final_answer: textColumn(
      rows.map(({ score }) => score?.answer),
      "final_answer",
    ),
    termination: textColumn(
      members.map(({ phase }) => phase.termination),
      "termination",
    ),
    code_calls: intColumn(members.map(({ codeCalls }) => codeCalls)),
    advantage: doubleColumn(rows.map(({ advantage }) => advantage)),
    no_datum: textColumn(
      rows.map(({ noDatum }) => noDatum),
      "no_datum",
    ),
    messages: nestedListColumn(
      rows.map(({ group, member }): readonly MessageRow[] => [
        ...options.firstMessages(group.problem),
        ...messagesOf(protocol, member),
      ]),
      messageColumn,
    ),
    tokens: intListColumn(
      packRows(
        members.map(({ tokens }) => tokens.segments.map(({ ids }) => ids)),
        "tokens",
        Int32Array,
      ),
    ),
    spans: nestedListColumn(
      members.map(({ tokens }) => spansOf(tokens)),
      spanColumn,
    ),
    // Of the sampled positions, in order.
    logprobs: floatListColumn(
      packRows(
        members.map(({ tokens }) => tokens.segments.flatMap(({ logprobs }) => logprobs ?? [])),
        "logprobs",
        Float32Array,
      ),
    ),
    turns: nestedListColumn(
      rows.map(({ group, member }) =>
        member.turns.map((turn, index) => ({
          turn,
          text: turnText(protocol, member, index),
          time: options.timeOf?.(group.question, member.index, index) ?? null,
        })),
      ),
      turnColumn,
    ),
    tool_calls: nestedListColumn(
      members.map(({ toolCalls }) => toolCalls),
      toolCallColumn,
    ),
    grade: gradeColumn(members.map(({ phase }) => phase.grade)),
    failure: failureColumn(members.map(({ failure }) => failure)),
  });
}

/** A turn's text stands in two columns. */
function decodeOnce(protocol: Protocol): Protocol {
  const texts = new Map<Int32Array, string>();
  return {
    ...protocol,
    decodeTurn(ids) {
      const known = texts.get(ids);
      if (known !== undefined) return known;
      const text = protocol.decodeTurn(ids);
      texts.set(ids, text);
      return text;
    },
  };
}

function spansOf({ segments }: Tokens): readonly SpanRow[] {
  let end = 0;
  return segments.map(({ kind, ids }) => {
    const start = end;
    end += ids.length;
    return { kind, start, length: ids.length };
  });
}
