/**
 * `run.json`: everything that a run was started with. In: settings, identities, hashes, versions. Out: a file that
 * `--resume` reads back. Never holds a key or a secret: settings name the variable that holds one.
 */
import type { Isolation, SamplerIdentity } from "@interlace/core";
import { z } from "zod";
import { toSnake } from "../config/names.ts";
import { messageOf, PersonError, workFailed, wrongUse } from "../person-error.ts";
import type { RunFolder } from "./run-folder.ts";

export const RUN_RECORD_VERSION = 1;

/** Commands that make runs; a run is resumed by the one that made it. */
export const RUN_COMMANDS = ["rollout", "train"] as const;
export type RunCommand = (typeof RUN_COMMANDS)[number];

const hashes = z.record(z.string(), z.string());

const runRecordSchema = z.strictObject({
  v: z.literal(RUN_RECORD_VERSION),
  run_id: z.string(),
  command: z.enum(RUN_COMMANDS),
  created: z.string(),
  versions: z.record(z.string(), z.string()),
  preset: z.string().nullable(),
  /** Every setting's value. */
  config: z.record(z.string(), z.json()),
  /** What set it, for those that do not have their default. */
  origins: z.record(z.string(), z.string()),
  config_hash: z.string(),
  /** Of what the settings only point at: data, tokenizer, prompts, template. */
  input_hashes: hashes,
  seeds: z.strictObject({ seed: z.int(), scheme: z.string() }),
  data: z.strictObject({ source: z.string(), problems: z.int() }),
  /** The day that a template which asks for the date is told. */
  template_clock: z.string(),
  sampler: z.record(z.string(), z.json()),
  tokenizer: z.record(z.string(), z.json()),
  handshakes: z.array(z.json()),
  sandbox: z.json(),
  /** A copy without texts, for a bug report: it can be checked in part, and cannot go on. */
  redacted: z.boolean().default(false),
});

export type RunRecord = z.output<typeof runRecordSchema>;

export async function writeRunRecord(folder: RunFolder, record: RunRecord): Promise<void> {
  const checked = runRecordSchema.parse(record);
  // Arrow comes with it: who only reads records, or is refused a run, need not load it.
  const { writeJson } = await import("@interlace/train-bridge");
  try {
    await writeJson(folder.record, checked, 2);
  } catch (error) {
    throw workFailed(messageOf(error), error);
  }
}

/** Throws a PersonError on a file that is no record of a run. */
export async function readRunRecord(path: string): Promise<RunRecord> {
  let text: string;
  try {
    text = await Bun.file(path).text();
  } catch (error) {
    throw wrongUse(`Cannot read ${path}: ${messageOf(error)}; name a run folder`, error);
  }
  try {
    const json = JSON.parse(text) as unknown;
    refuseNewer(path, json);
    return runRecordSchema.parse(json);
  } catch (error) {
    if (error instanceof PersonError) throw error;
    const reason = error instanceof z.ZodError ? describeIssue(error) : messageOf(error);
    throw wrongUse(`${path} is no record of a run that this version reads: ${reason}`, error);
  }
}

/** A record of a later version is not damaged: who wrote it can read it. */
function refuseNewer(path: string, json: unknown): void {
  const { v, versions } = (json ?? {}) as { v?: unknown; versions?: { interlace?: unknown } };
  if (typeof v !== "number" || v <= RUN_RECORD_VERSION) return;
  const writer = versions?.interlace;
  const name = typeof writer === "string" ? `Interlace ${writer}` : "a newer Interlace";
  throw wrongUse(
    `${path} has format ${v}, this version reads ${RUN_RECORD_VERSION}: use ${name}, which wrote it`,
  );
}

function describeIssue({ issues }: z.ZodError): string {
  const [first] = issues;
  const more = issues.length > 1 ? `, and ${issues.length - 1} more` : "";
  return `${first?.path.join(".") || "the file"}: ${first?.message ?? "cannot be read"}${more}`;
}

export function samplerToJson(identity: SamplerIdentity): RunRecord["sampler"] {
  return Object.fromEntries(
    Object.entries(identity).map(([name, value]) => [toSnake(name), value]),
  );
}

export function isolationToJson({ backend, level, lines }: Isolation): RunRecord["sandbox"] {
  return { backend, level, lines: lines.map((line) => ({ ...line })) };
}
