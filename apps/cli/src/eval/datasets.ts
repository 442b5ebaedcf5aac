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

type Dataset = { readonly rows: number; readonly files: readonly string[] };

/** Rows as published – of GSM8K the test split –, and what files of them are called. */
const DATASETS: Readonly<Record<DatasetName, Dataset>> = {
  aime24: { rows: 30, files: ["aime24", "aime2024", "aime_2024"] },
  aime25: { rows: 30, files: ["aime25", "aime2025", "aime_2025"] },
  math500: { rows: 500, files: ["math500", "math-500", "math_500"] },
  gsm8k: { rows: 1319, files: ["gsm8k", "gsm8k-test", "gsm8k_test"] },
};

/** Where files are looked for when nothing names a place. */
const DEFAULT_FOLDER = "data";

/** `place`: a file, a folder that holds one of its names, or null. */
export function findDataset(name: DatasetName, place: string | null): string {
  if (place !== null && existsSync(place) && !statSync(place).isDirectory()) return place;
  const folder = place ?? DEFAULT_FOLDER;
  const names = DATASETS[name].files.flatMap((stem) => FILE_ENDINGS.map((end) => `${stem}${end}`));
  const found = names.map((file) => join(folder, file)).find((file) => existsSync(file));
  if (found !== undefined) return found;
  throw wrongUse(
    `${name} is not at hand: expected ${join(folder, name)} with one of ${FILE_ENDINGS.join(", ")}; ` +
      "save the data set there, or name its file or folder with --data",
  );
}

export function checkRows(name: DatasetName, path: string, rows: number): void {
  const { rows: published } = DATASETS[name];
  if (rows === published) return;
  throw wrongUse(
    `${path} holds ${rows} problems, ${name} has ${published}: ` +
      "it is another split or not complete; leave --dataset out to evaluate the file as it is",
  );
}
