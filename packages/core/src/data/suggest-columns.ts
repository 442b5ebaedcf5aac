/**
 * In: a record of no known layout, or column paths. Out: what a person writes to name the columns.
 * Refuses to know: whether a guess is right. It is only ever shown, never used.
 */
import { readColumn } from "./column-path.ts";
import type { ColumnMap } from "./layouts.ts";

/** Likely names, the likeliest first; whatever their case. */
const QUESTIONS = "question problem prompt query instruction messages input text q".split(" ");
const ANSWERS = (
  "answer ground_truth final_answer expected_answer reward_model.ground_truth " +
  "target gold label solution output response a"
).split(" ");

/** `COLUMN` stands where no name is likely. */
export function suggestColumns(record: Readonly<Record<string, unknown>>): string {
  const flag = formatColumns(
    likelyColumn(record, QUESTIONS) ?? "COLUMN",
    likelyColumn(record, ANSWERS) ?? "COLUMN",
  );
  if (!flag.startsWith("--columns")) return flag;
  return `${flag} ([data.columns] in a TOML file for names with commas)`;
}

function likelyColumn(
  record: Readonly<Record<string, unknown>>,
  wanted: readonly string[],
): string | null {
  const own = Object.keys(record);
  for (const name of wanted) {
    const nested = name.includes(".") && readColumn(record, name) !== undefined ? name : undefined;
    const found = own.find((each) => each.toLowerCase() === name) ?? nested;
    if (found !== undefined) return found;
  }
  return null;
}

/**
 * `--columns question=prompt,answer=target`. The flag is split at commas, so names that hold one go into TOML.
 * Quoted where a shell would read more into it. `answerForm` is named when it is not plain.
 */
export function formatColumns(
  question: string,
  answer: string,
  answerForm: ColumnMap["answerForm"] = "plain",
): string {
  const isPlainForm = answerForm === "plain";
  if (question.includes(",") || answer.includes(",")) {
    const form = isPlainForm ? "" : ` and answer_form = "${answerForm}"`;
    return (
      `question = ${JSON.stringify(question)} and answer = ${JSON.stringify(answer)}${form} ` +
      `under [data.columns] in a TOML file`
    );
  }
  const form = isPlainForm ? "" : `,answer_form=${answerForm}`;
  const columns = `question=${question},answer=${answer}${form}`;
  const needsQuotes = !/^[\w.,=/-]+$/.test(columns);
  return `--columns ${needsQuotes ? `'${columns.replaceAll("'", String.raw`'\''`)}'` : columns}`;
}
