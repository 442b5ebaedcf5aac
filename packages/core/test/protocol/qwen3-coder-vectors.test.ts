/** Every recorded parse of the described system, with our own decided behaviour where it differs. */
import { expect, test } from "bun:test";
import { strip } from "../../src/tokens/python-whitespace.ts";
import { qwen3Coder } from "../../src/protocol/dialects/qwen3-coder.ts";
import { readVector } from "../support/read-vector.ts";

type Parsed = {
  readonly kind: "tool" | "answer" | "invalid";
  readonly content: string;
  readonly code: string | null;
};
type Row = {
  readonly id: string;
  readonly input: { readonly text: string };
  readonly expected: Parsed;
  readonly ours?: Parsed;
};

const rows = await readVector<Row>("parse_assistant.jsonl");

test("the file holds the recorded rows", () => {
  expect(rows.length).toBe(584);
});

test.each(rows.map((row) => [row.id, row] as const))("%s is parsed as recorded", (_id, row) => {
  const parsed = qwen3Coder.parse(strip(row.input.text));
  const seen: Parsed = {
    kind: parsed.kind,
    content: parsed.content,
    code: parsed.kind === "tool" ? parsed.code : null,
  };
  expect(seen).toEqual(row.ours ?? row.expected);
});
