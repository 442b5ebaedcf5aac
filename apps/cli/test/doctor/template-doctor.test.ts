/** What a template does to a conversation, told by templates of a few lines over the tokenizer in the box. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { DEFAULT_TOOL, loadTokenizer, qwen3Coder } from "@interlace/core";
import { embeddedPolicyFolder } from "@interlace/sampler-clients";
import { examineTemplate, type Joining, type Patient } from "../../src/doctor/template-doctor.ts";

const read = async (name: string) =>
  (await Bun.file(join(embeddedPolicyFolder, name)).json()) as Record<string, unknown>;
const files = {
  tokenizer: await read("tokenizer.json"),
  config: await read("tokenizer_config.json"),
};
const tokenizer = loadTokenizer(files);

function examine(chatTemplate: string, change: Partial<Patient> = {}) {
  return examineTemplate({
    name: "made up",
    tokenizer,
    chatTemplate,
    dialect: qwen3Coder,
    systemPrompt: "Use the tool.",
    tool: DEFAULT_TOOL,
    templateArguments: {},
    now: 0,
    ...change,
  });
}

function joining(chatTemplate: string): Joining {
  const report = examine(chatTemplate);
  if ("refused" in report.joining) throw new Error(report.joining.refused);
  return report.joining;
}

/** ChatML, with `assistant` and `tool` as the expression that shows their content. */
function chatMl(assistant = "m.content", tool = "m.content", tail = ""): string {
  return (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n" +
    `{% if m.role == 'assistant' %}{{ ${assistant} }}{% elif m.role == 'tool' %}{{ ${tool} }}{% else %}{{ m.content }}{% endif %}` +
    `<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n${tail}{% endif %}`
  );
}

describe("history", () => {
  test("a plain template gives the same tokens again", () => {
    expect(joining(chatMl())).toMatchObject({
      closing: "<|im_end|>\n",
      transform: "as_is",
      rewritesHistory: false,
      laterDiffers: false,
      plain: { kind: "same" },
      thinking: { kind: "same" },
    });
  });

  test("one that drops thoughts says at which token, and what stands there instead", () => {
    const dropping = joining(chatMl("m.content.split('</think>')[-1].lstrip('\\n')"));
    expect(dropping.plain.kind).toBe("same");
    expect(dropping.thinking).toMatchObject({ kind: "differs" });
    const { position } = dropping.thinking as { position: number };
    const kept = joining(chatMl()).thinking as { tokens: number };
    expect(position).toBeLessThan(kept.tokens);
  });

  test("one that puts an empty thought before the last answer only rewrites it", () => {
    const last = chatMl("('<t>' if loop.last else '') + m.content", "m.content", "<t>");
    expect(joining(last)).toMatchObject({ rewritesHistory: true, plain: { kind: "differs" } });
  });
});

describe("tool results", () => {
  test("trimmed or as JSON", () => {
    expect(joining(chatMl("m.content", "m.content | trim")).transform).toBe("trimmed");
    expect(joining(chatMl("m.content", "m.content | tojson")).transform).toBe("json");
  });

  test("a template without the role is refused with the reason", () => {
    const report = examine(
      "{% for m in messages %}{% if m.role != 'tool' %}{{ m.content }}<|im_end|>\n{% endif %}{% endfor %}",
    );
    expect(report.joining).toEqual({
      refused: expect.stringContaining("cannot be continued at tool message 1"),
    });
  });
});

test("a tool that is shown, a clock that is read, a switch for thinking", () => {
  expect(examine(chatMl())).toMatchObject({ showsTool: false, readsClock: false });
  const shown = "{{ tools[0].function.description }}{{ strftime_now('%d %b %Y') }}";
  expect(
    examine(shown + chatMl("m.content", "m.content", "{{ 'hm' if enable_thinking else '' }}")),
  ).toMatchObject({
    showsTool: true,
    readsClock: true,
    enableThinkingChanges: true,
  });
});

test("what follows the last message is where a turn begins", () => {
  expect(examine(chatMl("m.content", "m.content", "<think>\n")).prefix).toBe(
    "<|im_start|>assistant\n<think>\n",
  );
});

test("no added token can be made by a question or an observation, and each would be if all text were trusted", () => {
  const { leaks } = joining(chatMl());
  expect(leaks).toEqual({
    tried: tokenizer.addedTokens.length,
    naive: tokenizer.addedTokens.length,
    special: [],
    words: 0,
  });
  expect(leaks.tried).toBeGreaterThan(3);
});

test("a call that is not read back as it was written is told", () => {
  const deaf = {
    ...qwen3Coder,
    parse: (text: string) => ({ kind: "answer", content: text }) as const,
  };
  const { joining: seen } = examine(chatMl(), { dialect: deaf });
  expect(seen).toMatchObject({ dialectTrouble: "the call is read as answer" });
  expect(joining(chatMl()).dialectTrouble).toBeNull();
});
