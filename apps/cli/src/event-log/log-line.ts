/**
 * What stands on one line of `events.jsonl`: an answer of a port, or a mark of the log's own.
 *
 *   {"v":1,"seq":0,"t":1767225600000.125,"type":"opened","run_id":"…","step":0,"config_hash":"…"}
 *   {"v":1,"seq":1,"t":1767225600350,"started":1767225600100,"type":"sampled","key":{…},"prompt":{…},"sequences":[…]}
 *
 * `t` and `started` are milliseconds since 1970: when the answer came, when its command was issued.
 */
import { formatKey, type Command, type Event } from "@interlace/core";
import { z } from "zod";
import { eventSchema } from "./event-line.ts";

/** A reader refuses any other. */
export const LOG_VERSION = 1;

const time = z.number().min(0);
const count = z.int().min(0);
const frame = { v: z.literal(LOG_VERSION), seq: z.int().min(0), t: time };

export const markSchema = z.discriminatedUnion("type", [
  /** First line of every log. */
  z.strictObject({
    type: z.literal("opened"),
    run_id: z.string(),
    step: z.int().min(0),
    config_hash: z.string(),
  }),
  z.strictObject({ type: z.literal("resumed") }),
  /** Recorded answers that count no more: they are asked again. */
  z.strictObject({ type: z.literal("dropped"), answers: z.array(z.string()) }),
  /** An abort; the log can be resumed. */
  z.strictObject({ type: z.literal("interrupted"), reason: z.string() }),
  /** Over-sampling: which questions the batch consists of, and which were under way when it was full. */
  z.strictObject({
    type: z.literal("selected"),
    questions: z.array(count),
    /** `position`: of its problem in the data, counted on past the end. */
    carried: z.array(z.strictObject({ question: count, position: count })),
  }),
  /** The batch is complete and nothing follows. */
  z.strictObject({ type: z.literal("closed") }),
]);

export type Mark = z.output<typeof markSchema>;

const MARK_TYPES: ReadonlySet<unknown> = new Set(
  markSchema.options.map((option) => option.shape.type.value),
);

export type LogLine = {
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly time: number;
} & (
  | { readonly mark: Mark; readonly event: null }
  | { readonly mark: null; readonly event: Event; readonly started: number }
);

const frameSchema = z.looseObject({ ...frame, started: time.optional() });

/** Throws ZodError, which names the field. */
export function parseLogLine(json: unknown): LogLine {
  const { v: _, seq, t, started, ...rest } = frameSchema.parse(json);
  if (MARK_TYPES.has(rest["type"])) {
    return { seq, time: t, mark: markSchema.parse(rest), event: null };
  }
  return { seq, time: t, started: started ?? t, mark: null, event: eventSchema.parse(rest) };
}

/** Names an answer within a log: `sampled 0/3/-/0`. */
export function answerName({ type, key }: Pick<Event, "type" | "key">): string {
  return `${type} ${formatKey(key)}`;
}

const ANSWER_TYPES = { sample: "sampled", execute: "executed", grade: "graded" } as const;

/** The name that the answer to this command will have. */
export function answerNameOf({ type, key }: Command): string {
  return `${ANSWER_TYPES[type]} ${formatKey(key)}`;
}
