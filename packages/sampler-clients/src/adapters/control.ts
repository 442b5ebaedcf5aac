/** Control calls one after the other: the first that fails ends the row. */
import type { Http } from "../http.ts";
import { readStatus } from "../read-json.ts";
import type { Trouble } from "../trouble.ts";

export type Control = { readonly path: string; readonly body: unknown };

/** Loading weights of a large model takes minutes. */
const CONTROL_MS = 900_000;

export async function postControl(
  http: Http,
  control: Control,
  signal: AbortSignal,
): Promise<Trouble | null> {
  const body = JSON.stringify(control.body);
  const call = { method: "POST", path: control.path, body, limitMs: CONTROL_MS } as const;
  const reply = await http.send(call, signal);
  if (!reply.ok) return reply;
  return reply.status === 200 ? null : readStatus(reply, `POST ${http.url}${control.path}`);
}

/** `after` runs whatever happened in between: a server that was paused is resumed. */
export async function postAll(
  http: Http,
  controls: readonly Control[],
  after: readonly Control[],
  signal: AbortSignal,
): Promise<Trouble | null> {
  let first: Trouble | null = null;
  for (const control of controls) {
    first = await postControl(http, control, signal);
    if (first !== null) break;
  }
  for (const control of after) {
    const last = await postControl(http, control, signal);
    first ??= last;
  }
  return first;
}
