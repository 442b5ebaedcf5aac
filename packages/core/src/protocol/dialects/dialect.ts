/** Why a turn that tried to call the tool is not a call. */
export type InvalidCause =
  | "unclosed_call"
  | "several_calls"
  | "text_after_call"
  | "empty_code"
  | "unknown_tool"
  | "bad_arguments";

export type ParsedTurn =
  | { readonly kind: "answer"; readonly content: string }
  | { readonly kind: "tool"; readonly content: string; readonly code: string }
  | { readonly kind: "invalid"; readonly content: string; readonly cause: InvalidCause };

/** How one family of models writes a tool call. */
export type Dialect = {
  readonly name: string;
  /** The literal that opens a call. */
  readonly callMarker: string;
  /** Special tokens, by text, that decoding must keep because the dialect's syntax uses them. */
  readonly markerTokens: readonly string[];
  /** Linear time, never throws on any input. Expects Python-stripped text. */
  parse(text: string): ParsedTurn;
};
