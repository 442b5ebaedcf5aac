/**
 * How vocabulary entries become text: the `decoder` of a tokenizer.json, reduced to two forms.
 * Byte-level entries spell bytes; the others spell text, with single bytes as a fallback.
 */
import { BYTE_OF_CODE } from "./byte-characters.ts";

export type TextForm =
  | { readonly kind: "byte_level" }
  | {
      readonly kind: "text";
      readonly replacements: readonly { readonly from: string; readonly to: string }[];
      /** Entries `<0x00>` … `<0xFF>` are bytes; a run of them that is no UTF-8 is one U+FFFD each. */
      readonly byteFallback: boolean;
      /** Dropped wholly from the first token (the word marker of SentencePiece); null = nothing. */
      readonly dropFromFirst: string | null;
      /** Up to `count` times `text` is dropped from the beginning of the whole. */
      readonly stripStart: { readonly text: string; readonly count: number } | null;
    };

type MutableTextForm = {
  -readonly [K in keyof Extract<TextForm, { kind: "text" }>]: Extract<
    TextForm,
    { kind: "text" }
  >[K];
};

/** The form, or what was expected where this decoder is not one that we know. */
export function parseDecoderConfig(config: unknown): TextForm | string {
  const steps = flatten(config);
  if (steps.length === 1 && steps[0]?.["type"] === "ByteLevel") return { kind: "byte_level" };
  const replacements: { from: string; to: string }[] = [];
  const form: MutableTextForm = {
    kind: "text",
    replacements,
    byteFallback: false,
    dropFromFirst: null,
    stripStart: null,
  };
  let isFused = false;
  for (const step of steps) {
    switch (step["type"]) {
      case "Replace": {
        const from = (step["pattern"] as Step | undefined)?.["String"];
        const to = step["content"];
        if (typeof from !== "string" || typeof to !== "string" || from === "" || isFused) {
          return 'expected decoder step "Replace" with a String pattern, before "Fuse"';
        }
        replacements.push({ from, to });
        break;
      }
      case "ByteFallback":
        form.byteFallback = true;
        break;
      case "Fuse":
        isFused = true;
        break;
      case "Strip": {
        const { content, start, stop } = step;
        if (typeof content !== "string" || typeof start !== "number" || stop !== 0 || !isFused) {
          return 'expected decoder step "Strip" after "Fuse", with "stop" 0';
        }
        form.stripStart = { text: content, count: start };
        break;
      }
      case "Metaspace": {
        const from = typeof step["replacement"] === "string" ? step["replacement"] : "▁";
        replacements.push({ from, to: " " });
        if (step["prepend_scheme"] !== "never") form.dropFromFirst = from;
        break;
      }
      default:
        return "expected a decoder made of ByteLevel, or of Replace, ByteFallback, Fuse, Strip, Metaspace";
    }
  }
  return steps.length === 0
    ? "expected a decoder made of ByteLevel, or of Replace, ByteFallback, Fuse, Strip, Metaspace"
    : form;
}

type Step = { readonly [key: string]: unknown };

function flatten(config: unknown): readonly Step[] {
  if (typeof config !== "object" || config === null) return [];
  const step = config as Step;
  if (step["type"] !== "Sequence") return [step];
  const inner = step["decoders"];
  return Array.isArray(inner) ? inner.flatMap(flatten) : [];
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** What one entry contributes: whole characters, or bytes that need their neighbours. */
export type TokenPiece = string | Uint8Array;

export function tokenPiece(form: TextForm, token: string): TokenPiece {
  return form.kind === "byte_level" ? byteLevelPiece(token) : textPiece(form, token);
}

function byteLevelPiece(token: string): TokenPiece {
  const bytes = new Uint8Array(token.length);
  for (let i = 0; i < token.length; i++) {
    const byte = BYTE_OF_CODE[token.charCodeAt(i)] ?? -1;
    // An added token is written in plain characters: it is its own text.
    if (byte < 0) return token;
    bytes[i] = byte;
  }
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return bytes;
  }
}

function textPiece(form: Extract<TextForm, { kind: "text" }>, token: string): TokenPiece {
  if (form.byteFallback) {
    const byte = /^<0x([0-9A-Fa-f]{2})>$/.exec(token)?.[1];
    if (byte !== undefined) return Uint8Array.of(Number.parseInt(byte, 16));
  }
  let text = token;
  for (const { from, to } of form.replacements) text = text.replaceAll(from, to);
  return text;
}
