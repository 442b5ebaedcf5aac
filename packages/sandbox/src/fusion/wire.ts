/**
 * `POST /run_code` as SandboxFusion defines it, and what Interlace adds under the key `interlace`, which
 * other servers and clients ignore: limits that the protocol lacks, and the exact result.
 */

import { z } from "zod";
import { EXEC_STATUSES } from "@interlace/core";

const added = z.object({
  cpu_seconds: z.number().positive().optional(),
  keep_bytes: z.int().positive().optional(),
  max_output_bytes: z.int().positive().optional(),
});

export const runCodeRequestSchema = z.object({
  code: z.string(),
  language: z.string(),
  /** Seconds. */
  run_timeout: z.number().positive().max(86_400).default(10),
  /** −1 = the service's own. */
  memory_limit_MB: z.int().default(-1),
  stdin: z.string().nullish(),
  files: z.record(z.string(), z.string().nullable()).default({}),
  fetch_files: z.array(z.string()).default([]),
  interlace: added.optional(),
});
export type RunCodeRequest = z.input<typeof runCodeRequestSchema>;

const commandResult = z.object({
  status: z.enum(["Finished", "Error", "TimeLimitExceeded"]),
  execution_time: z.number().nullish(),
  /** Negative: minus the number of the signal that ended it. */
  return_code: z.int().nullish(),
  stdout: z.string().nullish(),
  stderr: z.string().nullish(),
});

const captured = z.object({
  head: z.string(),
  tail: z.string(),
  omitted_bytes: z.int().min(0),
  total_bytes: z.int().min(0),
});

const exactResult = z.object({
  status: z.enum(EXEC_STATUSES),
  exit_code: z.int().nullable(),
  signal: z.string().nullable(),
  limit: z.number().nullable(),
  stdout: captured,
  stderr: captured,
  queued_seconds: z.number(),
  cpu_seconds: z.number().nullable(),
  peak_memory_bytes: z.number().nullable(),
});
export type ExactResult = z.infer<typeof exactResult>;

export const runCodeResponseSchema = z.object({
  status: z.enum(["Success", "Failed", "SandboxError"]),
  message: z.string().nullish(),
  compile_result: z.null().optional(),
  run_result: commandResult.nullish(),
  interlace: exactResult.optional(),
});
export type RunCodeResponse = z.infer<typeof runCodeResponseSchema>;

/** What our own server says of itself on `GET /healthz`. */
export const healthSchema = z.object({
  status: z.string(),
  isolation: z.object({
    backend: z.string(),
    level: z.string(),
    lines: z.array(z.object({ name: z.string(), holds: z.boolean(), why: z.string().optional() })),
  }),
});
