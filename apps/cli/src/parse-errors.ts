/** What the parser of arguments says to a person: one line, names as they are written, the nearest one named. */
import {
  AliasNotFoundError,
  FlagNotFoundError,
  formatMessageForArgumentScannerError,
  ArgumentScannerError,
  text_en,
  UnexpectedFlagError,
  UnexpectedPositionalError,
  type ApplicationText,
} from "@stricli/core";
import type * as FlagHints from "./flag-hints.ts";
import { messageOf } from "./person-error.ts";

export const parserText: ApplicationText = {
  ...text_en,
  exceptionWhileParsingArguments: (error) => `interlace: ${describeParseError(error)}`,
  noCommandRegisteredForInput: ({ input, corrections }) =>
    `interlace: Unknown command ${input}${suggest(corrections)}; interlace --help lists all`,
};

function describeParseError(error: unknown): string {
  const command = process.argv[2] ?? "";
  if (error instanceof FlagNotFoundError) {
    return unknownFlag(command, `--${error.input.replace(/^-+/, "")}`, error.corrections);
  }
  if (error instanceof AliasNotFoundError) return unknownFlag(command, `-${error.input}`, []);
  if (error instanceof UnexpectedPositionalError) {
    // One letter behind two dashes is no flag to the parser.
    const [letter] = /^--?[a-z](?==|$)/i.exec(error.input) ?? [];
    if (letter !== undefined) return unknownFlag(command, letter, []);
    const hint = loadHints().hintForArgument(command, error.input);
    if (hint !== null) return `Unexpected argument ${JSON.stringify(error.input)}: ${hint}`;
  }
  // Its own words quote what was written, which may be a secret (--token-env).
  if (error instanceof UnexpectedFlagError) {
    return `--${kebab(error.externalFlagName)} is given twice: name it once`;
  }
  if (error instanceof ArgumentScannerError) return formatMessageForArgumentScannerError(error, {});
  return messageOf(error);
}

function unknownFlag(command: string, flag: string, corrections: readonly string[]): string {
  const hint = loadHints().hintForFlag(command, flag.replace(/^-+/, ""));
  if (hint !== null) return `Unknown flag ${flag}: ${hint}`;
  return `Unknown flag ${flag}${suggest(corrections.map((name) => `--${kebab(name)}`))}`;
}

/** The texts are asked for at once, so no `import()`; only who made a mistake waits for the settings. */
function loadHints(): typeof FlagHints {
  return require("./flag-hints.ts") as typeof FlagHints;
}

function suggest(names: readonly string[]): string {
  return names.length === 0 ? "" : `; the nearest is ${names.join(", ")}`;
}

function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
