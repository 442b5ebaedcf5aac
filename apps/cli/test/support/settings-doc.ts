/** The generated half of `docs/configuration.md`; run as a program, this file writes it. */
import { join } from "node:path";
import { describeAllowed, settingsCatalogue, type Setting } from "../../src/config/catalogue.ts";
import { layerOfPreset, PRESET_NAMES, type PresetName } from "../../src/config/presets.ts";

export const SETTINGS_DOC = join(import.meta.dir, "../../../../docs/configuration.md");

/** What stands above it is written by hand. */
export const GENERATED_FROM = "## Presets\n";

const PURPOSES: Readonly<Record<PresetName, string>> = {
  embedded:
    "What no arguments mean, and what the policy in the box gets where no other preset is named: it reads 512 tokens and\nwas taught this system prompt.",
  "retool-small": "The described run. Needs a server.",
  "retool-paper": "The paper's scale. Needs a server.",
};

export function renderSettings(): string {
  const presets = PRESET_NAMES.flatMap((name) => [
    `### ${name}\n`,
    `${PURPOSES[name]}\n`,
    `${[...layerOfPreset(name)].map(([setting, { value }]) => `* \`${setting} = ${JSON.stringify(value)}\``).join("\n")}\n`,
  ]);
  const settings = [...settingsCatalogue().values()];
  const sections = Map.groupBy(settings, ({ name }) => name.split(".")[0] ?? "");
  const tables = [...sections].flatMap(([name, rows]) => [
    `### ${name}\n`,
    `| setting | default | allowed | |\n| --- | --- | --- | --- |\n${rows.map(row).join("\n")}\n`,
  ]);
  return [GENERATED_FROM, ...presets, "## All settings\n", ...tables].join("\n");
}

function row({ name, fallback, schema, description }: Setting): string {
  const shown = fallback === undefined ? "–" : `\`${JSON.stringify(fallback)}\``;
  return `| \`${name}\` | ${shown} | ${describeAllowed(schema)} | ${description} |`;
}

if (import.meta.main) {
  const text = await Bun.file(SETTINGS_DOC).text();
  const byHand = text.slice(0, text.indexOf(GENERATED_FROM));
  await Bun.write(SETTINGS_DOC, byHand + renderSettings());
}
