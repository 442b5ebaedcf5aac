/** In: the flags of `rollout`. Out: the settings that they stand for, as text, and how each flag is called. */
import { FLAG_SETTINGS, type RolloutFlags } from "../commands/rollout.ts";
import { parseColumnFlags } from "../data-files/column-flags.ts";

type FlagSetting = readonly [name: string, flag: string, text: string];

export function settingsOfFlags(flags: RolloutFlags): readonly FlagSetting[] {
  return flagSettings(flags, FLAG_SETTINGS);
}

/** `names`: which setting each flag stands for. */
export function flagSettings<F extends { readonly columns?: readonly string[] }>(
  flags: F,
  names: Readonly<Partial<Record<keyof F, string>>>,
): readonly FlagSetting[] {
  const settings: FlagSetting[] = [];
  for (const [flag, name] of Object.entries<string | undefined>(names)) {
    const text = flags[flag as keyof F];
    if (typeof text === "string" && name !== undefined) {
      settings.push([name, `--${toKebab(flag)}`, text]);
    }
  }
  for (const [field, column] of parseColumnFlags(flags.columns ?? [])) {
    settings.push([`data.columns.${field}`, "--columns", column]);
  }
  return settings;
}

function toKebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
