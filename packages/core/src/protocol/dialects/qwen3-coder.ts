/**
 * XML calls as Qwen3-Coder and Qwen3.5 write them (protocol-and-reward.md §1):
 * <tool_call><function=code_interpreter><parameter=code>…</parameter></function></tool_call>
 * with white space between the tags. One forward scan: every index only grows, nothing backtracks.
 */
import { skipSpace, strip } from "../../tokens/python-whitespace.ts";
import { cleanCode } from "./clean-code.ts";
import type { Dialect, InvalidCause, ParsedTurn } from "./dialect.ts";

const CALL = "<tool_call>";
const FUNCTION = "<function=";
const PARAMETER = "<parameter=";
const OPENING = [CALL, "<function=code_interpreter>", "<parameter=code>"];
const CLOSING = ["</parameter>", "</function>", "</tool_call>"];

export const qwen3Coder: Dialect = {
  name: "qwen3_coder",
  callMarker: CALL,
  markerTokens: [CALL, "</tool_call>"],
  parse,
};

/** `[start, end)` of a complete call, and of the code in it. */
type Call = {
  readonly start: number;
  readonly end: number;
  readonly codeStart: number;
  readonly codeEnd: number;
};

function parse(text: string): ParsedTurn {
  const content = strip(text);
  const invalid = (cause: InvalidCause): ParsedTurn => ({ kind: "invalid", content, cause });
  const call = findCall(content, 0);
  if (call === null) {
    return content.includes(CALL) ? invalid(causeOf(content)) : { kind: "answer", content };
  }
  if (findCall(content, call.end) !== null) return invalid("several_calls");
  if (call.end < content.length) return invalid("text_after_call");
  const code = cleanCode(content.slice(call.codeStart, call.codeEnd));
  if (code === "") return invalid("empty_code");
  return { kind: "tool", content: strip(content.slice(0, call.start)), code };
}

/** The first complete call at or after `from`. */
function findCall(text: string, from: number): Call | null {
  for (let start = text.indexOf(CALL, from); start >= 0; start = text.indexOf(CALL, start + 1)) {
    const codeStart = matchTags(text, start, OPENING);
    if (codeStart < 0) continue;
    let codeEnd = text.indexOf(CLOSING[0] as string, codeStart);
    while (codeEnd >= 0) {
      const end = matchTags(text, codeEnd, CLOSING);
      if (end >= 0) return { start, end, codeStart, codeEnd };
      codeEnd = text.indexOf(CLOSING[0] as string, codeEnd + 1);
    }
    // No closing after this opening: none after a later one either.
    return null;
  }
  return null;
}

/** Index after the tags, which may have white space between them; -1 where one is missing. */
function matchTags(text: string, start: number, tags: readonly string[]): number {
  let at = start;
  for (const [i, tag] of tags.entries()) {
    if (i > 0) at = skipSpace(text, at);
    if (!text.startsWith(tag, at)) return -1;
    at += tag.length;
  }
  return at;
}

/** Why a text with an opening tag holds no complete call: the first opening that tells decides. */
function causeOf(text: string): InvalidCause {
  for (let start = text.indexOf(CALL); start >= 0; start = text.indexOf(CALL, start + 1)) {
    const name = skipSpace(text, start + CALL.length);
    if (!text.startsWith(FUNCTION, name)) continue;
    const afterName = matchTags(text, start, OPENING.slice(0, 2));
    if (afterName < 0) {
      // A name that is not finished yet may still have become the right one.
      if (text.indexOf(">", name) < 0) return "unclosed_call";
      return "unknown_tool";
    }
    if (matchTags(text, start, OPENING) >= 0) return "unclosed_call";
    const parameter = skipSpace(text, afterName);
    const isOther = text.startsWith(PARAMETER, parameter) && text.indexOf(">", parameter) >= 0;
    if (isOther || text.startsWith("</function>", parameter)) return "bad_arguments";
  }
  return "unclosed_call";
}
