/** llama.cpp's way of saying no. */
import { jsonResponse } from "../wire-json.ts";

const TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  404: "not_found_error",
  500: "server_error",
};

export function llamaError(code: number, message: string): Response {
  return jsonResponse({ error: { code, message, type: TYPES[code] } }, code);
}

export function tooLong(length: number, context: number): Response {
  const message = `request (${length} tokens) exceeds the available context size (${context} tokens), try increasing it`;
  const error = {
    code: 400,
    message,
    type: "exceed_context_size_error",
    n_prompt_tokens: length,
    n_ctx: context,
  };
  return jsonResponse({ error }, 400);
}
