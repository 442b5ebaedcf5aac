/**
 * In: flags, environment, file. Out: the validated configuration and where each value came from.
 * Precedence: flag > environment > file > preset > default. Knows no command.
 */
import { wrongUse } from "../person-error.ts";
import { describeAllowed, settingsCatalogue } from "./catalogue.ts";
import { readConfigFile } from "./config-file.ts";
import { layerOfEnvironment, layerOfFlags, settingNamed, type Layer } from "./layers.ts";
import { toDotted } from "./names.ts";
import { nearestName } from "./nearest-name.ts";
import { layerOfPreset, PRESET_NAMES, type PresetName } from "./presets.ts";
import { configSchema, type Config } from "./schema.ts";
import { showValue } from "./showing.ts";

export type ConfigSources = {
  /** Setting, how its flag is called, what was written. */
  readonly flags: Iterable<readonly [name: string, flag: string, text: string]>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `--config`; undefined = none. */
  readonly file: string | undefined;
  /** `--preset`; undefined = `embedded`, where nothing else names a sampler. */
  readonly preset: string | undefined;
};

export type ResolvedConfig = {
  readonly config: Config;
  readonly preset: PresetName | null;
  /** By dotted name: what set it. What is not in here has its default. */
  readonly origins: ReadonlyMap<string, string>;
};

/** Throws a PersonError that names the setting, the value, where it was written and what is allowed. */
export async function resolveConfig(sources: ConfigSources): Promise<ResolvedConfig> {
  const file: Layer = sources.file === undefined ? new Map() : await readConfigFile(sources.file);
  const environment = layerOfEnvironment(sources.env);
  const flags = layerOfFlags(sources.flags);
  const named = [flags, environment, file];
  const preset = choosePreset(sources.preset, named);
  const base: Layer = preset === null ? new Map() : layerOfPreset(preset);
  return { preset, ...mergeLayers([base, file, environment, flags]) };
}

type Table = Record<string, unknown>;

/** Later layers win. */
export function mergeLayers(layers: readonly Layer[]): {
  readonly config: Config;
  readonly origins: ReadonlyMap<string, string>;
} {
  const merged = new Map(layers.flatMap((layer) => [...layer]));
  const input: Table = {};
  // Every section must be there, so that it can fill its own defaults in.
  for (const { path } of settingsCatalogue().values()) tableAt(input, path);
  for (const [name, { value }] of merged) {
    const { path } = settingNamed(name);
    tableAt(input, path)[path.at(-1) as string] = value;
  }
  const parsed = configSchema.safeParse(input);
  if (!parsed.success) {
    const lines = parsed.error.issues.map(({ path, message }) =>
      describeIssue(path.map(String), message, merged),
    );
    throw wrongUse([...new Set(lines)].join("\n"));
  }
  const origins = new Map([...merged].map(([name, { origin }]) => [name, origin]));
  return { config: parsed.data, origins };
}

/** The table that holds the last part of `path`. */
function tableAt(root: Table, path: readonly string[]): Table {
  return path.slice(0, -1).reduce<Table>((table, part) => {
    table[part] ??= {};
    return table[part] as Table;
  }, root);
}

function describeIssue(path: readonly string[], message: string, merged: Layer): string {
  const depth = path.findIndex((_, i) => settingsCatalogue().has(toDotted(path.slice(0, i + 1))));
  const name = toDotted(path.slice(0, depth + 1));
  const setting = settingsCatalogue().get(name);
  const given = merged.get(name);
  if (setting === undefined || given === undefined) return `${toDotted(path)}: ${message}`;
  const rest = path.slice(depth + 1);
  const inside = rest.length === 0 ? "" : ` (at ${rest.join(".")}: ${message})`;
  return (
    `${name} (${setting.description}) is ${showValue(name, given.value)}, from ${given.origin}: ` +
    `expected ${describeAllowed(setting.schema)}${inside}`
  );
}

function choosePreset(written: string | undefined, named: readonly Layer[]): PresetName | null {
  if (written === undefined) {
    const kind = named.map((layer) => layer.get("sampler.kind")).find((each) => each !== undefined);
    return kind === undefined || kind.value === "embedded" ? "embedded" : null;
  }
  const preset = PRESET_NAMES.find((name) => name === written);
  if (preset !== undefined) return preset;
  const near = nearestName(written, PRESET_NAMES);
  const hint = near === null ? "" : `; the nearest is ${near}`;
  throw wrongUse(`Unknown preset ${written}: expected one of ${PRESET_NAMES.join(", ")}${hint}`);
}
