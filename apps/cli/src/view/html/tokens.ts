/** In: a run of tokens. Out: each as an element of its own that says position, id and logprob when it is pointed at. */
import type { DatumRow } from "@interlace/train-bridge";
import { learnedAt, type TokenRun } from "../token-runs.ts";
import { joinBytes, type Piece, type TokenTexts } from "../token-texts.ts";
import { classesOfRun, logprobClass } from "./colours.ts";
import { escapeText, shownText, toText, trusted, type Html } from "./markup.ts";

/** A character has four bytes at most; what has not become one by then never will. */
const MOST_PARTS = 4;

export function renderTokens(
  { kind, start, ids, logprobs }: TokenRun,
  datum: DatumRow["datum"] | null,
  { pieceOf }: TokenTexts,
): Html {
  let out = "";
  let open = "";
  let parts: (Uint8Array | null)[] = [];
  for (let i = 0; i < ids.length; i++) {
    const id = ids[i] as number;
    const classes = classesOfRun(kind, learnedAt(datum, start + i));
    if (classes !== open) {
      out += `${open === "" ? "" : "</span>"}<span class="${classes}">`;
      open = classes;
    }
    const piece = pieceOf(id);
    parts = piece.type === "bytes" ? [...parts.slice(1 - MOST_PARTS), piece.bytes] : [];
    const whole = parts.length === 0 ? null : joinLast(parts);
    if (whole !== null) parts = [];
    const logprob = logprobs?.[i];
    const look = [logprobClass(logprob), piece.type === "text" ? "" : piece.type]
      .filter((name) => name !== "")
      .join(" ");
    const name = look === "" ? "" : ` class="${look}"`;
    out += `<b${name} title="${escapeText(describe(start + i, id, logprob))}">${pieceMarkup(piece, id, whole)}</b>`;
  }
  return trusted(open === "" ? out : `${out}</span>`);
}

/** The character that these parts, or the last of them, complete. */
function joinLast(parts: readonly (Uint8Array | null)[]): string | null {
  for (let first = 0; first < parts.length; first++) {
    const text = joinBytes(parts.slice(first));
    if (text !== null) return text;
  }
  return null;
}

function describe(position: number, id: number, logprob: number | undefined): string {
  const place = `position ${position} · id ${id}`;
  if (logprob === undefined) return place;
  return `${place} · logprob ${logprob.toFixed(4)} · p ${Math.exp(logprob).toPrecision(3)}`;
}

function pieceMarkup(piece: Piece, id: number, whole: string | null): string {
  switch (piece.type) {
    case "text":
      return toText(shownText(piece.text)).replaceAll("\n", '<i class="line"></i>\n');
    case "added":
      return toText(shownText(piece.text));
    case "unnamed":
      return `id ${id}`;
    case "bytes": {
      const spelled = piece.bytes === null ? `id ${id}` : spellBytes(piece.bytes);
      return whole === null ? spelled : `${spelled}=${toText(shownText(whole))}`;
    }
  }
}

/** `E2 82`. */
function spellBytes(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).toUpperCase().padStart(2, "0")).join(" ");
}
