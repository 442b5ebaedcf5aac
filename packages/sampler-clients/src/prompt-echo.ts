/**
 * Servers send the prompt's ids back, which is most of a late answer. In: an answer's JSON text, the text of the ids
 * as they were sent. Out: the same answer with `null` for every echo that is, character for character, what was sent:
 * it is proven, so it need not be parsed and compared number by number. Any other echo stays, and is compared.
 */
const ECHO = '"prompt_token_ids":[';

/** `sent` without brackets; an echo with other white space simply stays. */
export function takeProvenEchoes(json: string, sent: string): string {
  let out = "";
  let from = 0;
  for (let at = json.indexOf(ECHO); at !== -1; at = json.indexOf(ECHO, at + 1)) {
    const start = at + ECHO.length;
    const end = start + sent.length;
    // Behind a backslash it is the end of another name.
    const isName = json[at - 1] === "," || json[at - 1] === "{";
    if (!isName || json[end] !== "]" || !json.startsWith(sent, start)) continue;
    out += `${json.slice(from, start - 1)}null`;
    from = end + 1;
  }
  return from === 0 ? json : out + json.slice(from);
}
