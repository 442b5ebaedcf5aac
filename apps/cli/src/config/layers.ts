/**
 * In: flags, environment, file, preset. Out: one value per setting and where it came from.
 * Refuses to know what a value means: the schema judges it afterwards.
 */
import { wrongUse } from "../person-error.ts";
import { settingsCatalogue, type JsonSchema, type Setting } from "./catalogue.ts";
import { toSnake, toVariable } from "./names.ts";
import { nearestName } from "./nearest-name.ts";

/** Values by dotted name, and how each is called where it was written. */
export type Layer = ReadonlyMap<string, { readonly value: unknown; readonly origin: string }>;

/** Variables that are no settings: what runs Interlace reads them. */
const OTHER_VARIABLES = new Set(["INTERLACE_PYTHON"]);

/** Every name of a TOML file must be known. */
export function layerOfTable(table: Readonly<Record<string, unknown>>, file: string): Layer {
  const catalogue = settingsCatalogue();
  const sections = new Set<string>();
  for (const name of catalogue.keys()) {
    const parts = name.split(".");
    for (let i = 1; i < parts.length; i++) sections.add(parts.slice(0, i).join("."));
  }
  const layer = new Map<string, { value: unknown; origin: string }>();
  const visit = (node: Readonly<Record<string, unknown>>, prefix: string): void => {
    for (const [key, value] of Object.entries(node)) {
      const name = prefix === "" ? key : `${prefix}.${key}`;
      if (catalogue.has(name)) layer.set(name, { value, origin: file });
      else if (sections.has(name) && isTable(value)) visit(value, name);
      else throw unknownName(name, file, [...catalogue.keys(), ...sections]);
    }
  };
  visit(table, "");
  return layer;
}

/** `INTERLACE_ROLLOUT_GROUP_SIZE=4`. A name that begins so and is none is refused: it would do nothing. */
export function layerOfEnvironment(env: Readonly<Record<string, string | undefined>>): Layer {
  const byVariable = new Map(
    [...settingsCatalogue().values()].map((setting) => [toVariable(setting.name), setting]),
  );
  const layer = new Map<string, { value: unknown; origin: string }>();
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith("INTERLACE_") || text === undefined) continue;
    if (OTHER_VARIABLES.has(variable)) continue;
    const setting = byVariable.get(variable);
    if (setting === undefined) throw unknownName(variable, "the environment", byVariable.keys());
    layer.set(setting.name, { value: readText(setting.schema, text), origin: variable });
  }
  return layer;
}

/** `given`: dotted name → text of a flag. */
export function layerOfFlags(
  given: Iterable<readonly [name: string, flag: string, text: string]>,
): Layer {
  const layer = new Map<string, { value: unknown; origin: string }>();
  for (const [name, flag, text] of given) {
    layer.set(name, { value: readText(settingNamed(name).schema, text), origin: flag });
  }
  return layer;
}

export function settingNamed(name: string): Setting {
  const setting = settingsCatalogue().get(name);
  if (setting === undefined) throw new Error(`No setting is called ${name}`);
  return setting;
}

/** Text as the schema's type would be written; what cannot be read stays text, for the schema to refuse. */
function readText(schema: JsonSchema, text: string): unknown {
  if (schema.anyOf !== undefined) {
    for (const choice of schema.anyOf) {
      const value = readText(choice, text);
      if (typeof value !== "string") return value;
    }
    return text;
  }
  switch (schema.type ?? "any") {
    case "integer":
    case "number":
      return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
    case "boolean":
      return text === "true" ? true : text === "false" ? false : text;
    case "null":
      return text === "null" || text === "off" ? null : text;
    case "array":
    case "object":
      try {
        return JSON.parse(text) as unknown;
      } catch {
        return schema.type === "array" ? text.split(",").map((part) => part.trim()) : text;
      }
    default:
      return text;
  }
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unknownName(name: string, where: string, names: Iterable<string>): Error {
  const known = [...names];
  const snake = known.includes(toSnake(name)) ? toSnake(name) : nearestName(name, known);
  const hint =
    snake === null ? "interlace rollout --print-config lists all" : `the nearest is ${snake}`;
  return wrongUse(`Unknown setting ${name} in ${where}: ${hint}`);
}
