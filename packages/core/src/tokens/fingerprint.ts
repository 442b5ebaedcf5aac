/** One text for one value, and its hash: how tokenizer, template and prompts are named in metadata. */

/**
 * JSON with the keys of every object sorted, without white space; values as `JSON.stringify` writes them. Names that
 * are whole numbers come first, by number, as in every object of JavaScript: hashes were made of such texts.
 */
export function canonicalJson(value: unknown): string {
  return write(value) ?? "null";
}

/** undefined = nothing, which an object leaves out and a list writes as null. */
function write(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) {
    return typeof value === "number" && Number.isSafeInteger(value)
      ? String(value)
      : JSON.stringify(value);
  }
  if (Array.isArray(value)) {
    // A vocabulary's merges: hundreds of thousands of texts in one go.
    if (value.every(isPlain)) return JSON.stringify(value);
    return `[${value.map((item) => write(item) ?? "null").join(",")}]`;
  }
  const fields = value as Readonly<Record<string, unknown>>;
  const parts: string[] = [];
  for (const name of sortNames(Object.keys(fields))) {
    const text = write(fields[name]);
    if (text !== undefined) parts.push(`${quote(name)}:${text}`);
  }
  return `{${parts.join(",")}}`;
}

/** Nearly all names need nothing but quotes. */
function quote(name: string): string {
  return /^[ !#-[\]-\ud7ff]*$/.test(name) ? `"${name}"` : JSON.stringify(name);
}

function isPlain(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

function sortNames(names: readonly string[]): readonly string[] {
  let numbers = 0;
  while (numbers < names.length && isIndex(names[numbers] ?? "")) numbers += 1;
  // By UTF-16 code units, which is what a sort without a rule does.
  return [...names.slice(0, numbers), ...names.slice(numbers).toSorted()];
}

/** Such names stand before all others already, ascending. */
function isIndex(name: string): boolean {
  return /^(?:0|[1-9]\d{0,9})$/.test(name) && Number(name) < 2 ** 32 - 1;
}

/** SHA-256 of what decides ids and text of a tokenizer.json: model, added tokens, steps; in canonical JSON. */
export function tokenizerFingerprint(json: Readonly<Record<string, unknown>>): Promise<string> {
  const { model, added_tokens, normalizer, pre_tokenizer, decoder } = json;
  return sha256Hex(canonicalJson({ model, added_tokens, normalizer, pre_tokenizer, decoder }));
}

/** SHA-256 of the text's UTF-8, 64 lower case hex digits. */
export async function sha256Hex(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
