/** In: column names. Out: what a person writes to name them. Refuses to know: what the columns hold. */

/**
 * `--columns question=prompt,answer=target`. The flag is split at commas, so names that hold one go into TOML.
 * Quoted where a shell would read more into it.
 */
export function formatColumns(question: string, answer: string): string {
  if (question.includes(",") || answer.includes(",")) {
    return (
      `question = ${JSON.stringify(question)} and answer = ${JSON.stringify(answer)} ` +
      `under [data.columns] in a TOML file`
    );
  }
  const columns = `question=${question},answer=${answer}`;
  const isPlain = /^[\w.,=/-]+$/.test(columns);
  return `--columns ${isPlain ? columns : `'${columns.replaceAll("'", String.raw`'\''`)}'`}`;
}
