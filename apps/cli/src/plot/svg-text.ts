/** Text in a picture. In: text. Out: how wide it is at most, what XML may hold of it, and a shorter form. */

/** Widths in em of DejaVu Sans, the widest of the fonts that a plot asks for. */
const NARROW = /[ijlI.,:;|!'()[\] ]/;
const WIDE = /[mwMW@%]/;

/** Points; never less than what DejaVu Sans takes for Latin text. */
export function textWidth(text: string, size: number): number {
  let em = 0;
  for (const character of text) {
    if (NARROW.test(character)) em += 0.4;
    else if (WIDE.test(character)) em += 1;
    else if (/[A-Z]/.test(character)) em += 0.77;
    else em += character.charCodeAt(0) > 0x2000 ? 1 : 0.64;
  }
  return em * size;
}

/** Characters that XML cannot hold at all go. */
export function escapeXml(text: string): string {
  return [...text]
    .filter(
      (character) => /[\t\n\u0020-\uD7FF\uE000-\uFFFD]/.test(character) || character.length > 1,
    )
    .join("")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** The beginning and the end stay: names of checkpoints differ there. */
export function shorten(text: string, length: number): string {
  const characters = [...text];
  if (characters.length <= length) return text;
  const half = Math.floor((length - 1) / 2);
  return `${characters.slice(0, half).join("")}…${characters.slice(-half).join("")}`;
}
