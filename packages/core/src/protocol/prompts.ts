/** What the model is told, in our own words. Each text is configuration: a file may replace it. */
import type { ToolDeclaration } from "./chat-template.ts";

export const DEFAULT_SYSTEM_PROMPT = `You solve mathematical problems step by step, with a Python interpreter at your side.

Working with the interpreter:
- When something has to be computed, enumerated or checked, call code_interpreter with a short program. Make at most one call in a turn, end the turn with it, and wait for the result.
- You see only what the program prints, so print every value you need.
- Every run starts from nothing. Import and define again whatever a program uses.
- A program has a few seconds and little memory, and should touch no files. Keep searches small: narrow them down by reasoning first.
- When a run fails, read the error, mend the program and try again.

Finishing:
- When you are sure, write the final answer on exactly one line as \\boxed{answer}.
- Never put a call and a final answer in the same turn.`;

export const CODE_INTERPRETER = "code_interpreter";

export const DEFAULT_TOOL: ToolDeclaration = {
  type: "function",
  function: {
    name: CODE_INTERPRETER,
    description:
      "Runs a Python program in an isolated environment. The result is what the program prints; " +
      "a program that prints nothing has an empty result. Every run is independent: nothing " +
      "defined in one run exists in the next.",
    parameters: {
      type: "object",
      properties: {
        code: { type: "string", description: "The whole Python program, as source text." },
      },
      required: ["code"],
    },
  },
};

/** Text that the task puts around a question, inside the user's message. */
export type QuestionFrame = { readonly before: string; readonly after: string };

export const NO_FRAME: QuestionFrame = { before: "", after: "" };

/** The evaluation mode without tools and system prompt (protocol-and-reward.md §6). */
export const TEXT_ONLY_FRAME: QuestionFrame = {
  before: "",
  after: "\n\nThink step by step, and give the final answer in \\boxed{}.",
};
