/** One sentence for all that can be wrong with a tokenizer. */
export function refuse(expected: string, seen: unknown): Error {
  const shown = seen === undefined ? "nothing" : JSON.stringify(seen);
  return new Error(
    `Tokenizer cannot be used: ${expected}, seen ${shown.length > 200 ? `${shown.slice(0, 200)}…` : shown}; ` +
      "use the tokenizer.json that belongs to the model",
  );
}
