/**
 * Data sets by name. In: a name and where files lie. Out: the file. Downloads nothing: what is not at hand is said.
 * A file with another number of rows is another data set, whatever it is called.
 */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { FILE_ENDINGS } from "../data-files/read-records.ts";
import { wrongUse } from "../person-error.ts";

export const DATASET_NAMES = ["aime24", "aime25", "math500", "gsm8k"] as const;
export type DatasetName = (typeof DATASET_NAMES)[number];

/** Rows as published; of GSM8K the test split. */
const ROWS: Readonly<Record<DatasetName, number>> = {
  aime24: 30,
  aime25: 30,
  math500: 500,
  gsm8k: 1319,
};

/** Where files are looked for when nothing names a place. */
const DEFAULT_FOLDER = "data";

/** `place`: a file, a folder that holds `NAME.jsonl` or another ending, or null. */
export function findDataset(name: DatasetName, place: string | null): string {
  if (place !== null && existsSync(place) && !statSync(place).isDirectory()) return place;
  const folder = place ?? DEFAULT_FOLDER;
  const found = FILE_ENDINGS.map((ending) => join(folder, `${name}${ending}`)).find(existsSync);
  if (found !== undefined) return found;
  throw wrongUse(
    `${name} is not at hand: expected ${join(folder, name)}${FILE_ENDINGS.join("|")}; ` +
      "save the data set there, or name its file or folder with --data",
  );
}

export function checkRows(name: DatasetName, path: string, rows: number): void {
  if (rows === ROWS[name]) return;
  throw wrongUse(
    `${path} holds ${rows} problems, ${name} has ${ROWS[name]}: ` +
      "it is another split or not complete; leave --dataset out to evaluate the file as it is",
  );
}
