/**
 * Finds added tokens in text. Control tokens count in trusted text only, so that nothing a question
 * or an observation holds can become one; ordinary ones (Gemma lists its white space and HTML tags
 * as added tokens) are plain vocabulary and count everywhere.
 */
export type AddedToken = {
  readonly id: number;
  readonly content: string;
  /** Left out when a turn is decoded. */
  readonly isSpecial: boolean;
  /** Plain vocabulary that happens to be listed as added. */
  readonly isOrdinary: boolean;
  /** Takes the white space before / after it along. */
  readonly lstrip: boolean;
  readonly rstrip: boolean;
  /** Counts only where no word character touches it. */
  readonly singleWord: boolean;
};

/** `[start, end)` of a text. */
export type Span = { readonly start: number; readonly end: number };

/** A text cut at added tokens: plain runs (never empty) and ids, in order. */
export type Cut =
  | { readonly kind: "token"; readonly token: AddedToken; readonly end: number }
  | { readonly kind: "run"; readonly text: string; readonly start: number };

export type AddedTokenMatcher = {
  /** Control tokens are recognised only within one of the `trusted` spans (sorted, not touching). */
  cut(text: string, trusted: readonly Span[]): readonly Cut[];
  /** True when plain text is one run: there are no ordinary added tokens to look for. */
  readonly plainIsWhole: boolean;
};

type Node = { next: Map<number, Node>; token: AddedToken | null };

export function createMatcher(tokens: readonly AddedToken[]): AddedTokenMatcher {
  const root: Node = { next: new Map(), token: null };
  for (const token of tokens) insert(root, token);
  const plainIsWhole = !tokens.some((token) => token.isOrdinary);

  /** The longest token that begins at `at`; a control token must end by `trustedEnd`. */
  const longestAt = (text: string, at: number, trustedEnd: number): AddedToken | null => {
    let found: AddedToken | null = null;
    let node = root.next.get(text.charCodeAt(at));
    for (let end = at + 1; node !== undefined; end++) {
      const token = node.token;
      const counts =
        token !== null &&
        (token.isOrdinary || end <= trustedEnd) &&
        !(token.singleWord && touchesWord(text, at, end));
      if (counts) found = token;
      node = end < text.length ? node.next.get(text.charCodeAt(end)) : undefined;
    }
    return found;
  };

  const cut = (text: string, trusted: readonly Span[]): readonly Cut[] => {
    const cuts: Cut[] = [];
    let runStart = 0;
    let span = 0;
    let at = 0;
    while (at < text.length) {
      while (span < trusted.length && (trusted[span] as Span).end <= at) span++;
      const current = trusted[span];
      const isTrusted = current !== undefined && current.start <= at;
      if (!isTrusted && plainIsWhole) {
        at = current?.start ?? text.length;
        continue;
      }
      const token = longestAt(text, at, isTrusted ? current.end : -1);
      if (token === null) {
        at++;
        continue;
      }
      pushRun(cuts, text, runStart, at);
      at += token.content.length;
      cuts.push({ kind: "token", token, end: at });
      runStart = at;
    }
    pushRun(cuts, text, runStart, text.length);
    return cuts.some(takesSpace) ? stripNeighbours(cuts) : cuts;
  };

  return { cut, plainIsWhole };
}

function insert(root: Node, token: AddedToken): void {
  let node = root;
  for (let i = 0; i < token.content.length; i++) {
    const code = token.content.charCodeAt(i);
    let next = node.next.get(code);
    if (next === undefined) {
      next = { next: new Map(), token: null };
      node.next.set(code, next);
    }
    node = next;
  }
  node.token = token;
}

function pushRun(cuts: Cut[], text: string, start: number, end: number): void {
  if (end > start) cuts.push({ kind: "run", text: text.slice(start, end), start });
}

function takesSpace(cut: Cut): boolean {
  return cut.kind === "token" && (cut.token.lstrip || cut.token.rstrip);
}

function stripNeighbours(cuts: readonly Cut[]): readonly Cut[] {
  const stripped: Cut[] = [];
  for (const [i, cut] of cuts.entries()) {
    if (cut.kind === "token") {
      stripped.push(cut);
      continue;
    }
    const before = cuts[i - 1];
    const after = cuts[i + 1];
    const text = stripRun(
      cut.text,
      before?.kind === "token" && before.token.rstrip,
      after?.kind === "token" && after.token.lstrip,
    );
    if (text !== "") stripped.push({ ...cut, text });
  }
  return stripped;
}

/** White space that the token before (`atStart`) or after (`atEnd`) takes along. */
export function stripRun(text: string, atStart: boolean, atEnd: boolean): string {
  let rest = text;
  if (atStart) rest = rest.replace(/^\p{White_Space}+/u, "");
  if (atEnd) {
    let end = rest.length;
    while (end > 0 && /\p{White_Space}/u.test(rest.charAt(end - 1))) end--;
    rest = rest.slice(0, end);
  }
  return rest;
}

const WORD = /[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}]/u;

function touchesWord(text: string, start: number, end: number): boolean {
  const before = start > 0 && WORD.test(text.charAt(start - 1));
  return before || (end < text.length && WORD.test(text.charAt(end)));
}
