/**
 * What a learner must know to be right, as text in the schema's metadata: names in snake_case, one mapping.
 * In: facts of the run. Out: a map of strings, and the way back, which refuses what this version cannot read.
 */
import type { LogprobKind } from "@interlace/core";
import { SCHEMA_VERSION, type TableName } from "./schema.ts";

/** The same for every step of a run. */
export type RunFacts = {
  readonly groupSize: number;
  readonly temperature: number;
  readonly topP: number;
  /** null = off. */
  readonly topK: number | null;
  /** What `old_logprobs` means: with anything but `raw`, ratios of a full-softmax learner need care. */
  readonly logprobKind: LogprobKind;
  readonly tokenizerId: string;
  readonly tokenizerHash: string;
  /** Rows of the model's output: token ids are `[0, vocabSize)`. */
  readonly vocabSize: number;
  readonly maxContextTokens: number;
  readonly seed: number;
  readonly seedScheme: string;
  readonly configHash: string;
  /** `group_centred`: A = R − mean(R of the group's scored members). */
  readonly advantageEstimator: string;
  readonly systemPromptHash: string;
  readonly toolHash: string;
  readonly chatTemplateHash: string;
};

export type TableMetadata = RunFacts & {
  readonly table: TableName;
  /** `major.minor`. */
  readonly schemaVersion: string;
  /** N: scored trajectories of the step, which `sample_weight` divides by. */
  readonly scoredSamples: number;
  /** Rows of the whole table: a stream that was cut between two batches shows by it. */
  readonly rows: number;
};

/** What is known of a table before its first batch. */
export type TableFacts = RunFacts & Pick<TableMetadata, "scoredSamples" | "rows">;

const NUMBERS = {
  groupSize: "group_size",
  temperature: "temperature",
  topP: "top_p",
  vocabSize: "vocab_size",
  maxContextTokens: "max_context_tokens",
  seed: "seed",
  scoredSamples: "scored_samples",
  rows: "rows",
} as const;

const TEXTS = {
  tokenizerId: "tokenizer_id",
  tokenizerHash: "tokenizer_hash",
  seedScheme: "seed_scheme",
  configHash: "config_hash",
  advantageEstimator: "advantage_estimator",
  systemPromptHash: "system_prompt_hash",
  toolHash: "tool_hash",
  chatTemplateHash: "chat_template_hash",
} as const;

const LOGPROB_KINDS: readonly string[] = ["raw", "temperature_scaled", "processed", "unknown"];

export function metadataToMap(table: TableName, facts: TableFacts): Map<string, string> {
  const map = new Map([
    ["table", table],
    ["schema_version", SCHEMA_VERSION],
    ["logprob_kind", facts.logprobKind],
    ["top_k", facts.topK === null ? "off" : String(facts.topK)],
  ]);
  for (const [name, key] of entriesOf(NUMBERS)) map.set(key, String(facts[name]));
  for (const [name, key] of entriesOf(TEXTS)) map.set(key, facts[name]);
  return map;
}

/** `where` names the source in errors. Throws on another table, a higher major version, or a missing fact. */
export function metadataFromMap(
  map: ReadonlyMap<string, string>,
  table: TableName,
  where: string,
): TableMetadata {
  const version = map.get("schema_version");
  const found = map.get("table");
  if (version === undefined || found === undefined) {
    throw new Error(
      `${where}: expected a table of Interlace, got Arrow data without table and schema_version in its metadata`,
    );
  }
  if (found !== table) throw new Error(`${where}: expected the table ${table}, got ${found}`);
  const major = majorOf(version);
  if (major === null || major > (majorOf(SCHEMA_VERSION) ?? 0)) {
    throw new Error(
      `${where}: expected schema version ${SCHEMA_VERSION} or an older one, got ${version}; read it with a newer Interlace`,
    );
  }
  const text = (key: string): string => {
    const value = map.get(key);
    if (value === undefined)
      throw new Error(`${where}: expected ${key} in the schema's metadata, got none`);
    return value;
  };
  const number = (key: string): number => {
    const value = Number(text(key));
    if (!Number.isFinite(value))
      throw new Error(`${where}: expected ${key} to be a number, got ${text(key)}`);
    return value;
  };
  const numbers = mapValues(NUMBERS, number);
  const texts = mapValues(TEXTS, text);
  const topK = text("top_k");
  return {
    table,
    schemaVersion: version,
    ...numbers,
    ...texts,
    topK: topK === "off" ? null : number("top_k"),
    logprobKind: logprobKindOf(text("logprob_kind"), where),
  };
}

function logprobKindOf(text: string, where: string): LogprobKind {
  if (!LOGPROB_KINDS.includes(text)) {
    throw new Error(
      `${where}: expected logprob_kind to be one of ${LOGPROB_KINDS.join(", ")}, got ${text}`,
    );
  }
  return text as LogprobKind;
}

function majorOf(version: string): number | null {
  const match = /^(\d+)\.(\d+)$/.exec(version);
  return match === null ? null : Number(match[1]);
}

function entriesOf<K extends string, V>(record: Readonly<Record<K, V>>): [K, V][] {
  return Object.entries(record) as [K, V][];
}

function mapValues<K extends string, V>(
  keys: Readonly<Record<K, string>>,
  read: (key: string) => V,
): Record<K, V> {
  return Object.fromEntries(entriesOf(keys).map(([name, key]) => [name, read(key)])) as Record<
    K,
    V
  >;
}
