/** Shapes of flags that several commands have. Text is handed on: the settings' schema judges it, wherever it comes from. */

/** A text that may be left out. */
export function textFlag(brief: string, placeholder: string) {
  return { kind: "parsed", parse: String, optional: true, brief, placeholder } as const;
}

/** A text with a value of its own where the flag is left out. */
export function textFlagOr(fallback: string, brief: string, placeholder: string) {
  return { kind: "parsed", parse: String, default: fallback, brief, placeholder } as const;
}

/** On where it is named; it has no `--no-` form. */
export function switchFlag(brief: string) {
  return { kind: "boolean", optional: true, withNegated: false, brief } as const;
}

export const COLUMNS_FLAG = {
  kind: "parsed",
  parse: String,
  optional: true,
  variadic: ",",
  brief: "Columns of the file, as question=problem,answer=solution",
  placeholder: "FIELD=COLUMN",
} as const;

/** Where the commands that read a finished run look for its id. */
export const RUNS_FLAG = textFlagOr("runs", "Folder of the run folders", "DIR");

export const PRINT_CONFIG_FLAG = switchFlag("Print every setting and where it came from, and stop");
