/**
 * Can foreign text become a control token? In: a protocol and its tokenizer. Every added token's text is put into a
 * question and into an observation. Out: which of them came out as the token itself.
 */
import type { Protocol, Tokenizer } from "@interlace/core";

export type Leaks = {
  /** Texts of added tokens that were tried. */
  readonly tried: number;
  /** Of these, how many an encoder that trusts all text would have turned into the token. */
  readonly naive: number;
  /** Special tokens that foreign text can make: there must be none. */
  readonly special: readonly string[];
  /** Plain words that the tokenizer adds (runs of blanks, markup): harmless. */
  readonly words: number;
};

export function findLeaks(protocol: Protocol, tokenizer: Tokenizer, completion: Int32Array): Leaks {
  const added = new Map(tokenizer.addedTokens.map((token) => [token.id, token]));
  const countIn = (ids: Int32Array): Map<number, number> => {
    const counts = new Map<number, number>();
    for (const id of ids) if (added.has(id)) counts.set(id, (counts.get(id) ?? 0) + 1);
    return counts;
  };
  const question = countIn(protocol.firstPrompt("a b"));
  const observation = countIn(protocol.joinObservation(completion, "a b", 0));
  const special = new Set<string>();
  let naive = 0;
  let words = 0;
  for (const { id, content, isSpecial } of tokenizer.addedTokens) {
    const text = `a ${content} b`;
    if (tokenizer.encode(text).includes(id)) naive += 1;
    const leaks =
      grew(question, countIn(protocol.firstPrompt(text)), id) ||
      grew(observation, countIn(protocol.joinObservation(completion, text, 0)), id);
    if (!leaks) continue;
    if (isSpecial) special.add(content);
    else words += 1;
  }
  return { tried: tokenizer.addedTokens.length, naive, special: [...special], words };
}

function grew(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>, id: number) {
  return (after.get(id) ?? 0) > (before.get(id) ?? 0);
}
