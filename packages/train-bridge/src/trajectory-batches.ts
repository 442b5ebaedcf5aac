/**
 * In: a step's scored trajectories, and a protocol that decodes texts, which state does not hold. Out: the schema
 * and record batches of whole groups, by trajectory index: messages, tokens, tool results, ends – what viewers and
 * re-scorers read. Times are given by the caller: core has no clock.
 */
import {
  messagesOf,
  turnText,
  type MathExample,
  type Member,
  type Protocol,
  type ScoredTrajectory,
  type StepDatums,
  type Tokens,
} from "@interlace/core";
import type { Schema } from "apache-arrow";
import { FRESH, reusedMemory, type ColumnMemory } from "./column-memory.ts";
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

/** Most of one record batch of several groups: a batch has 180 buffers however few its rows, and is held whole. */
const MAX_ROWS = 256;
const MAX_BYTES = 4 * 2 ** 20;
/** As an id, as a logprob and, twice, as text. */
const BYTES_PER_TOKEN = 16;

/** `reused` memory: a batch is valid until the next is asked for, and the step costs the memory of one. */
export function trajectoryTable(
  step: StepDatums,
  context: StepContext,
  options: TrajectoryOptions,
  memory: "fresh" | "reused" = "fresh",
): ArrowTable {
  const map = metadataToMap("trajectories", {
    ...context.facts,
    scoredSamples: step.scored,
    rows: step.trajectories.length,
  });
  const schema = tableSchema("trajectories", map);
  const batches = {
    *[Symbol.iterator]() {
      const arena = memory === "reused" ? reusedMemory() : null;
      for (const rows of joinGroups(step.trajectories)) {
        arena?.reset();
        yield batchRows(rows, { context, options, schema, memory: arena ?? FRESH });
      }
    },
  };
  return { schema, batches };
}

/** Neighbouring groups, each whole; one that is larger than the limits is alone. */
function* joinGroups(
  trajectories: readonly ScoredTrajectory[],
): Generator<readonly ScoredTrajectory[]> {
  let rows: ScoredTrajectory[] = [];
  let bytes = 0;
  for (const group of Map.groupBy(trajectories, (trajectory) => trajectory.group).values()) {
    const more = group.reduce((sum, { member }) => sum + estimateBytes(member), 0);
    if (rows.length > 0 && (rows.length + group.length > MAX_ROWS || bytes + more > MAX_BYTES)) {
      yield rows;
      rows = [];
      bytes = 0;
    }
    rows.push(...group);
    bytes += more;
  }
  if (rows.length > 0) yield rows;
}

/** Of a row: its tokens, and what was run and printed. */
function estimateBytes({ tokens, toolCalls }: Member): number {
  let bytes = tokens.length * BYTES_PER_TOKEN;
  for (const { code, content, result } of toolCalls) {
    bytes += code.length + (content?.length ?? 0);
    if (!result.ok) continue;
    for (const { head, tail } of [result.stdout, result.stderr]) bytes += head.length + tail.length;
  }
  return bytes;
}

type Surroundings = {
  readonly context: StepContext;
  readonly options: TrajectoryOptions;
  readonly schema: Schema;
  readonly memory: ColumnMemory;
};

function batchRows(
  rows: readonly ScoredTrajectory[],
  { context, options, schema, memory }: Surroundings,
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
      (messages) => messageColumn(messages, memory),
    ),
    tokens: intListColumn(
      packRows(
        members.map(({ tokens }) => tokens.segments.map(({ ids }) => ids)),
        "tokens",
        Int32Array,
        memory,
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
        memory,
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
      (turns) => turnColumn(turns, memory),
    ),
    tool_calls: nestedListColumn(
      members.map(({ toolCalls }) => toolCalls),
      (calls) => toolCallColumn(calls, memory),
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
