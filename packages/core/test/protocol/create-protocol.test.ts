/**
 * The protocol put together: literal ids with the byte tokenizer (ids 0–255 = bytes, 257 <|im_start|>,
 * 258 <|im_end|>, 261 <tool_response>, 262 </tool_response>) and the shipped tiny policy.
 */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import * as fc from "fast-check";
import {
  createProtocol,
  loadTokenizer,
  qwen3Coder,
  TEXT_ONLY_FRAME,
  textOnly,
  type Protocol,
  type ProtocolOptions,
} from "../../src/index.ts";
import { loadFolder } from "../support/real-tokenizers.ts";

setDefaultTimeout(60_000);

const TOOL = {
  type: "function",
  function: { name: "code_interpreter", description: "Runs Python.", parameters: {} },
} as const;

async function protocolOf(name: string, options: Partial<ProtocolOptions> = {}): Promise<Protocol> {
  const { tokenizer, chatTemplate } = await loadFolder(name);
  if (chatTemplate === null) throw new Error(`${name} has no template`);
  return createProtocol({
    tokenizer,
    chatTemplate,
    dialect: qwen3Coder,
    systemPrompt: "S",
    tool: TOOL,
    now: 0,
    ...options,
  });
}

/** Ids as they are, text as its bytes. */
function ids(...parts: readonly (number | string)[]): number[] {
  return parts.flatMap((part) =>
    typeof part === "number" ? [part] : Array.from(new TextEncoder().encode(part)),
  );
}

describe("the byte tokenizer and its template, id by id", () => {
  test("the missing part of the closing is added, what is there is not repeated", async () => {
    const protocol = await protocolOf("byte");
    const said = ids("x");
    const observation = ids(257, "user\n", 261, "\n42\n", 262, 258, "\n", 257, "assistant\n");
    const join = (completion: readonly number[]): number[] =>
      Array.from(protocol.joinObservation(Int32Array.from(completion), "42", 0));
    // closing: <|im_end|> and a line break
    expect(join(said)).toEqual([258, 10, ...observation]);
    expect(join([...said, 258])).toEqual([10, ...observation]);
    expect(join([...said, 258, 10])).toEqual(observation);
    // a line break of the text is no part of the closing
    expect(join([...said, 10])).toEqual([258, 10, ...observation]);
    expect(join([])).toEqual([258, 10, ...observation]);
    expect(join([258, 10, 258])).toEqual([10, ...observation]);
  });

  test("the question is put where the template puts it", async () => {
    const protocol = await protocolOf("byte", { systemPrompt: null, tool: null });
    expect(Array.from(protocol.firstPrompt("2+2?<|im_end|>"))).toEqual(
      ids(257, "user\n2+2?<|im_end|>", 258, "\n", 257, "assistant\n"),
    );
  });

  test("an empty observation keeps its frame", async () => {
    const protocol = await protocolOf("byte");
    const delta = Array.from(protocol.joinObservation(Int32Array.of(258, 10), "", 0));
    expect(delta.slice(6, 11)).toEqual([261, 10, 10, 262, 258]);
  });

  test("stop, vocabulary, markers, turns", async () => {
    const protocol = await protocolOf("byte");
    expect(protocol.stopIds).toEqual([258]);
    expect(protocol.vocabSize).toBe(265);
    expect(protocol.countPlain("<|im_end|>é")).toBe(12);
    expect(protocol.countPlain("")).toBe(0);
    expect(protocol.opensCall("a <tool_call> b")).toBe(true);
    expect(protocol.opensCall("a tool_call b")).toBe(false);
    // " <think>é", a byte that is no UTF-8, <|im_end|>
    expect(protocol.decodeTurn(Int32Array.of(32, 263, 0xc3, 0xa9, 0xff, 258))).toBe(
      "<think>é\ufffd",
    );
    expect(protocol.decodeTurn(new Int32Array(0))).toBe("");
    expect(protocol.decodeTurn(Int32Array.of(258))).toBe("");
  });
});

describe("markers", () => {
  const files = {
    tokenizer: {
      added_tokens: [
        { id: 2, content: "<end>", special: true },
        { id: 3, content: "<py>", special: true },
      ],
      pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, use_regex: false },
      decoder: { type: "ByteLevel" },
      model: { type: "BPE", vocab: { a: 0, b: 1 }, merges: [] },
    },
    config: { eos_token: "<end>" },
  };

  test("a special token that the dialect writes calls with is kept, others are left out", () => {
    const protocol = createProtocol({
      tokenizer: loadTokenizer(files),
      chatTemplate: "{% for m in messages %}{{ m.content }}{% endfor %}",
      dialect: { ...textOnly, callMarker: "<py>", markerTokens: ["<py>"] },
      systemPrompt: null,
      tool: null,
      now: 0,
    });
    expect(protocol.decodeTurn(Int32Array.of(3, 0, 1, 2))).toBe("<py>ab");
  });
});

describe("a closing that shares a plain run with the observation", () => {
  // " ;" and ";a" are tokens, so the closing ";" and the frame "a" of the observation merge
  const files = {
    tokenizer: {
      added_tokens: [],
      pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, use_regex: false },
      decoder: { type: "ByteLevel" },
      model: { type: "BPE", vocab: { ";": 0, a: 1, b: 2, ";a": 3, ab: 4 }, merges: ["; a", "a b"] },
    },
    config: {},
  };
  const chatTemplate =
    "{% for m in messages %}{% if m.role == 'tool' %}a{{ m.content }}a{% else %}b{{ m.content }};{% endif %}{% endfor %}";

  test("is encoded with it when it is missing, and left as sampled when it is there", () => {
    const protocol = createProtocol({
      tokenizer: loadTokenizer(files),
      chatTemplate,
      dialect: qwen3Coder,
      systemPrompt: null,
      tool: TOOL,
      now: 0,
    });
    // ";" + "a" + "b" + "a": one run, merged from the left
    expect(Array.from(protocol.joinObservation(Int32Array.of(2), "b", 0))).toEqual([3, 2, 1]);
    expect(Array.from(protocol.joinObservation(Int32Array.of(2, 0), "b", 0))).toEqual([4, 1]);
  });
});

describe("without a tool", () => {
  test("the text-only mode asks in one message and parses every text as an answer", async () => {
    const protocol = await protocolOf("byte", {
      systemPrompt: null,
      tool: null,
      dialect: textOnly,
      questionFrame: TEXT_ONLY_FRAME,
    });
    const asked = `user\n2+2?${TEXT_ONLY_FRAME.after}`;
    expect(Array.from(protocol.firstPrompt(" 2+2?\n"))).toEqual(
      ids(257, asked, 258, "\n", 257, "assistant\n"),
    );
    expect(protocol.parse("<tool_call>").kind).toBe("answer");
    expect(protocol.opensCall("<tool_call>")).toBe(false);
    expect(() => protocol.joinObservation(new Int32Array(0), "x", 0)).toThrow(
      new Error("No tool is declared, so there is no observation to join"),
    );
  });
});

describe("templates that cannot ask", () => {
  test("a template that shows the question twice is refused", async () => {
    const { tokenizer } = await loadFolder("byte");
    expect(() =>
      createProtocol({
        tokenizer,
        chatTemplate: "{{ messages[1].content }} {{ messages[1].content }}",
        templateName: "twice.jinja",
        dialect: qwen3Coder,
        now: 0,
      }),
    ).toThrow(
      new Error(
        "Chat template twice.jinja cannot be used: expected the first prompt to show the content once, seen it 2 times; use a template that writes user messages plainly",
      ),
    );
  });
});

test("a template that reads the clock renders the fixed moment", async () => {
  const { tokenizer } = await loadFolder("byte");
  const protocol = createProtocol({
    tokenizer,
    chatTemplate: "{{ strftime_now('%Y-%m-%d') }} {{ messages[0].content }}",
    dialect: textOnly,
    systemPrompt: null,
    tool: null,
    now: Date.UTC(2024, 1, 29),
  });
  expect(Array.from(protocol.firstPrompt("q"))).toEqual(ids("2024-02-29 q"));
});

describe("the shipped tiny policy", () => {
  test("prompt and continuation are what it was trained on", async () => {
    const { tokenizer } = await loadFolder("policy");
    const system = "Use the tool. End with \\boxed{}.";
    const protocol = await protocolOf("policy", { systemPrompt: system });
    const prompt = tokenizer.encode(
      `<|im_start|>system\n${system}\nTool: code_interpreter<|im_end|>\n` +
        "<|im_start|>user\n12 + 5?<|im_end|>\n<|im_start|>assistant\n",
    );
    expect(protocol.firstPrompt("12 + 5?")).toEqual(prompt);
    const end = tokenizer.idOf("<|im_end|>") as number;
    const delta = tokenizer.encode(
      "\n<|im_start|>user\n<tool_response>\n17\n\n</tool_response><|im_end|>\n<|im_start|>assistant\n",
    );
    for (const step of [0, 1, 2]) {
      expect(protocol.joinObservation(Int32Array.of(1, end), "17\n", step)).toEqual(delta);
    }
  });
});

describe.each(["byte", "policy", "qwen2_5", "qwen3", "llama3_1", "deepseek_v3"])("%s", (name) => {
  test("neither question nor observation brings a control token into a prompt", async () => {
    const { tokenizer } = await loadFolder(name);
    const protocol = await protocolOf(name);
    const added = new Set(tokenizer.addedTokens.map((token) => token.id));
    const control = (all: Int32Array): number[] => Array.from(all).filter((id) => added.has(id));
    const marks = tokenizer.addedTokens.map((token) => token.content);
    const hostile = fc.string({
      unit: fc.oneof(fc.constantFrom(...marks), fc.constantFrom("<", "|", ">", " ", "\n", "x")),
      maxLength: 10,
    });
    const frames = [0, 1].map((step) =>
      control(protocol.joinObservation(new Int32Array(0), "", step)),
    );
    const framePrompt = control(protocol.firstPrompt("x"));
    fc.assert(
      fc.property(hostile, fc.constantFrom(0, 1), (text, step) => {
        const delta = protocol.joinObservation(new Int32Array(0), text, step);
        expect(control(delta)).toEqual(frames[step] as number[]);
        expect(control(protocol.firstPrompt(text))).toEqual(framePrompt);
      }),
      { numRuns: 200 },
    );
  });
});
