/**
 * What a server said of one sample, cut out of its answer and not yet believed. Every adapter's parse function
 * ends here; `check-sequence.ts` begins here.
 */
import type { SamplerCause } from "./trouble.ts";

export type RawSequence = {
  readonly ok: true;
  /** Place among the request's samples. */
  readonly index: number;
  /** Anything may stand in these lists: null, strings, −1. Typed rows become the sequence's own. */
  readonly ids: ArrayLike<unknown>;
  readonly logprobs: ArrayLike<unknown>;
  /** Ids of the logprob entries; null = the server sends logprobs without ids. */
  readonly entryIds: ArrayLike<unknown> | null;
  readonly finish: "stop" | "length" | "aborted";
  /** null = the answer names no version. */
  readonly versions: readonly RawSpan[] | null;
  /** Text as the server decoded it, null = it sent none. */
  readonly text: string | null;
  /** The prompt as the server says it used it. */
  readonly prompt: PromptEcho;
};

export type RawSpan = { readonly version: unknown; readonly start: unknown; readonly end: unknown };

/** null = the server does not tell. */
export type PromptEcho = {
  readonly ids: ArrayLike<unknown> | null;
  readonly length: number | null;
};

/** One sample that the answer itself calls bad. */
export type RawFailure = {
  readonly ok: false;
  readonly index: number;
  readonly cause: SamplerCause;
  readonly detail: string;
};

export type RawSample = RawSequence | RawFailure;

export function rawFailure(index: number, cause: SamplerCause, detail: string): RawFailure {
  return { ok: false, index, cause, detail };
}

/** A LoRA's answers name the base model's version; what sampled them is the LoRA that the request named. */
export function sampledBy(raws: readonly RawSample[], lora: string | null): readonly RawSample[] {
  if (lora === null) return raws;
  return raws.map((raw) =>
    raw.ok ? { ...raw, versions: [{ version: lora, start: 0, end: raw.ids.length }] } : raw,
  );
}

/** A JSON object's fields, or none when it is no object. */
export function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}

export function list(value: unknown): readonly unknown[] | null {
  return Array.isArray(value) ? (value as readonly unknown[]) : null;
}

export function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

export function number(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
