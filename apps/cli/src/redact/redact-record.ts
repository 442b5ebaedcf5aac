/**
 * `run.json` without texts, paths and addresses. In: a record. Out: one that says that it is redacted. A setting stays
 * when it is a number, a switch or one of a few words; names of models and hashes stay too: a report is about them.
 */
import { settingsCatalogue, type JsonSchema } from "../config/catalogue.ts";
import type { RunRecord } from "../run-folder/run-record.ts";

type Value = RunRecord["config"][string];

const KEPT_TEXTS: ReadonlySet<string> = new Set(["sampler.model"]);

export function redactRecord(record: RunRecord): RunRecord {
  const catalogue = settingsCatalogue();
  const config = Object.fromEntries(
    Object.entries(record.config).map(([name, value]) => {
      const schema = catalogue.get(name)?.schema ?? null;
      return [name, KEPT_TEXTS.has(name) ? value : emptied(value, schema)];
    }),
  );
  return {
    ...record,
    redacted: true,
    config,
    origins: Object.fromEntries(Object.keys(record.origins).map((name) => [name, "redacted"])),
    data: { ...record.data, source: "redacted" },
    // What servers said may hold their addresses.
    handshakes: [],
  };
}

/** Of the same kind, so that the settings' schema still reads it. */
function emptied(value: Value, schema: JsonSchema | null): Value {
  if (typeof value === "string") {
    if (schema !== null && words(schema).includes(value)) return value;
    return value.startsWith("http") ? "http://redacted.invalid" : "redacted";
  }
  // A list of texts may have to have one.
  if (Array.isArray(value)) {
    const areTexts = value.every((item) => typeof item === "string");
    return areTexts ? value.map((item) => emptied(item, schema)) : [];
  }
  return typeof value === "object" && value !== null ? {} : value;
}

function words({ enum: own = [], const: one, anyOf = [] }: JsonSchema): readonly unknown[] {
  return [...own, ...(one === undefined ? [] : [one]), ...anyOf.flatMap(words)];
}
