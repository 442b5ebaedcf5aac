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

/** What undoes a pause may take this long, also after an abort. */
const UNDO_MS = 30_000;

/**
 * `after` runs whatever happened in between, an abort included: a server that was paused is resumed, or it would hold
 * every request of everybody for ever.
 */
export async function postAll(
  http: Http,
  controls: readonly Control[],
  after: readonly Control[],
  signal: AbortSignal,
): Promise<Trouble | null> {
  let first: Trouble | null = null;
  try {
    for (const control of controls) {
      first = await postControl(http, control, signal);
      if (first !== null) break;
    }
  } finally {
    for (const control of after) {
      const last = await postControl(http, control, AbortSignal.timeout(UNDO_MS));
      first ??= last;
    }
  }
  return first;
}
