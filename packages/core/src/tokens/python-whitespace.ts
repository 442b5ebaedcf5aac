/**
 * White space as Python's `str.isspace` has it: the reference system strips and parses with it.
 * Unlike JavaScript's it holds U+001C–U+001F and U+0085, and not U+FEFF. All functions are linear.
 */

/** `code` is a UTF-16 code unit; every white space character of Python lies in the basic plane. */
export function isPythonSpace(code: number): boolean {
  if (code < 0x80) return (code >= 0x09 && code <= 0x0d) || (code >= 0x1c && code <= 0x20);
  return (
    code === 0x85 ||
    code === 0xa0 ||
    code === 0x1680 ||
    (code >= 0x2000 && code <= 0x200a) ||
    code === 0x2028 ||
    code === 0x2029 ||
    code === 0x202f ||
    code === 0x205f ||
    code === 0x3000
  );
}

/** First index at or after `from` that holds no white space; the length when all is white space. */
export function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && isPythonSpace(text.charCodeAt(at))) at++;
  return at;
}

/** Python's `str.lstrip()`. */
export function lstrip(text: string): string {
  const start = skipSpace(text, 0);
  return start === 0 ? text : text.slice(start);
}

/** Python's `str.rstrip()`. */
export function rstrip(text: string): string {
  let end = text.length;
  while (end > 0 && isPythonSpace(text.charCodeAt(end - 1))) end--;
  return end === text.length ? text : text.slice(0, end);
}

/** Python's `str.strip()`. */
export function strip(text: string): string {
  return rstrip(lstrip(text));
}
