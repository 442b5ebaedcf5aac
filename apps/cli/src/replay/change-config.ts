/** In: the recorded configuration, and what a replay shall change. Out: the new one, and the names of what differs. */
import { valuesOf } from "../config/catalogue.ts";
import { readConfigFile } from "../config/config-file.ts";
import { layerOfFlags, type Layer } from "../config/layers.ts";
import { mergeLayers } from "../config/resolve.ts";
import type { Config } from "../config/schema.ts";

export type ConfigChange = {
  readonly name: string;
  readonly before: unknown;
  readonly after: unknown;
};

export async function changeConfig(
  recorded: Config,
  flags: { readonly config?: string; readonly grader?: string },
): Promise<{ readonly config: Config; readonly changes: readonly ConfigChange[] }> {
  const before = valuesOf(recorded);
  const base: Layer = new Map(
    Object.entries(before)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, { value, origin: "the recorded run" }]),
  );
  const file: Layer = flags.config === undefined ? new Map() : await readConfigFile(flags.config);
  const named = layerOfFlags(
    flags.grader === undefined ? [] : [["grading.grader", "--grader", flags.grader]],
  );
  const { config } = mergeLayers([base, file, named]);
  const after = valuesOf(config);
  const changes = Object.keys(after)
    .filter((name) => !Bun.deepEquals(before[name], after[name]))
    .map((name) => ({ name, before: before[name], after: after[name] }));
  return { config, changes };
}
