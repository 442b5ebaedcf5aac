/** vLLM's ways of saying no (recorded from 0.32.0). */
import { jsonResponse } from "../wire-json.ts";

export function vllmError(
  status: number,
  message: string,
  type = "BadRequestError",
  param: string | null = null,
): Response {
  return jsonResponse({ error: { message, type, param, code: status } }, status);
}

/** As pydantic's complaint is written. */
export function invalid(kind: string, loc: string, message: string, input: string): Response {
  const text = `1 validation error:\n  {'type': '${kind}', 'loc': '${loc}', 'msg': '${message}', 'input': '${input}'}`;
  return vllmError(400, text, "Bad Request", loc);
}

export function missingField(loc: string): Response {
  return invalid("missing", loc, "Field required", "<dict>");
}

export function wrongValue(name: string, rule: string, value: number, whole = false): Response {
  const seen = whole ? String(value) : pythonFloat(value);
  const message = `${name} must be ${rule}, got ${seen}. (parameter=${name}, value=${seen})`;
  return vllmError(400, message, "BadRequestError", name);
}

export function notFound(): Response {
  return jsonResponse({ detail: "Not Found" }, 404);
}

/** Python prints 3.0, JavaScript 3. */
function pythonFloat(value: number): string {
  return Number.isInteger(value) ? `${value}.0` : String(value);
}
