/**
 * What a person may have meant by a flag or a file that the parser does not know. In: the command and what was
 * written. Out: the flag or the setting that does it, or null. Loaded only after a mistake.
 */
import { existsSync } from "node:fs";
import { extname, join } from "node:path";
import { DOCTOR_FLAG_SETTINGS } from "./commands/doctor.ts";
import { EVAL_FLAG_SETTINGS } from "./commands/eval.ts";
import { FLAG_SETTINGS } from "./commands/rollout.ts";
import { TRAIN_FLAG_SETTINGS } from "./commands/train.ts";
import { settingsCatalogue } from "./config/catalogue.ts";
import { toSnake, toVariable } from "./config/names.ts";
import { FILE_ENDINGS } from "./data-files/read-records.ts";

/** By command: which flag stands for which setting. Others take no settings. */
const FLAGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  rollout: FLAG_SETTINGS,
  train: TRAIN_FLAG_SETTINGS,
  eval: EVAL_FLAG_SETTINGS,
  doctor: DOCTOR_FLAG_SETTINGS,
};

/** Words of other tools. The first setting that the command has a flag for, or the first of all, is named. */
export const OTHER_WORDS: Readonly<Record<string, readonly string[]>> = {
  api_key: ["sampler.api_key_env"],
  token: ["sampler.api_key_env"],
  max_tokens: ["rollout.max_assistant_tokens"],
  max_new_tokens: ["rollout.max_assistant_tokens"],
  max_completion_tokens: ["rollout.max_assistant_tokens"],
  max_length: ["rollout.max_trajectory_tokens"],
  max_seq_len: ["rollout.max_trajectory_tokens"],
  max_model_len: ["rollout.max_trajectory_tokens"],
  max_turns: ["rollout.max_assistant_turns"],
  max_tool_calls: ["rollout.max_code_calls"],
  n: ["eval.val_n", "rollout.group_size"],
  num_samples: ["eval.val_n", "rollout.group_size"],
  num_generations: ["eval.val_n", "rollout.group_size"],
  samples: ["eval.val_n", "rollout.group_size"],
  batch_size: ["data.questions_per_batch"],
  num_problems: ["eval.limit", "data.questions_per_batch"],
  dataset: ["data.path"],
  file: ["data.path"],
  input: ["data.path"],
  base_url: ["sampler.url"],
  api_base: ["sampler.url"],
  endpoint: ["sampler.url"],
  server: ["sampler.url"],
  provider: ["sampler.kind"],
  engine: ["sampler.kind"],
  model_name: ["sampler.model"],
  lr: ["train.learning_rate"],
  output: ["eval.out", "run.out"],
  output_dir: ["eval.out", "run.out"],
  concurrency: ["sampler.max_in_flight"],
  max_concurrency: ["sampler.max_in_flight"],
  timeout: ["sampler.sample_timeout_seconds", "sandbox.timeout_seconds"],
};

/** `flag`: without its dashes. */
export function hintForFlag(command: string, flag: string): string | null {
  const flags = FLAGS[command];
  if (flags === undefined) return null;
  const word = toSnake(flag).replaceAll("-", "_").toLowerCase();
  const settings = settingsCalled(command, word);
  const own = flagFor(flags, settings);
  if (own !== null) return `did you mean ${own}?`;
  if (settings.includes("sampler.api_key_env")) {
    return `a key is never an argument: export it, and name its variable: ${describePlace("sampler.api_key_env")}`;
  }
  if (settings.length > 0) {
    return settings.map((name) => `${name} is a setting: ${describePlace(name)}`).join("; or ");
  }
  for (const [other, theirs] of Object.entries(FLAGS)) {
    const found =
      theirs[toCamel(word)] === undefined
        ? flagFor(theirs, settingsCalled(other, word))
        : `--${flag}`;
    if (found !== null) return `interlace ${other} has ${found}`;
  }
  return null;
}

function flagFor(
  flags: Readonly<Record<string, string>>,
  settings: readonly string[],
): string | null {
  const own = Object.entries(flags).find(([, setting]) => settings.includes(setting));
  return own === undefined ? null : `--${toSnake(own[0]).replaceAll("_", "-")}`;
}

function toCamel(word: string): string {
  return word.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** `written`: an argument where none is expected. */
export function hintForArgument(command: string, written: string): string | null {
  if (FLAGS[command] === undefined) return null;
  const ending = extname(written).toLowerCase();
  if (/^https?:\/\//.test(written)) return `did you mean --url ${written}?`;
  if (ending === ".toml") return `did you mean --config ${written}?`;
  if (FILE_ENDINGS.includes(ending)) return `did you mean --data ${written}?`;
  const isResumable = command === "rollout" || command === "train";
  if (isResumable && existsSync(join(written, "run.json"))) {
    return `did you mean --resume ${written}?`;
  }
  return `interlace ${command} --help lists its flags`;
}

/** By its whole name, by its last part, or by a word of other tools. */
function settingsCalled(command: string, word: string): readonly string[] {
  const names = [...settingsCatalogue().keys()];
  const whole = names.filter((name) => name.replaceAll(".", "_") === word.replaceAll(".", "_"));
  if (whole.length > 0) return whole;
  const alike = names.filter((name) => name.endsWith(`.${word}`));
  const other = OTHER_WORDS[word] ?? [];
  const found = [...alike, ...other].filter((name) => isRead(command, name));
  // What a section of the command's own says is meant, and the judge last of all.
  const own = found.filter((name) => name.startsWith(`${command}.`));
  const usual = found.filter((name) => !name.startsWith("grading.judge."));
  return [own, usual, found].find((each) => each.length > 0) ?? [];
}

function isRead(command: string, name: string): boolean {
  const [section] = name.split(".");
  return section === "eval" || section === "train" ? section === command : true;
}

/** `"top_p = …" under [rollout] of a --config file, or INTERLACE_ROLLOUT_TOP_P`. */
function describePlace(name: string): string {
  const at = name.lastIndexOf(".");
  const line = `${name.slice(at + 1)} = …`;
  return `"${line}" under [${name.slice(0, at)}] of a --config file, or ${toVariable(name)}`;
}
