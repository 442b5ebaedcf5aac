/**
 * Text of mixed trust to ids (rollout.md §5). Control tokens are recognised in trusted text only; each
 * plain run between two recognised tokens is encoded in one piece, across the borders of the
 * untrusted text. For harmless text this gives exactly the ids that the whole text has.
 */
import { stripRun, type AddedTokenMatcher, type Cut, type Span } from "./added-tokens.ts";
import type { PlainEncoder } from "./plain-encoder.ts";

export type TextPiece = { readonly trusted: boolean; readonly text: string };

/** Trusted text around one untrusted text, prepared once: encoding costs what the untrusted text costs. */
export type Splice = {
  /** Ids that do not depend on the text between: everything up to the last control token before it. */
  readonly head: Int32Array;
  /** Ids of before + text + after, without the first `skip` (at most `head.length`). */
  encode(text: string, skip: number): Int32Array;
};

export type TextEncoding = {
  /** No control token is recognised. `atStart`: nothing comes before, default true. */
  encodePlain(text: string, atStart?: boolean): Int32Array;
  countPlain(text: string): number;
  encodePieces(pieces: readonly TextPiece[], atStart?: boolean): Int32Array;
  splice(before: string, after: string, atStart: boolean): Splice;
};

export function createTextEncoding(plain: PlainEncoder, matcher: AddedTokenMatcher): TextEncoding {
  const appendPlain = (ids: number[], text: string, atStart: boolean): void => {
    if (text === "") return;
    if (matcher.plainIsWhole) plain.append(ids, text, atStart);
    else appendCuts(ids, matcher.cut(text, []), atStart);
  };
  const appendCuts = (ids: number[], cuts: readonly Cut[], atStart: boolean): void => {
    for (const cut of cuts) {
      if (cut.kind === "token") ids.push(cut.token.id);
      else plain.append(ids, cut.text, atStart && cut.start === 0);
    }
  };

  const encodePlain = (text: string, atStart = true): Int32Array => {
    const ids: number[] = [];
    appendPlain(ids, text, atStart);
    return Int32Array.from(ids);
  };

  const countPlain = (text: string): number =>
    matcher.plainIsWhole ? plain.count(text, true) : encodePlain(text).length;

  const encodePieces = (pieces: readonly TextPiece[], atStart = true): Int32Array => {
    const ids: number[] = [];
    const text = pieces.map((piece) => piece.text).join("");
    appendCuts(ids, matcher.cut(text, trustedSpans(pieces)), atStart);
    return Int32Array.from(ids);
  };

  const splice = (before: string, after: string, atStart: boolean): Splice => {
    const left = matcher.cut(before, [{ start: 0, end: before.length }]);
    const right = matcher.cut(after, [{ start: 0, end: after.length }]);
    const lastControl = left.findLastIndex(isControl);
    const firstControl = right.findIndex(isControl);
    const leftToken = left[lastControl];
    const rightToken = right[firstControl];
    const open = leftToken?.kind === "token" ? before.slice(leftToken.end) : before;
    const close =
      rightToken?.kind === "token"
        ? after.slice(0, rightToken.end - rightToken.token.content.length)
        : after;
    const stripsLeft = leftToken?.kind === "token" && leftToken.token.rstrip;
    const stripsRight = rightToken?.kind === "token" && rightToken.token.lstrip;

    const head: number[] = [];
    appendCuts(head, left.slice(0, lastControl + 1), atStart);
    const tail: number[] = [];
    if (firstControl >= 0) appendCuts(tail, right.slice(firstControl), false);
    const runAtStart = atStart && lastControl < 0;

    return {
      head: Int32Array.from(head),
      encode(text, skip) {
        const ids = head.slice(skip);
        appendPlain(ids, stripRun(open + text + close, stripsLeft, stripsRight), runAtStart);
        for (const id of tail) ids.push(id);
        return Int32Array.from(ids);
      },
    };
  };

  return { encodePlain, countPlain, encodePieces, splice };
}

function isControl(cut: Cut): boolean {
  return cut.kind === "token" && !cut.token.isOrdinary;
}

/** Trusted pieces that touch are one span: a token may begin in one and end in the next. */
function trustedSpans(pieces: readonly TextPiece[]): readonly Span[] {
  const spans: Span[] = [];
  let at = 0;
  for (const piece of pieces) {
    const end = at + piece.text.length;
    const last = spans.at(-1);
    if (piece.trusted && end > at) {
      if (last?.end === at) spans[spans.length - 1] = { start: last.start, end };
      else spans.push({ start: at, end });
    }
    at = end;
  }
  return spans;
}
