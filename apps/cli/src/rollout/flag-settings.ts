/** In: the flags of `rollout`. Out: the settings that they stand for, as text, and how each flag is called. */
import { FLAG_SETTINGS, type RolloutFlags } from "../commands/rollout.ts";
import { parseColumnFlags } from "../data-files/column-flags.ts";

type FlagSetting = readonly [name: string, flag: string, text: string];

export function settingsOfFlags(flags: RolloutFlags): readonly FlagSetting[] {
  const settings: FlagSetting[] = [];
  for (const [flag, name] of Object.entries(FLAG_SETTINGS)) {
    const text = flags[flag as keyof typeof FLAG_SETTINGS];
    if (text !== undefined) settings.push([name, `--${toKebab(flag)}`, text]);
  }
  for (const [field, column] of parseColumnFlags(flags.columns ?? [])) {
    settings.push([`data.columns.${field}`, "--columns", column]);
  }
  return settings;
}

function toKebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
