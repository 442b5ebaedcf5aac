/** `--print-config`: each setting, its value and where it came from; the left part is TOML that can be kept. */
import { valuesOf } from "./catalogue.ts";
import type { ResolvedConfig } from "./resolve.ts";
import { mayShow, NOT_SHOWN } from "./showing.ts";

export type PrintedSetting = { readonly value: unknown; readonly origin: string };

/** By dotted name, in the schema's order. */
export function listSettings({ config, origins }: ResolvedConfig): Map<string, PrintedSetting> {
  const settings = new Map<string, PrintedSetting>();
  for (const [name, value] of Object.entries(valuesOf(config))) {
    const shown = mayShow(name, value) ? value : NOT_SHOWN;
    settings.set(name, { value: shown, origin: origins.get(name) ?? "default" });
  }
  return settings;
}

/** What `--print-config` prints: TOML, or one JSON object. */
export function showSettings(resolved: ResolvedConfig, isJson: boolean): string {
  return isJson
    ? JSON.stringify(Object.fromEntries(listSettings(resolved)))
    : printConfig(resolved);
}

export function printConfig(resolved: ResolvedConfig): string {
  const lines: string[] = [];
  let section = "";
  const settings = listSettings(resolved);
  const written = [...settings].map(([name, { value }]) => assignment(name, value));
  const width = Math.min(60, Math.max(...written.map((text) => text.length)));
  for (const [i, [name, { origin }]] of [...settings].entries()) {
    const head = name.split(".")[0] as string;
    if (head !== section) {
      lines.push(...(section === "" ? [] : [""]), `[${head}]`);
      section = head;
    }
    lines.push(`${(written[i] as string).padEnd(width)}  # ${origin}`);
  }
  return lines.join("\n");
}

/** TOML has no null: a setting that is off is written as a comment, and so is what is not shown. */
function assignment(name: string, value: unknown): string {
  const key = name.split(".").slice(1).join(".");
  if (value === NOT_SHOWN) return `# ${key} is set ${NOT_SHOWN}`;
  return value === null || value === undefined ? `# ${key} is off` : `${key} = ${toToml(value)}`;
}

function toToml(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(toToml).join(", ")}]`;
  const entries = Object.entries(value).map(
    ([key, each]) => `${JSON.stringify(key)} = ${toToml(each)}`,
  );
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}
