/**
 * Markup that is safe by how it is made. In: a template and values. Out: HTML in which every value is escaped, unless it
 * was made here itself. What a model wrote can neither become markup nor hide, steer or reorder the text around it.
 */

/** No name that data could have: a record read from a file is never taken for markup. */
const MARKUP = Symbol("markup");

export type Html = { readonly [MARKUP]: string };

type Value = string | number | Html | readonly Html[] | null;

/** Not called `html`: formatters know that name, and move white space that is seen, or tags. */
export function markup(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  let out = parts[0] ?? "";
  for (const [i, value] of values.entries()) out += markupOf(value) + (parts[i + 1] ?? "");
  return { [MARKUP]: out };
}

/** For markup that is put together in a loop; the caller escapes. */
export function trusted(text: string): Html {
  return { [MARKUP]: text };
}

export function toText(made: Html): string {
  return made[MARKUP];
}

function markupOf(value: Value): string {
  if (value === null) return "";
  if (typeof value === "object") {
    if (Array.isArray(value)) return value.map(markupOf).join("");
    if (MARKUP in value) return value[MARKUP];
  }
  // A damaged file can hold another thing than its schema says.
  return escapeText(typeof value === "object" ? JSON.stringify(value) : String(value));
}

/** Everything that is not seen as what it is: controls, formats (bidi, zero width, tags), halves of pairs, separators. */
const UNSEEN = String.raw`\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}`;
const SPECIAL = new RegExp(`[&<>"'\`${UNSEEN}]`, "gu");

/** Scripts and emoji are written with these. */
const KEPT: ReadonlySet<string> = new Set(["\n", "\t", "\u200c", "\u200d", "\ufe0f"]);

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "`": "&#96;",
};

/** Safe between tags and inside quoted attributes; what is not seen is spelled. */
export function escapeText(text: string): string {
  return text.replaceAll(SPECIAL, (char) =>
    KEPT.has(char) ? char : (ENTITIES[char] ?? spellCharacter(char)),
  );
}

/** Between tags only: what is spelled is told apart from a text that says the same. */
export function shownText(text: string): Html {
  return trusted(
    text.replaceAll(SPECIAL, (char) =>
      KEPT.has(char) ? char : (ENTITIES[char] ?? `<i class="unseen">${spellCharacter(char)}</i>`),
    ),
  );
}

/** `\x1b`, `\u202e`, `\u{e0041}`. */
function spellCharacter(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  const digits = code.toString(16);
  if (code < 0x100) return `\\x${digits.padStart(2, "0")}`;
  return code < 0x1_0000 ? `\\u${digits.padStart(4, "0")}` : `\\u{${digits}}`;
}
