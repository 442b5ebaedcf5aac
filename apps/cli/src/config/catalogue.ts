/**
 * In: the composed schema. Out: every setting by its dotted name, with its help text, default and what is
 * allowed, all read from the schema, so that nothing is said twice.
 */
import { z } from "zod";
import { configSchema, type Config } from "./schema.ts";
import { toDotted } from "./names.ts";

export type Setting = {
  /** `rollout.group_size`. */
  readonly name: string;
  /** `["rollout", "groupSize"]`. */
  readonly path: readonly string[];
  readonly description: string;
  /** undefined = none, it must be given. */
  readonly fallback: unknown;
  readonly schema: JsonSchema;
};

export type JsonSchema = {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minLength?: number;
  readonly format?: string;
  /** What must not be shown as it is (`showing.ts`). */
  readonly holds?: "variable_name" | "secret";
};

export type Catalogue = ReadonlyMap<string, Setting>;

let built: Catalogue | null = null;

export function settingsCatalogue(): Catalogue {
  built ??= new Map(
    walk(z.toJSONSchema(configSchema, { io: "input" }) as JsonSchema, []).map((setting) => [
      setting.name,
      setting,
    ]),
  );
  return built;
}

function walk(schema: JsonSchema, path: readonly string[]): Setting[] {
  if (schema.properties !== undefined) {
    return Object.entries(schema.properties).flatMap(([key, child]) => walk(child, [...path, key]));
  }
  const { description = "", default: fallback } = schema;
  return [{ name: toDotted(path), path, description, fallback, schema: oneTypeEach(schema) }];
}

/** `type: ["string", "null"]` is short for two choices. */
function oneTypeEach(schema: JsonSchema): JsonSchema {
  const { type, ...rest } = schema;
  return Array.isArray(type)
    ? { ...rest, anyOf: type.map((each: string) => ({ type: each })) }
    : schema;
}

/** Every setting's value, by dotted name, in the schema's order; undefined = not set and without a default. */
export function valuesOf(config: Config): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { name, path } of settingsCatalogue().values()) {
    values[name] = path.reduce<unknown>(
      (node, key) => (node as Record<string, unknown>)[key],
      config,
    );
  }
  return values;
}

/** `an integer of at least 1`, `one of continuous, rounds`: what a person may write. */
export function describeAllowed(schema: JsonSchema): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map(describeAllowed).join(" or ");
  if (schema.enum !== undefined) return `one of ${schema.enum.map(String).join(", ")}`;
  switch (schema.type ?? "any") {
    case "integer":
      return `an integer${describeRange(schema)}`;
    case "number":
      return `a number${describeRange(schema)}`;
    case "boolean":
      return "true or false";
    case "string":
      if (schema.holds === "variable_name") {
        return "the NAME of an environment variable (like VLLM_API_KEY)";
      }
      if (schema.format === "uri") return "a URL like http://localhost:8000";
      return (schema.minLength ?? 0) > 0 ? "a text that is not empty" : "a text";
    case "array":
      return schema.items === undefined
        ? "a list"
        : `a list, each ${describeAllowed(schema.items)}`;
    case "object":
      return "a table of names and values";
    case "null":
      return "null";
    default:
      return "another value";
  }
}

function describeRange(schema: JsonSchema): string {
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum } = schema;
  const parts = [
    minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER ? `of at least ${minimum}` : null,
    exclusiveMinimum === undefined ? null : `above ${exclusiveMinimum}`,
    maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? `of at most ${maximum}` : null,
    exclusiveMaximum === undefined ? null : `below ${exclusiveMaximum}`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? "" : ` ${parts.join(" and ")}`;
}
