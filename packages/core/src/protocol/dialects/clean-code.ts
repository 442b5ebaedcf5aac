/**
 * Program text as a model wrote it between two tags, made runnable: white space at the end and blank
 * lines at the beginning go, then the indent that all lines share. Nothing else is touched.
 */
import { isPythonSpace, rstrip, skipSpace } from "../../tokens/python-whitespace.ts";

/** Linear in the text. Empty when there is only white space. */
export function cleanCode(raw: string): string {
  const text = rstrip(raw);
  const firstStatement = skipSpace(text, 0);
  if (firstStatement === text.length) return "";
  const firstLine = lineStart(text, firstStatement);
  const lines = splitLines(text.slice(firstLine));

  let indent: string | null = null;
  for (const line of lines) {
    if (isBlank(line)) continue;
    indent = commonPrefix(indent ?? indentOf(line), line);
    if (indent === "") break;
  }
  const shared = indent ?? "";
  const dedented = lines.map((line) => line.slice(commonPrefix(shared, line).length)).join("");

  // On the tag's own line the indent says nothing about the lines below, and other white space is none.
  const lead = text.slice(firstLine, firstStatement);
  const keepsLead = firstLine > 0 && isIndent(lead);
  return keepsLead ? dedented : dedented.slice(skipSpace(dedented, 0));
}

/** Index after the last line end before `at`. */
function lineStart(text: string, at: number): number {
  let start = at;
  while (start > 0 && !isLineEnd(text.charCodeAt(start - 1))) start--;
  return start;
}

/** Lines with their ends, as Python ends them: \n, \r\n, \r. */
function splitLines(text: string): readonly string[] {
  return text.match(/[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$/g) ?? [];
}

function isLineEnd(code: number): boolean {
  return code === 0x0a || code === 0x0d;
}

function isIndent(text: string): boolean {
  return /^[ \t]*$/.test(text);
}

function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)?.[0] ?? "";
}

function isBlank(line: string): boolean {
  for (let i = 0; i < line.length; i++) if (!isPythonSpace(line.charCodeAt(i))) return false;
  return true;
}

function commonPrefix(left: string, right: string): string {
  let length = 0;
  while (length < left.length && left[length] === right[length]) length++;
  return left.slice(0, length);
}
