/** Rendering: variables, one fixed clock, errors that name the template. */
import { describe, expect, test } from "bun:test";
import { createChatTemplate, DEFAULT_TOOL, type ChatTemplateOptions } from "../../src/index.ts";
import { strftime } from "../../src/protocol/strftime.ts";

/** date -u -d @1735787045: Thu Jan  2 03:04:05 UTC 2025 */
const NOW = 1_735_787_045_000;

function render(text: string, options: Partial<ChatTemplateOptions> = {}): string {
  const template = createChatTemplate({
    name: "mine",
    text,
    tool: null,
    specialTexts: {},
    kwargs: {},
    now: NOW,
    ...options,
  });
  return template.render([{ role: "user", content: "hi" }], true);
}

describe("variables", () => {
  test("special tokens, tool, extra variables, messages and the generation prompt", () => {
    const text =
      "{{ bos_token }}|{{ tools[0].function.name }}|{{ enable_thinking }}|" +
      "{{ messages[0].content }}|{{ add_generation_prompt }}";
    const options = {
      tool: DEFAULT_TOOL,
      specialTexts: { bos_token: "<s>" },
      kwargs: { enable_thinking: false },
    };
    expect(render(text, options)).toBe("<s>|code_interpreter|false|hi|true");
  });

  test("without a tool, tools is not defined", () => {
    expect(render("{{ 'some' if tools else 'none' }}")).toBe("none");
  });
});

describe("clock", () => {
  const dated =
    "{% if strftime_now is defined %}{{ strftime_now('%d %b %Y') }}{% else %}26 Jul 2024{% endif %}";

  test("a template reads the moment that it is given, whatever the day", () => {
    expect(render(dated)).toBe("02 Jan 2025");
    expect(render(dated, { now: 0 })).toBe("01 Jan 1970");
  });

  test("a template that begins with a line break keeps it", () => {
    expect(render("\n{{ strftime_now('%Y') }}")).toBe("\n2025");
  });

  test("macros read it, too", () => {
    expect(render("{% macro today() %}{{ strftime_now('%j') }}{% endmacro %}{{ today() }}")).toBe(
      "002",
    );
  });

  test.each([
    ["%Y-%m-%d %H:%M:%S", "2025-01-02 03:04:05"],
    ["%A, %B %-d, %y", "Thursday, January 2, 25"],
    ["%a %e %I %p %Z %%", "Thu  2 03 AM UTC %"],
  ])("%s", (format, text) => {
    expect(strftime(NOW, format)).toBe(text);
  });

  test("noon and midnight on a clock of twelve hours", () => {
    expect(strftime(Date.UTC(2024, 11, 31, 12), "%I %p %j")).toBe("12 PM 366");
    expect(strftime(Date.UTC(2024, 0, 1, 0), "%I %p %j")).toBe("12 AM 001");
  });

  test("an unknown directive is an error of the template", () => {
    expect(() => render("{{ strftime_now('%Q') }}")).toThrow(
      new Error(
        'Chat template mine refuses the conversation user: Expected a strftime directive out of YymdeBbAaHIMSpjZ%, seen "%Q"; use one of these',
      ),
    );
  });
});

describe("errors", () => {
  test("a template that is no Jinja", () => {
    expect(() => render("{% if %}")).toThrow(
      /^Chat template mine cannot be read: .+; use a template in the Jinja that @huggingface\/jinja 0\.5 knows$/,
    );
  });

  test("what the template itself refuses", () => {
    expect(() => render("{{ raise_exception('No users.') }}")).toThrow(
      new Error("Chat template mine refuses the conversation user: No users"),
    );
  });
});
