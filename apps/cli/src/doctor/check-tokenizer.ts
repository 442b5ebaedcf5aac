/** A tokenizer folder: its files, its template, and what follows from them. In: the settings. Out: findings. */
import { loadTokenizer, qwen3Coder } from "@interlace/core";
import type { Config } from "../config/schema.ts";
import { messageOf } from "../person-error.ts";
import { chooseSystemPrompt, chooseTool } from "../rollout/open-language.ts";
import { openTokenizer, type TokenizerSource } from "../rollout/open-tokenizer.ts";
import { readTokenizerFolder } from "../rollout/tokenizer-folder.ts";
import { formatCount } from "../terminal/format.ts";
import { reporterFor, type Finding, type Reporter } from "./finding.ts";
import {
  examineTemplate,
  type Joining,
  type Patient,
  type Rerender,
  type TemplateReport,
} from "./template-doctor.ts";

/** A tokenizer that could be loaded, for the checks that need one. */
export type Opened = { readonly source: TokenizerSource; readonly tokenizer: Patient["tokenizer"] };

export async function checkTokenizer(
  config: Config,
  { signal, tell }: { readonly signal: AbortSignal; readonly tell: (line: string) => void },
  findings: Finding[],
): Promise<Opened | null> {
  const report = reporterFor("tokenizer", findings);
  let opened: Opened | null = null;
  try {
    const source = await openTokenizer(config, signal, tell);
    const tokenizer = loadTokenizer(await readTokenizerFolder(source.folder));
    opened = { source, tokenizer };
    report.ok("files", `${source.exact}: ${formatCount(tokenizer.vocabSize)} ids`);
    if (tokenizer.chatTemplate === null) {
      report.broken("template", "none", "put the model's chat_template.jinja into the folder");
      return opened;
    }
    const template = examineTemplate({
      name: source.id,
      tokenizer,
      chatTemplate: tokenizer.chatTemplate,
      dialect: qwen3Coder,
      systemPrompt: await chooseSystemPrompt(config),
      tool: await chooseTool(config),
      templateArguments: config.protocol.templateArguments,
      now: Date.now(),
    });
    reportTemplate(template, report);
  } catch (error) {
    report.broken(opened === null ? "files" : "template", messageOf(error), MEND);
  }
  return opened;
}

const MEND = "use the model's own tokenizer folder, or a template that knows system and tool";

export function reportTemplate(template: TemplateReport, report: Reporter): void {
  const { eos, joining } = template;
  if (eos === null) {
    report.note(
      "end of turn",
      "none: every turn runs to its limit",
      "set eos_token in tokenizer_config.json",
    );
  } else report.ok("end of turn", JSON.stringify(eos));
  if (template.showsTool) report.ok("tool", "declared in the first prompt");
  else {
    report.note(
      "tool",
      "the template does not show declared tools",
      "describe the tool in protocol.system_prompt, or use a template with tools",
    );
  }
  report.ok("turn begins with", JSON.stringify(template.prefix));
  report.ok("thinking", describeThinking(template));
  if (template.readsClock) report.ok("clock", "read by the template; fixed when a run starts");
  if ("refused" in joining) {
    report.broken("tool results", joining.refused, "use a template that writes tool messages");
    return;
  }
  reportJoining(joining, report);
}

function reportJoining(joining: Joining, report: Reporter): void {
  const later = joining.laterDiffers ? ", later steps otherwise than the first" : "";
  report.ok("tool results", `shown once, content ${WRITTEN[joining.transform]}${later}`);
  report.ok("turn ends with", JSON.stringify(joining.closing));
  report.ok("history", describeHistory(joining));
  const { leaks, dialectTrouble } = joining;
  if (leaks.special.length === 0) {
    report.ok(
      "foreign text",
      `none of ${leaks.tried} added tokens can be made by a question or an observation (${leaks.naive} if all text were trusted)`,
    );
  } else {
    report.broken(
      "foreign text",
      `can become ${leaks.special.slice(0, 5).join(", ")}`,
      "do not train with this tokenizer: an observation could end a turn",
    );
  }
  if (dialectTrouble === null) report.ok("calls", "a written call reads back as it was");
  else report.broken("calls", dialectTrouble, "set protocol.dialect to what the model writes");
}

const WRITTEN = {
  as_is: "as it is",
  trimmed: "trimmed",
  json: "as a JSON string",
} as const;

function describeThinking({ enableThinkingChanges, keepsThoughts }: TemplateReport): string {
  const mode = enableThinkingChanges
    ? "enable_thinking changes where a turn begins"
    : "no switch in the template";
  if (keepsThoughts === null) return mode;
  return `${mode}; thoughts of earlier turns are ${keepsThoughts ? "kept" : "left out"} when it renders history`;
}

/** What rendering history again would change; the engine never does. */
function describeHistory({ plain, thinking }: Joining): string {
  if (plain.kind === "same" && thinking.kind === "same") {
    return "prefix-preserving: rendered again it is the same tokens";
  }
  const parts = [`not prefix-preserving; tokens are kept, so nothing drifts`];
  if (plain.kind === "differs") parts.push(`rendered again, ${describeParting(plain)}`);
  else if (thinking.kind === "differs") {
    parts.push(`rendered again, a turn with a thought ${describeParting(thinking)}`);
  }
  return parts.join("; ");
}

function describeParting({ position, kept, rendered }: Rerender & { kind: "differs" }): string {
  return `token ${position} would be ${JSON.stringify(rendered)} instead of ${JSON.stringify(kept)}`;
}
