/** What the parser of arguments says to a person: one line, names as they are written, the nearest one named. */
import {
  FlagNotFoundError,
  formatMessageForArgumentScannerError,
  ArgumentScannerError,
  text_en,
  type ApplicationText,
} from "@stricli/core";
import { messageOf } from "./person-error.ts";

export const parserText: ApplicationText = {
  ...text_en,
  exceptionWhileParsingArguments: (error) => `interlace: ${describeParseError(error)}`,
  noCommandRegisteredForInput: ({ input, corrections }) =>
    `interlace: Unknown command ${input}${suggest(corrections)}; interlace --help lists all`,
};

function describeParseError(error: unknown): string {
  if (error instanceof FlagNotFoundError) {
    const near = error.corrections.map((name) => `--${kebab(name)}`);
    return `Unknown flag --${error.input.replace(/^-+/, "")}${suggest(near)}`;
  }
  if (error instanceof ArgumentScannerError) return formatMessageForArgumentScannerError(error, {});
  return messageOf(error);
}

function suggest(names: readonly string[]): string {
  return names.length === 0 ? "" : `; the nearest is ${names.join(", ")}`;
}

function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
