/**
 * What may be shown of a setting's value in messages, logs and files. In: the setting's mark in the schema (`holds`).
 * A `secret` is never shown. A `variable_name` is shown when it is one beyond doubt: a person may have pasted the key.
 */
import { isVariableName } from "@interlace/sampler-clients";
import { settingsCatalogue, type JsonSchema } from "./catalogue.ts";

export const NOT_SHOWN = "(not shown, in case it is a key)";

type Env = Readonly<Record<string, string | undefined>>;

/** `name`: dotted; of a name that is no setting anything may be shown. */
export function mayShow(name: string, value: unknown, env: Env = process.env): boolean {
  const schema = settingsCatalogue().get(name)?.schema;
  const mark = schema === undefined ? null : markOf(schema);
  if (mark === null || value === null || value === undefined) return true;
  if (mark === "variable_name") return typeof value === "string" && isVariableName(value, env);
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** As JSON, or `NOT_SHOWN`. */
export function showValue(name: string, value: unknown): string {
  return mayShow(name, value) ? hideUserinfo(JSON.stringify(value)) : NOT_SHOWN;
}

/** A part that is marked marks the whole. */
export function markOf(schema: JsonSchema): JsonSchema["holds"] | null {
  const { holds, anyOf = [], items } = schema;
  const parts = items === undefined ? anyOf : [...anyOf, items];
  return holds ?? parts.map(markOf).find((mark) => mark !== null) ?? null;
}

/** A refused URL is shown without the secret that it was refused for. */
function hideUserinfo(text: string): string {
  return text.replaceAll(/\/\/[^/@"\s]*@/g, "//…@");
}
