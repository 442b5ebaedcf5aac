/** In: a TOML file. Out: its settings. Refuses unknown names, with the nearest known one. */
import { messageOf, wrongUse } from "../person-error.ts";
import { layerOfTable, type Layer } from "./layers.ts";

export async function readConfigFile(file: string): Promise<Layer> {
  const { parse } = await import("smol-toml");
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
    throw wrongUse(`${file} is not valid TOML: ${messageOf(error)}`, error);
  }
  return layerOfTable(table, file);
}
