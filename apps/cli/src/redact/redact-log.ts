/**
 * An event log without its texts. In: its text. Out: as many lines, each with the same fields; ids become those of their
 * places, other texts keep their length. A line that is no event of ours keeps its length alone.
 */
import { fill, type Places } from "./places.ts";

type Json = Record<string, unknown>;
type Key = { readonly question: number; readonly group: number | null };

export function redactLog(text: string, places: Places): string {
  return text
    .split("\n")
    .map((line) => (line === "" ? line : redactLine(line, places)))
    .join("\n");
}

function redactLine(line: string, places: Places): string {
  try {
    const json = JSON.parse(line) as Json;
    return JSON.stringify(redactEvent(json, places));
  } catch {
    return fill(line);
  }
}

function redactEvent(line: Json, places: Places): Json {
  const key = line["key"] as Key | undefined;
  switch (line["type"]) {
    case "sampled":
      return key === undefined ? line : redactSampled(line, key, places);
    case "executed":
      return { ...line, result: redactResult(line["result"] as Json) };
    case "graded":
      return { ...line, grade: withFilled(line["grade"] as Json, ["answer", "detail"]) };
    default:
      return line;
  }
}

function redactSampled(line: Json, key: Key, places: Places): Json {
  const prompt = line["prompt"] as { length: number; hash: number };
  const sequences = (line["sequences"] as Json[]).map((sequence, i) => {
    const filled = withFilled(sequence, ["detail", "server_text"]);
    if (typeof sequence["ids"] !== "string") return filled;
    const ids = new Int32Array(Uint8Array.fromBase64(sequence["ids"]).buffer);
    places.replace({ question: key.question, group: key.group ?? i }, prompt.length, ids);
    return { ...filled, ids: new Uint8Array(ids.buffer).toBase64() };
  });
  const place = { question: key.question, group: key.group ?? 0 };
  const hashes = places.promptHashes(place, prompt.length);
  // A hash of a text could be guessed at; one that did not fit its prompt still does not.
  const hash =
    hashes === null ? 0 : hashes.before === prompt.hash ? hashes.after : hashes.after ^ 1;
  return { ...line, prompt: { ...prompt, hash: hash >>> 0 }, sequences };
}

function redactResult(result: Json): Json {
  const filled = withFilled(result, ["detail"]);
  for (const stream of ["stdout", "stderr"]) {
    const captured = result[stream] as Json | undefined;
    if (captured !== undefined) filled[stream] = withFilled(captured, ["head", "tail"]);
  }
  return filled;
}

function withFilled(json: Json, names: readonly string[]): Json {
  const filled = { ...json };
  for (const name of names) {
    const value = json[name];
    if (typeof value === "string") filled[name] = fill(value);
  }
  return filled;
}
