/** In: a TOML file. Out: its settings. Refuses unknown names, with the nearest known one. */
import { messageOf, wrongUse, type PersonError } from "../person-error.ts";
import { layerOfTable, type Layer } from "./layers.ts";

export async function readConfigFile(file: string): Promise<Layer> {
  const { parse, TomlError } = await import("smol-toml");
  let text: string;
  try {
    text = await Bun.file(file).text();
  } catch (error) {
    throw wrongUse(`Cannot read the configuration file ${file}: ${messageOf(error)}`, error);
  }
  let table: Record<string, unknown>;
  try {
    table = parse(text);
  } catch (error) {
    throw error instanceof TomlError ? describeTomlError(file, error) : error;
  }
  return layerOfTable(table, file);
}

/** Place and reason only, also as its cause: the parser quotes the lines around, and a key may be in them. */
function describeTomlError(
  file: string,
  { message, line, column }: { message: string; line: number; column: number },
): PersonError {
  const [reason = ""] = message.replace("Invalid TOML document: ", "").split("\n");
  const hint = reason === "invalid value" ? "; a text must be in quotes" : "";
  return wrongUse(`${file} is not valid TOML: line ${line}, column ${column}: ${reason}${hint}`);
}
