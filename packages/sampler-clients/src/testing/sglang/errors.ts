/** SGLang's ways of saying no (recorded from 0.5.23): an object, a string or a whole record under `error`. */
import { jsonResponse } from "../wire-json.ts";

export function valueError(message: string): Response {
  return jsonResponse({ error: { message } }, 400);
}

/** From the decoder of sampling_params. */
export function paramsError(message: string): Response {
  return jsonResponse({ error: message }, 400);
}

export function bodyError(message: string): Response {
  const text = `1 validation error:\n  ${message}`;
  return jsonResponse(
    { object: "error", message: text, type: "Bad Request", param: null, code: 400 },
    400,
  );
}
