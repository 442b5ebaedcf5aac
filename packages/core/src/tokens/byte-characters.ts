/**
 * The alphabet of byte-level vocabularies: each byte is written as one visible character, printable
 * Latin-1 as itself, the others as U+0100 and up in order.
 */

/** The character of each byte, [256]. */
export const BYTE_CHARACTERS: readonly string[] = (() => {
  const characters: string[] = [];
  let shifted = 0x100;
  for (let byte = 0; byte < 256; byte++) {
    const isItself =
      (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
    characters.push(String.fromCharCode(isItself ? byte : shifted++));
  }
  return characters;
})();

/** The byte that a character's code stands for, [0x144]; -1 = it stands for none. */
export const BYTE_OF_CODE: Int16Array = (() => {
  const bytes = new Int16Array(0x144).fill(-1);
  for (const [byte, character] of BYTE_CHARACTERS.entries()) bytes[character.charCodeAt(0)] = byte;
  return bytes;
})();
