/** Our own texts say what the model has to know; pinned by hash, since they are part of a run's identity. */
import { expect, test } from "bun:test";
import { canonicalJson, DEFAULT_SYSTEM_PROMPT, DEFAULT_TOOL } from "../../src/index.ts";
import { sha256 } from "../support/real-tokenizers.ts";

test("the system prompt names the tool, the answer's form and the limits of a run", () => {
  for (const said of [
    "step by step",
    "code_interpreter",
    "at most one call in a turn",
    "wait for the result",
    "print every value",
    "Every run starts from nothing",
    "few seconds",
    "little memory",
    "no files",
    "Keep searches small",
    "read the error",
    "exactly one line",
    "\\boxed{answer}",
    "Never put a call and a final answer in the same turn",
  ]) {
    expect(DEFAULT_SYSTEM_PROMPT).toContain(said);
  }
});

test("the tool takes one string, code", () => {
  expect(DEFAULT_TOOL.function.name).toBe("code_interpreter");
  expect(DEFAULT_TOOL.function.parameters).toEqual({
    type: "object",
    properties: {
      code: { type: "string", description: "The whole Python program, as source text." },
    },
    required: ["code"],
  });
});

test("changing either text is a decision", () => {
  expect(sha256(DEFAULT_SYSTEM_PROMPT)).toBe(
    "21ee03153982f79e30762b80f4894aea6bfa3bc159a04ff9159cd0719f70f8f9",
  );
  expect(sha256(canonicalJson(DEFAULT_TOOL))).toBe(
    "892bec54b8fd128dcc0cbc3ce4b0cdbfa531211c6ee43e977d0e94be13b4605b",
  );
});
