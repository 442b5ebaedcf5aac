/**
 * A fake asserts what it was sent: no field that the real server does not know, none missing whose default would
 * decide what is sampled. In: a body. Out: complaints, one sentence each.
 */
export type Fields = {
  /** Dotted path of the object, for the sentence. */
  readonly where: string;
  readonly required: readonly string[];
  readonly known: readonly string[];
};

export function checkFields(body: object, { where, required, known }: Fields): readonly string[] {
  const seen = Object.keys(body);
  return [
    ...seen
      .filter((name) => !required.includes(name) && !known.includes(name))
      .map((name) => `Expected only fields that the server knows in ${where}, seen \`${name}\``),
    ...required
      .filter((name) => !seen.includes(name))
      .map((name) => `Expected \`${name}\` in ${where}, seen none: a default would decide`),
  ];
}

/** Values that a fake does not act on must be neutral: else it would lie about what it sampled. */
export function checkNeutral(
  body: Readonly<Record<string, unknown>>,
  where: string,
  neutral: Readonly<Record<string, readonly unknown[]>>,
): readonly string[] {
  return Object.entries(neutral)
    .filter(([name, values]) => {
      const value = body[name];
      const written = JSON.stringify(value);
      return value !== undefined && !values.some((allowed) => JSON.stringify(allowed) === written);
    })
    .map(([name, values]) => {
      const seen = JSON.stringify(body[name]);
      return `Expected ${where}.${name} to be ${values.map((v) => JSON.stringify(v)).join(" or ")}, seen ${seen}: this fake does not act on it`;
    });
}
