/** The figures of an evaluation's summary, held against those that Python makes of its problem lines. */
import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { askPython } from "./cli.ts";

const SCRIPT = readFileSync(join(import.meta.dir, "../eval/recompute.py"), "utf8");

type Json = number | string | boolean | null | { readonly [name: string]: Json };

/** The summary of the file; throws where a figure is not what Python says. */
export async function checkSummary(path: string): Promise<Readonly<Record<string, Json>>> {
  const summary = JSON.parse(readFileSync(path, "utf8").trimEnd().split("\n").at(-1) ?? "") as {
    readonly [name: string]: Json;
  };
  const figures = (await askPython(SCRIPT, [path])) as { readonly [name: string]: Json };
  for (const [name, want] of Object.entries(figures)) expectClose(name, summary[name], want);
  return summary;
}

function expectClose(name: string, seen: Json | undefined, want: Json): void {
  if (typeof want === "object" && want !== null) {
    for (const [key, value] of Object.entries(want)) {
      const inside = typeof seen === "object" && seen !== null ? seen[key] : undefined;
      expectClose(`${name}.${key}`, inside, value);
    }
  } else if (typeof want === "number" && typeof seen === "number") {
    expect(`${name} ${seen.toFixed(9)}`).toBe(`${name} ${want.toFixed(9)}`);
  } else expect(`${name} ${JSON.stringify(seen)}`).toBe(`${name} ${JSON.stringify(want)}`);
}
