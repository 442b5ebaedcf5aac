/**
 * One event as members of a JSON object, and the way back. Ids and logprobs are base64 of little-endian int32/float32:
 * exact, about 11 B per token. Refuses, by field, what is no event.
 */
import {
  EXEC_STATUSES,
  weightVersion,
  type Captured,
  type Event,
  type ExecResult,
  type Failure,
  type Sequence,
} from "@interlace/core";
import { z } from "zod";

const count = z.int().min(0);

const ids = z.base64().transform((text, context) => {
  const bytes = Uint8Array.fromBase64(text);
  if (bytes.length % 4 !== 0) context.addIssue("Expected whole int32 values");
  return new Int32Array(bytes.buffer, 0, Math.floor(bytes.length / 4));
});
const logprobs = z.base64().transform((text, context) => {
  const bytes = Uint8Array.fromBase64(text);
  if (bytes.length % 4 !== 0) context.addIssue("Expected whole float32 values");
  return new Float32Array(bytes.buffer, 0, Math.floor(bytes.length / 4));
});

const failure = z.strictObject({
  ok: z.literal(false),
  boundary: z.enum(["sampler", "sandbox", "grader"]),
  cause: z.string(),
  detail: z.string(),
});

const sequence = z
  .strictObject({
    ok: z.literal(true),
    ids,
    logprobs,
    finish: z.enum(["stop", "length", "aborted"]),
    seed: count,
    versions: z.array(z.strictObject({ version: z.string().nullable(), start: count, end: count })),
    server_text: z.string().nullable(),
  })
  .transform(({ server_text: serverText, versions, ...rest }): Sequence => ({
    ...rest,
    versions: versions.map((span) => ({
      ...span,
      version: span.version === null ? null : weightVersion(span.version),
    })),
    serverText,
  }));

const stream = z
  .strictObject({
    head: z.string(),
    tail: z.string(),
    omitted_bytes: count,
    total_bytes: count,
  })
  .transform((each): Captured => ({
    head: each.head,
    tail: each.tail,
    omittedBytes: each.omitted_bytes,
    totalBytes: each.total_bytes,
  }));

const execResult = z
  .strictObject({
    ok: z.literal(true),
    status: z.enum(EXEC_STATUSES),
    exit_code: z.int().nullable(),
    signal: z.string().nullable(),
    limit: z.number().nullable(),
    stdout: stream,
    stderr: stream,
    usage: z.strictObject({
      queued_seconds: z.number(),
      wall_seconds: z.number(),
      cpu_seconds: z.number().nullable(),
      peak_memory_bytes: z.number().nullable(),
    }),
  })
  .transform(({ exit_code: exitCode, usage, ...rest }): ExecResult => ({
    ...rest,
    exitCode,
    usage: {
      queuedSeconds: usage.queued_seconds,
      wallSeconds: usage.wall_seconds,
      cpuSeconds: usage.cpu_seconds,
      peakMemoryBytes: usage.peak_memory_bytes,
    },
  }));

const grade = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("equal"), answer: z.string(), by: z.string() }),
  z.strictObject({ kind: z.literal("different"), answer: z.string().nullable(), by: z.string() }),
  z.strictObject({ kind: z.literal("unscored"), reason: z.string(), detail: z.string() }),
]);

const key = z.strictObject({ step: count, question: count, group: count.nullable(), turn: count });

/** The part of a line that is the event itself. */
export const eventSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("sampled"),
    key,
    prompt: z.strictObject({ length: count, hash: count }),
    sequences: z.array(z.union([sequence, failure])),
  }),
  z.strictObject({
    type: z.literal("executed"),
    key,
    result: z.union([execResult, failure]),
  }),
  z.strictObject({ type: z.literal("graded"), key, grade }),
]);

/** JSON text without its braces, to stand behind other members. */
export function membersOf(object: object): string {
  return JSON.stringify(object).slice(1, -1);
}

export function eventMembers(event: Event): string {
  switch (event.type) {
    case "sampled": {
      const { sequences, ...rest } = event;
      return `${membersOf(rest)},"sequences":[${sequences.map(sequenceToJson).join(",")}]`;
    }
    case "executed":
      return membersOf({ ...event, result: resultToJson(event.result) });
    case "graded":
      return membersOf(event);
  }
}

/** Nine tenths of a log is base64, which nobody needs to search for what must be escaped. */
function sequenceToJson(answer: Sequence | Failure): string {
  if (!answer.ok) return JSON.stringify(answer);
  const { ids: tokens, logprobs: drawn, serverText, ...rest } = answer;
  const others = membersOf({ ...rest, server_text: serverText });
  return `{${others},"ids":"${toBase64(tokens)}","logprobs":"${toBase64(drawn)}"}`;
}

function resultToJson(result: ExecResult | Failure): unknown {
  if (!result.ok) return result;
  const { exitCode, usage, stdout, stderr, ...rest } = result;
  return {
    ...rest,
    exit_code: exitCode,
    stdout: streamToJson(stdout),
    stderr: streamToJson(stderr),
    usage: {
      queued_seconds: usage.queuedSeconds,
      wall_seconds: usage.wallSeconds,
      cpu_seconds: usage.cpuSeconds,
      peak_memory_bytes: usage.peakMemoryBytes,
    },
  };
}

function streamToJson({ head, tail, omittedBytes, totalBytes }: Captured): unknown {
  return { head, tail, omitted_bytes: omittedBytes, total_bytes: totalBytes };
}

let words = new Int32Array(4096);

/**
 * Every machine that Bun runs on is little-endian. Through a copy, as asking a small array for its buffer moves it to
 * memory of its own, for as long as it lives.
 */
function toBase64(values: Int32Array | Float32Array): string {
  if (words.length < values.length) words = new Int32Array(2 * values.length);
  const { buffer } = words;
  (values instanceof Int32Array ? words : new Float32Array(buffer)).set(values);
  return new Uint8Array(buffer, 0, values.byteLength).toBase64();
}
