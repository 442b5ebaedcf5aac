/**
 * How templates continue after a turn: what is derived from real ones and from small ones that show one
 * trait each, and which are refused, with the message a person reads.
 */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  createChatTemplate,
  DEFAULT_TOOL,
  deriveContinuation,
  type ChatMessage,
  type Continuation,
} from "../../src/index.ts";
import { loadFolder } from "../support/real-tokenizers.ts";

setDefaultTimeout(60_000);

const OPENING: readonly ChatMessage[] = [
  { role: "system", content: "Solve." },
  { role: "user", content: "2+2?" },
];

function derive(text: string, specialTexts: Readonly<Record<string, string>> = {}): Continuation {
  const template = createChatTemplate({
    name: "small.jinja",
    text,
    tool: DEFAULT_TOOL,
    specialTexts,
    kwargs: { enable_thinking: false },
    now: 0,
  });
  return deriveContinuation(template, OPENING, "code_interpreter");
}

/** `[role]content;` for every message but tools, `tool` for those, and `[assistant]` as the prefix. */
function small(tool: string, assistant = "{{ '[assistant]' + m.content + ';' }}"): string {
  return (
    "{% for m in messages %}" +
    `{% if m.role == 'tool' %}${tool}` +
    `{% elif m.role == 'assistant' %}${assistant}` +
    "{% else %}{{ '[' + m.role + ']' + m.content + ';' }}{% endif %}" +
    "{% endfor %}{% if add_generation_prompt %}{{ '[assistant]' }}{% endif %}"
  );
}

describe("derived", () => {
  test("closing, frame and transform of a plain template", () => {
    const form = {
      closing: ";",
      before: "[tool code_interpreter]",
      after: ";[assistant]",
      transform: "as_is",
    } as const;
    expect(derive(small("{{ '[tool ' + m.name + ']' + m.content + ';' }}"))).toEqual({
      first: form,
      later: form,
      rewritesHistory: false,
    });
  });

  test.each([
    ["trimmed", "{{ m.content | trim }}"],
    ["json", "{{ m.content | tojson }}"],
  ])("the content is %s", (transform, shown) => {
    const { first } = derive(small(`{{ '[tool]' }}${shown}{{ ';' }}`));
    expect([first.before, first.after, first.transform]).toEqual([
      "[tool]",
      ";[assistant]",
      transform as never,
    ]);
  });

  test("DeepSeek V3: the second tool step differs from the first", async () => {
    const { tokenizer, chatTemplate } = await loadFolder("deepseek_v3");
    const { first, later } = derive(chatTemplate as string, tokenizer.specialTexts);
    expect(first).toEqual({
      closing: "<｜end▁of▁sentence｜>",
      before: "<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>",
      after: "<｜tool▁output▁end｜><｜tool▁outputs▁end｜>",
      transform: "as_is",
    });
    expect(later).toEqual({
      closing: "<｜end▁of▁sentence｜>",
      before: "\n<｜tool▁output▁begin｜>",
      after: "<｜tool▁output▁end｜><｜tool▁outputs▁end｜>",
      transform: "as_is",
    });
  });

  test("Qwen3 writes an empty thinking block that it drops once a tool message follows", async () => {
    const { tokenizer, chatTemplate } = await loadFolder("qwen3");
    expect(derive(chatTemplate as string, tokenizer.specialTexts)).toEqual({
      first: {
        closing: "<|im_end|>\n",
        before: "<|im_start|>user\n<tool_response>\n",
        after: "\n</tool_response><|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n",
        transform: "as_is",
      },
      later: {
        closing: "<|im_end|>\n",
        before: "<|im_start|>user\n<tool_response>\n",
        after: "\n</tool_response><|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n",
        transform: "as_is",
      },
      rewritesHistory: true,
    });
  });

  test("Llama 3.1 trims what the tool returned", async () => {
    const { tokenizer, chatTemplate } = await loadFolder("llama3_1");
    const { first, later } = derive(chatTemplate as string, tokenizer.specialTexts);
    expect(first).toEqual({
      closing: "<|eot_id|>",
      before: "<|start_header_id|>tool<|end_header_id|>\n\n",
      after: "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n",
      transform: "trimmed",
    });
    expect(later).toEqual(first);
  });

  test("a template that shows the id of a call shows one id in all steps", () => {
    const { first, later } = derive(small("{{ '[' + m.tool_call_id + ']' + m.content + ';' }}"));
    expect(first.before).toBe("[call00001]");
    expect(later).toEqual(first);
  });

  test("words of the prompt that look like a placeholder do no harm", () => {
    const template = createChatTemplate({
      name: "small.jinja",
      text: small("{{ '[tool]' + m.content + ';' }}"),
      tool: null,
      specialTexts: {},
      kwargs: {},
      now: 0,
    });
    const opening: readonly ChatMessage[] = [
      { role: "user", content: "placeholder0xa1 placeholder0xt1 placeholder1x" },
    ];
    const { first } = deriveContinuation(template, opening, "code_interpreter");
    expect([first.closing, first.before, first.after]).toEqual([";", "[tool]", ";[assistant]"]);
  });
});

describe("refused", () => {
  test.each([
    [
      "like Phi-3.5: it knows no tool messages and leaves them out",
      small(""),
      'Chat template small.jinja cannot be continued at tool message 1: expected it to show the content once, seen none of it in "[assistant]"; use a template that only adds text after a turn',
    ],
    [
      "like Gemma: roles must alternate, and there is no role tool",
      "{% for m in messages[1:] %}" +
        "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}" +
        "{{ raise_exception('Roles must alternate user/assistant/user/assistant') }}" +
        "{% endif %}{{ m.role + ':' + m.content }}{% endfor %}",
      "Chat template small.jinja refuses the conversation system, user, assistant, tool: Roles must alternate user/assistant/user/assistant; use a template that knows the role tool",
    ],
    [
      "the third step differs from the second",
      small("{{ '[' + loop.index0 | string + ']' + m.content + ';' }}"),
      'Chat template small.jinja cannot be continued at tool message 3: expected the text around it to be that of tool message 2, seen "5]{as_is};[assistant]" and "7]{as_is};[assistant]" from character 3 on; use a template that only adds text after a turn',
    ],
    [
      "the end of a turn is written another way once a tool message follows",
      small(
        "{{ '[tool]' + m.content + ';' }}",
        "{{ '[assistant]' + m.content + (';' if loop.last else '|') }}",
      ),
      'Chat template small.jinja cannot be continued at tool message 1: expected it to be added after the end of the assistant\'s message, seen ";" and "|[tool]placeholder0x;[assistant]" from character 1 on; use a template that only adds text after a turn',
    ],
    [
      "the observation is shown twice",
      small("{{ '[tool]' + m.content + ' again ' + m.content }}"),
      "Chat template small.jinja cannot be continued at tool message 1: expected it to show the content once, seen it 2 times; use a template that only adds text after a turn",
    ],
    [
      "the observation is transformed in a way of its own",
      small("{{ '[tool]' + (m.content | upper) }}"),
      'Chat template small.jinja cannot be continued at tool message 1: expected it to show the content once, seen none of it in "[tool] \\n \\"PLACEHOLDER0XT1\'É\\\\<&>\\n\\"\\n  [assistant]"; use a template that only adds text after a turn',
    ],
    [
      "the observation is changed inside",
      small("{{ '[tool]' + (m.content | replace('<', '&lt;')) }}"),
      'Chat template small.jinja cannot be continued at tool message 1: expected it to show the content as it is, trimmed or as a JSON string, seen "[tool] \\n \\"placeholder0xt1\'é\\\\&lt;&>\\n\\"\\n  [assistan…"; use a template that only adds text after a turn',
    ],
    [
      "only one end of the observation is trimmed",
      small("{{ '[tool]' + m.content.rstrip() + ';' }}"),
      'Chat template small.jinja cannot be continued at tool message 1: expected it to show the same text around every content, seen " \\n placeholder0xt1;[assistant]" and "placeholder0xt1;[assistant]" from character 7 on; use a template that only adds text after a turn',
    ],
    [
      "what the assistant said is not shown",
      small("{{ '[tool]' + m.content }}", "[assistant];"),
      'Chat template small.jinja cannot be continued at assistant message 1: expected its text to be shown, seen none of it in "[system]Solve.;[user]2+2?;[assistant];"; use a template that only adds text after a turn',
    ],
  ])("%s", (_name, text, message) => {
    expect(() => derive(text)).toThrow(new Error(message));
  });
});
