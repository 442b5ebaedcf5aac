/**
 * From an answer to its JSON, or to the `Trouble` that it is. One place decides which statuses may be asked
 * again and finds the message in the eight error shapes that servers use.
 */
import { replyText, type Call, type Http, type Reply } from "./http.ts";
import { trouble, type Trouble } from "./trouble.ts";

export type Json = { readonly ok: true; readonly value: unknown; readonly reply: Reply };

export async function sendJson(
  http: Http,
  call: Call,
  signal: AbortSignal,
): Promise<Json | Trouble> {
  const reply = await http.send(call, signal);
  return reply.ok ? readJson(reply, `${call.method} ${http.url}${call.path}`) : reply;
}

/** Routers answer HTML with 200: the content is looked at, not only the status. */
export function readJson(reply: Reply, what: string): Json | Trouble {
  if (reply.status !== 200) return readStatus(reply, what);
  const text = replyText(reply);
  try {
    return { ok: true, value: JSON.parse(text) as unknown, reply };
  } catch {
    const type = reply.contentType === "" ? "no content type" : reply.contentType;
    return trouble(
      "server_error",
      `${what} answered 200 with ${type} that is not JSON: ${excerpt(text)}`,
    );
  }
}

/**
 * 408, 425 and 429 were not started; 502–504 and 520–529 come from something in front of the engine. A 500 may
 * depend on what was sampled (a NaN among the logprobs, bytes that are no text), so a second draw would bias the
 * sample: it is never asked again, and neither is a 4xx.
 */
export function readStatus(reply: Reply, what: string): Trouble {
  const { status, afterMs } = reply;
  const detail = `${what} answered ${status}: ${errorMessage(replyText(reply))}`;
  if (status === 408 || status === 425 || status === 429) {
    return trouble("server_error", detail, { again: "yes", afterMs });
  }
  if ((status >= 502 && status <= 504) || (status >= 520 && status <= 529)) {
    return trouble("server_error", detail, { again: "yes", afterMs, unhealthy: true });
  }
  // 424 is TGI's word for a generation that broke.
  if (status >= 500 || status === 424) return trouble("server_error", detail);
  return trouble("refused", detail);
}

/** `{error: "…"}`, `{error: {message}}`, `{message}`, `{detail}`, `{detail: [{msg, loc}]}`, plain text, HTML, nothing. */
export function errorMessage(text: string): string {
  if (text.trim() === "") return "an empty body";
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return excerpt(text);
  }
  const found = messageOf(body);
  return found === null ? excerpt(text) : excerpt(found);
}

function messageOf(body: unknown): string | null {
  if (typeof body === "string") return body;
  if (Array.isArray(body)) {
    const parts = body.map(messageOf).filter((part) => part !== null);
    return parts.length > 0 ? parts.join("; ") : null;
  }
  if (typeof body !== "object" || body === null) return null;
  const { error, message, detail, msg, loc } = body as Record<string, unknown>;
  if (typeof msg === "string" && Array.isArray(loc)) return `${loc.join(".")}: ${msg}`;
  return messageOf(message) ?? messageOf(error) ?? messageOf(detail);
}

function excerpt(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}
