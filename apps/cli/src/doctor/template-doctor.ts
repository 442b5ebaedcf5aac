/**
 * One tokenizer and chat template under examination. In: a loaded tokenizer with its template. Out: what the template
 * does with history, tools, thoughts and foreign text – and, where it cannot be used, why. Asks only by rendering and
 * encoding; a template that throws is a finding. Knows no file and no command.
 */
import {
  concatIds,
  createChatTemplate,
  createProtocol,
  deriveContinuation,
  tokensOf,
  append,
  segment,
  type ChatMessage,
  type ChatTemplate,
  type ContentTransform,
  type Dialect,
  type Protocol,
  type Tokenizer,
  type ToolDeclaration,
} from "@interlace/core";
import { findLeaks, type Leaks } from "./find-leaks.ts";

export type Patient = {
  readonly name: string;
  readonly tokenizer: Tokenizer;
  readonly chatTemplate: string;
  readonly dialect: Dialect;
  readonly systemPrompt: string;
  readonly tool: ToolDeclaration;
  readonly templateArguments: Readonly<Record<string, unknown>>;
  /** Milliseconds since 1970. */
  readonly now: number;
};

/** Where a conversation, rendered again, parts from the tokens that the model saw and wrote. */
export type Rerender =
  | { readonly kind: "same"; readonly tokens: number }
  | {
      readonly kind: "differs";
      readonly position: number;
      /** As the entries of the vocabulary are spelt. */
      readonly kept: string;
      readonly rendered: string;
    };

export type Joining = {
  readonly closing: string;
  readonly transform: ContentTransform;
  /** The second tool step is written otherwise than the first. */
  readonly laterDiffers: boolean;
  /** Something before an assistant's text changes once a tool message follows. */
  readonly rewritesHistory: boolean;
  readonly plain: Rerender;
  readonly thinking: Rerender;
  readonly leaks: Leaks;
  /** null = the call that was written is the call that is read. */
  readonly dialectTrouble: string | null;
};

export type TemplateReport = {
  readonly name: string;
  readonly eos: string | null;
  readonly showsTool: boolean;
  readonly readsClock: boolean;
  /** What the first prompt ends with: where the model begins to write. */
  readonly prefix: string;
  readonly enableThinkingChanges: boolean;
  /** A thought in an earlier assistant message is still there; null = it could not be rendered. */
  readonly keepsThoughts: boolean | null;
  /** Or why the engine refuses the template. */
  readonly joining: Joining | { readonly refused: string };
};

const QUESTION = "What is 6 times 7?";
const OBSERVATION = "42\n";
const CODE = "for i in range(3):\n    print(i < 2 and \"a & b\", 'é')";

/** Throws one sentence when not even the first prompt can be made. */
export function examineTemplate(patient: Patient): TemplateReport {
  const { tokenizer, tool, systemPrompt } = patient;
  const template = templateOf(patient, {}, patient.now);
  const opening: readonly ChatMessage[] = [
    { role: "system", content: systemPrompt },
    { role: "user", content: QUESTION },
  ];
  const prompt = template.render(opening, true);
  const closed = template.render(opening, false);
  const thinks = templateOf(patient, { enable_thinking: true }, patient.now);
  const later = templateOf(patient, {}, patient.now + 400 * 86_400_000);
  return {
    name: patient.name,
    eos: tokenizer.specialTexts["eos_token"] ?? null,
    // Its name may stand in the system prompt too.
    showsTool: prompt.includes(tool.function.description),
    readsClock: later.render(opening, true) !== prompt,
    prefix: prompt.startsWith(closed) ? prompt.slice(closed.length) : prompt.slice(-24),
    enableThinkingChanges: thinks.render(opening, true) !== prompt,
    keepsThoughts: keepsThoughts(template, opening),
    joining: examineJoining(patient, template, opening),
  };
}

function templateOf(
  { name, chatTemplate, tool, tokenizer, templateArguments }: Patient,
  kwargs: Readonly<Record<string, unknown>>,
  now: number,
): ChatTemplate {
  return createChatTemplate({
    name,
    text: chatTemplate,
    tool,
    specialTexts: tokenizer.specialTexts,
    kwargs: { enable_thinking: false, ...templateArguments, ...kwargs },
    now,
  });
}

function keepsThoughts(template: ChatTemplate, opening: readonly ChatMessage[]): boolean | null {
  try {
    const shown = template.render(
      [
        ...opening,
        { role: "assistant", content: "<think>\nthoughtword\n</think>\n\nSo it is 42." },
        { role: "user", content: "And 6 times 8?" },
      ],
      true,
    );
    return shown.includes("thoughtword");
  } catch {
    return null;
  }
}

function examineJoining(
  patient: Patient,
  template: ChatTemplate,
  opening: readonly ChatMessage[],
): TemplateReport["joining"] {
  const { tokenizer, dialect, tool } = patient;
  try {
    const form = deriveContinuation(template, opening, tool.function.name);
    const protocol = createProtocol({
      tokenizer,
      chatTemplate: patient.chatTemplate,
      dialect,
      now: patient.now,
      templateName: patient.name,
      systemPrompt: patient.systemPrompt,
      tool,
      templateKwargs: patient.templateArguments,
    });
    const spoken = writtenCall(dialect);
    const compare = (text: string) => rerender({ patient, template, opening, protocol }, text);
    return {
      closing: form.first.closing,
      transform: form.first.transform,
      laterDiffers: JSON.stringify(form.first) !== JSON.stringify(form.later),
      rewritesHistory: form.rewritesHistory,
      plain: compare(spoken),
      thinking: compare(`<think>\nLet me see.\n</think>\n\n${spoken}`),
      leaks: findLeaks(protocol, tokenizer, completionOf(patient, spoken)),
      dialectTrouble: readBack(protocol, tokenizer, spoken),
    };
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) };
  }
}

type Bench = {
  readonly patient: Patient;
  readonly template: ChatTemplate;
  readonly opening: readonly ChatMessage[];
  readonly protocol: Protocol;
};

/** The tokens as the engine keeps them, against the same conversation rendered again by the template. */
function rerender({ patient, template, opening, protocol }: Bench, text: string): Rerender {
  const { tokenizer, tool } = patient;
  const completion = completionOf(patient, text);
  let kept = tokensOf(protocol.firstPrompt(QUESTION));
  kept = append(kept, segment("observed", completion));
  kept = append(kept, segment("observed", protocol.joinObservation(completion, OBSERVATION, 0)));
  const ids = concatIds(kept);
  const rendered = template.render(
    [
      ...opening,
      { role: "assistant", content: text },
      { role: "tool", tool_call_id: "call00001", name: tool.function.name, content: OBSERVATION },
    ],
    true,
  );
  const again = tokenizer.encode(rendered);
  const at = ids.findIndex((id, i) => again[i] !== id);
  if (at < 0 && again.length === ids.length) return { kind: "same", tokens: ids.length };
  const position = at < 0 ? ids.length : at;
  const spell = (all: Int32Array): string => {
    const id = all[position];
    return id === undefined ? "the end" : (tokenizer.entryOf(id) ?? String(id));
  };
  return { kind: "differs", position, kept: spell(ids), rendered: spell(again) };
}

/** What a model would sample for this text: its ids, and the id that ends a turn. */
function completionOf({ tokenizer }: Patient, text: string): Int32Array {
  return Int32Array.from([
    ...tokenizer.encodePieces([{ trusted: true, text }], false),
    ...tokenizer.eosIds,
  ]);
}

/** A whole call as the dialect writes it. */
function writtenCall(dialect: Dialect): string {
  if (dialect.callMarker === "") return "So it is 42.";
  return `<tool_call>\n<function=code_interpreter>\n<parameter=code>\n${CODE}\n</parameter>\n</function>\n</tool_call>`;
}

function readBack(protocol: Protocol, tokenizer: Tokenizer, spoken: string): string | null {
  const ids = tokenizer.encodePieces([{ trusted: true, text: spoken }], false);
  const text = protocol.decodeTurn(ids);
  if (text !== spoken) return `the call reads back as ${JSON.stringify(text.slice(0, 60))}`;
  const parsed = protocol.parse(text);
  if (parsed.kind !== "tool") return `the call is read as ${parsed.kind}`;
  return parsed.code === CODE ? null : `its code is read as ${JSON.stringify(parsed.code)}`;
}
