/**
 * From an answer to its JSON with the long lists cut out, or to the `Trouble` that it is. Where the rest is no JSON
 * the whole is none either, and the plain way says so.
 */
import type { Tokens } from "@interlace/core";
import { cutLists, type NamedList, type Row } from "./cut-lists.ts";
import type { Reply } from "./http.ts";
import { readJson } from "./read-json.ts";
import type { Trouble } from "./trouble.ts";

export type CutJson = { readonly ok: true; readonly value: unknown; readonly rows: readonly Row[] };

export function readCut(
  reply: Reply,
  what: string,
  names: readonly NamedList[],
  prompt: Tokens,
): CutJson | Trouble {
  if (reply.status === 200) {
    const { rest, rows } = cutLists(reply.bytes, names, prompt);
    try {
      const value: unknown = JSON.parse(rest);
      return { ok: true, value, rows };
    } catch {
      // Said below, with the whole text.
    }
  }
  const json = readJson(reply, what);
  return json.ok ? { ok: true, value: json.value, rows: [] } : json;
}
