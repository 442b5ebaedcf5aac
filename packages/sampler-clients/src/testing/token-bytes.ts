/** Bytes of one entry of a byte-level vocabulary: servers list them beside each token. */
const PRINTABLE: readonly (readonly [number, number])[] = [
  [0x21, 0x7e],
  [0xa1, 0xac],
  [0xae, 0xff],
];

/** Character → byte, as GPT-2 writes bytes: printable ones as themselves, the others from U+0100 on, in order. */
const BYTE_OF = new Map<string, number>();
let next = 0x100;
for (let byte = 0; byte < 256; byte++) {
  const isPlain = PRINTABLE.some(([from, to]) => byte >= from && byte <= to);
  BYTE_OF.set(String.fromCodePoint(isPlain ? byte : next++), byte);
}

/** An added token's text is written as it is. */
export function tokenBytes(entry: string | null): readonly number[] {
  if (entry === null) return [];
  const bytes = Array.from(entry, (character) => BYTE_OF.get(character));
  const isWhole = bytes.every((byte) => byte !== undefined);
  return isWhole ? bytes : [...new TextEncoder().encode(entry)];
}

/** Does the text that these bytes begin end inside a character? */
export function endsInside(bytes: readonly number[]): boolean {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes.at(-back)!;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2);
    if (byte < 0x80) return false;
  }
  return false;
}

export function isUtf8(bytes: readonly number[]): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(bytes));
    return true;
  } catch {
    return false;
  }
}
