/**
 * In: what the evaluation in a file was asked with, and what this one is. Out: what differs, by the names that a
 * person gives it, with both values. Refuses to know which differences matter: they are those of the configuration hash.
 */
import { showValue } from "../config/showing.ts";

/** Everything that decides an answer, as the configuration hash has it: settings by dotted name, and hashes of inputs. */
export type AskedWith = Readonly<Record<string, unknown>>;

/** Said first: what follows from them differs too. */
const FIRST = ["mode", "data", "model", "weights"];

/** What is not a setting of the name that it is recorded by. */
const NAMES: Readonly<Record<string, string>> = {
  mode: "eval.mode (--mode)",
  data: "the SHA-256 of the problems (--data)",
  model: "the model",
  weights: "the version of the weights",
  systemPrompt: "the SHA-256 of the system prompt",
  questionFrame: "the SHA-256 of the question's frame",
  tool: "the SHA-256 of the tool's description",
  tokenizer: "the SHA-256 of the tokenizer",
  template: "the SHA-256 of the chat template",
  "rollout.group_size": "eval.val_n (--val-n)",
  "rollout.temperature": "eval.temperature",
  "rollout.top_p": "eval.top_p",
  "rollout.top_k": "eval.top_k",
  "rollout.seed": "eval.seed (--seed)",
};

const SHOWN = 3;
const LONGEST = 60;

/** `eval.seed (--seed) is 42 there and 43 now`, at most three of them; empty = nothing differs. */
export function describeDifferences(there: AskedWith, now: AskedWith): string {
  const names = new Set([...FIRST, ...Object.keys(there), ...Object.keys(now)]);
  const differing = [...names].filter(
    (name) => !Bun.deepEquals(plain(there[name]), plain(now[name])),
  );
  const told = differing
    .slice(0, SHOWN)
    .map(
      (name) => `${NAMES[name] ?? name} is ${show(name, there)} there and ${show(name, now)} now`,
    );
  const more = differing.length - told.length;
  return more > 0 ? `${told.join(", ")}, and ${more} more` : told.join(", ");
}

/** As a file holds it. */
function plain(value: unknown): unknown {
  return value === undefined ? null : (JSON.parse(JSON.stringify(value)) as unknown);
}

function show(name: string, values: AskedWith): string {
  const value = plain(values[name]);
  if (typeof value === "string" && /^[0-9a-f]{64}$/.test(value)) return value.slice(0, 12);
  const text = showValue(name, value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
