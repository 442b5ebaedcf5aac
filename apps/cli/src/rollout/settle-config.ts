/**
 * In: flags, environment, file, and the record of a run that goes on. Out: the configuration to run with.
 * A resumed run keeps its configuration; only what decides how long, how fast or where may change.
 */
import { settingsCatalogue } from "../config/catalogue.ts";
import { readConfigFile } from "../config/config-file.ts";
import { hasNoEffect } from "../config/config-hash.ts";
import { layerOfEnvironment, layerOfFlags, type Layer } from "../config/layers.ts";
import {
  mergeLayers,
  resolveConfig,
  type ConfigSources,
  type ResolvedConfig,
} from "../config/resolve.ts";
import { showValue } from "../config/showing.ts";
import type { RunRecord } from "../run-folder/run-record.ts";
import { wrongUse } from "../person-error.ts";

export async function settleConfig(
  sources: ConfigSources,
  record: RunRecord | null,
): Promise<ResolvedConfig> {
  if (record === null) return resolveConfig(sources);
  const unknown = Object.keys(record.config).find((name) => !settingsCatalogue().has(name));
  if (unknown !== undefined) {
    throw wrongUse(
      `run.json of ${record.run_id} holds a setting ${JSON.stringify(unknown)} that this version does not have: ` +
        `restore the file, or use the Interlace that wrote it (${record.versions["interlace"] ?? "not told"})`,
    );
  }
  const recorded: Layer = new Map(
    Object.entries(record.config).map(([name, value]) => [
      name,
      { value, origin: record.origins[name] ?? "default" },
    ]),
  );
  const given: Layer = new Map([
    ...(sources.file === undefined ? [] : await readConfigFile(sources.file)),
    ...layerOfEnvironment(sources.env),
    ...layerOfFlags(sources.flags),
  ]);
  for (const [name, { value, origin }] of given) {
    if (hasNoEffect(name) || Bun.deepEquals(value, record.config[name])) continue;
    throw wrongUse(
      `${name} is ${showValue(name, record.config[name])} in run ${record.run_id}, ${origin} says ${showValue(name, value)}: ` +
        "a resumed run keeps its configuration; leave it out, or start a new run",
    );
  }
  const preset = record.preset as ResolvedConfig["preset"];
  return { preset, ...mergeLayers([recorded, given]) };
}
