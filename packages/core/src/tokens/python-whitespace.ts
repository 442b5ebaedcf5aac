/**
 * White space as Python's `str.isspace` has it: also U+001C–U+001F and U+0085, not U+FEFF, not U+200B.
 * The one place that decides it.
 */
const SPACES = new Set<number>([
  0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x85, 0xa0, 0x1680, 0x2000, 0x2001,
  0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a, 0x2028, 0x2029, 0x202f,
  0x205f, 0x3000,
]);

/** Is this UTF-16 code unit white space? (All of Python's white space lies in the first plane.) */
export function isSpace(codeUnit: number): boolean {
  return SPACES.has(codeUnit);
}

/** Python's `str.lstrip()`. */
export function stripStart(text: string): string {
  let start = 0;
  while (start < text.length && isSpace(text.charCodeAt(start))) start++;
  return text.slice(start);
}

/** Python's `str.rstrip()`. */
export function stripEnd(text: string): string {
  let end = text.length;
  while (end > 0 && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(0, end);
}

/** Python's `str.strip()`. */
export function strip(text: string): string {
  return stripEnd(stripStart(text));
}
