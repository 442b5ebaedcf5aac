/**
 * Recorded prompts and continuations, id for id: six tokenizers and templates, ours where ours differs.
 * Each continuation goes through whole histories, so the hash of every next prompt is checked too.
 */
import { describe, expect, test } from "bun:test";
import { append, concatIds, segment, tokensOf } from "../../src/index.ts";
import { readVector } from "../support/read-vector.ts";
import {
  idsSha256,
  recordedProtocol,
  trustingFirstPrompt,
  type RecordedNames,
} from "../support/real-tokenizers.ts";

type Turn = {
  readonly message_text?: string;
  readonly content: string;
  readonly delta_ids: readonly number[];
  readonly next_prompt_tokens: number;
  readonly next_prompt_sha256: string;
};
type FirstRow = {
  readonly kind: "first";
  readonly id: string;
  readonly input: RecordedNames & { readonly question: string };
  readonly expected: { readonly ids: readonly number[]; readonly sha256: string };
  readonly ours?: { readonly ids: readonly number[]; readonly sha256: string };
};
type ContinuationRow = {
  readonly kind: "continuation";
  readonly id: string;
  readonly input: RecordedNames & {
    readonly question: string;
    readonly turns: readonly {
      readonly completion_ids: readonly number[];
      readonly observation: string;
    }[];
  };
  readonly expected: {
    readonly first_prompt_sha256: string;
    readonly turns: readonly Turn[];
    readonly error?: string;
  };
  readonly ours?: { readonly turns: readonly Turn[] };
};

const rows = await readVector<FirstRow | ContinuationRow>("prompts.jsonl");
const firsts = rows.filter((row) => row.kind === "first");
const continuations = rows.filter((row) => row.kind === "continuation");

test("the file holds the recorded rows", () => {
  expect([firsts.length, continuations.length]).toEqual([57, 390]);
});

describe("first prompts", () => {
  test.each(firsts.map((row) => [row.id, row] as const))("%s", async (_id, row) => {
    const protocol = await recordedProtocol(row.input);
    const ids = protocol.firstPrompt(row.input.question);
    expect(Array.from(ids)).toEqual([...(row.ours ?? row.expected).ids]);
    expect(idsSha256(ids)).toBe((row.ours ?? row.expected).sha256);
  });
});

describe("continuations", () => {
  test.each(continuations.map((row) => [row.id, row] as const))("%s", async (_id, row) => {
    const protocol = await recordedProtocol(row.input);
    const wanted = (row.ours ?? row.expected).turns;
    expect(row.input.turns.length).toBe(wanted.length);
    // The described system recognises added tokens in questions; its history begins with that prompt.
    const first = await trustingFirstPrompt(row.input, row.input.question);
    expect(idsSha256(first)).toBe(row.expected.first_prompt_sha256);
    if (!/<\W?\w+\W?>/.test(row.input.question)) {
      expect(protocol.firstPrompt(row.input.question)).toEqual(first);
    }
    let tokens = tokensOf(first);
    for (const [i, turn] of row.input.turns.entries()) {
      const completion = Int32Array.from(turn.completion_ids);
      const want = wanted[i] as Turn;
      const delta = protocol.joinObservation(completion, want.content, i);
      expect(Array.from(delta)).toEqual([...want.delta_ids]);
      tokens = append(append(tokens, segment("context", completion)), segment("observed", delta));
      expect(tokens.length).toBe(want.next_prompt_tokens);
      expect(idsSha256(concatIds(tokens))).toBe(want.next_prompt_sha256);
      const text = row.expected.turns[i]?.message_text;
      if (text !== undefined) expect(protocol.decodeTurn(completion)).toBe(text);
    }
  });
});

test("where ours is recorded, the observation goes in as it was printed", () => {
  const printed = continuations.flatMap((row) =>
    (row.ours?.turns ?? []).map((turn, i) => [turn.content, row.input.turns[i]?.observation]),
  );
  expect(printed.length).toBeGreaterThan(200);
  for (const [content, observation] of printed) expect(content).toBe(observation as string);
});
