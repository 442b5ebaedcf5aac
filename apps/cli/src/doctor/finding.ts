/** What a check-up finds: one line each, with what to do about it. */
export const AREAS = ["machine", "sandbox", "tokenizer", "server", "policy"] as const;
export type Area = (typeof AREAS)[number];

export type Finding = {
  readonly area: Area;
  readonly name: string;
  /** `note`: works, and a person should know. `broken`: this part cannot be used as it is. */
  readonly state: "ok" | "note" | "broken";
  readonly seen: string;
  /** What to do; null = nothing. */
  readonly fix: string | null;
};

export type Reporter = {
  readonly ok: (name: string, seen: string) => void;
  readonly note: (name: string, seen: string, fix: string | null) => void;
  readonly broken: (name: string, seen: string, fix: string) => void;
};

export function reporterFor(area: Area, findings: Finding[]): Reporter {
  const add = (state: Finding["state"], name: string, seen: string, fix: string | null) =>
    void findings.push({ area, name, state, seen, fix });
  return {
    ok: (name, seen) => add("ok", name, seen, null),
    note: (name, seen, fix) => add("note", name, seen, fix),
    broken: (name, seen, fix) => add("broken", name, seen, fix),
  };
}
