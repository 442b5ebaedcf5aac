/**
 * Answers as vLLM 0.32 and SGLang 0.5 write them, byte for byte: names in their order, no white space, floats as
 * Python writes them. For tests of the readers; what a sample says is the test's own.
 */
import type { Tokens } from "@interlace/core";
import {
  readGenerate as readSglang,
  parseGenerate as parseSglang,
} from "../../src/adapters/sglang-wire.ts";
import { COMPLETIONS_LISTS, GENERATE_LISTS } from "../../src/adapters/vllm-cut.ts";
import { SGLANG_LISTS } from "../../src/adapters/sglang-cut.ts";
import {
  parseCompletions,
  parseGenerate,
  readCompletions,
  readGenerate,
} from "../../src/adapters/vllm-wire.ts";
import type { NamedList } from "../../src/cut-lists.ts";
import type { Reply } from "../../src/http.ts";
import type { RawSample } from "../../src/raw-sample.ts";
import type { Trouble } from "../../src/trouble.ts";

type Raws = readonly RawSample[] | string;

export type WireReader = {
  readonly lists: readonly NamedList[];
  /** The plain way. */
  readonly parse: (body: unknown, rids: readonly string[]) => Raws;
  /** The fast way. */
  readonly read: (reply: Reply, prompt: Tokens, rids: readonly string[]) => Raws | Trouble;
  readonly write: (samples: readonly WrittenSample[], prompt: string) => string;
};

/** Ids and logprobs as JSON texts, so that anything may stand there. */
export type WrittenSample = {
  readonly ids: readonly string[];
  readonly logprobs: readonly string[];
  readonly text: string;
};

/** `repr` of a float. */
export function writeFloat(value: number): string {
  if (Number.isInteger(value)) return Object.is(value, -0) ? "-0.0" : `${value}.0`;
  if (Math.abs(value) >= 1e-4) return String(value);
  return value.toExponential().replace(/e-(\d)$/, "e-0$1");
}

export const WIRES = {
  "vllm-generate": {
    lists: GENERATE_LISTS,
    parse: (body) => parseGenerate(body),
    read: (reply, prompt) => readGenerate(reply, "POST /x", prompt),
    write: writeGenerate,
  },
  "vllm-completions": {
    lists: COMPLETIONS_LISTS,
    parse: (body) => parseCompletions(body),
    read: (reply, prompt) => readCompletions(reply, "POST /x", prompt),
    write: writeCompletions,
  },
  sglang: {
    lists: SGLANG_LISTS,
    parse: (body, rids) => parseSglang(body, rids),
    read: (reply, prompt, rids) => readSglang(reply, "POST /x", prompt, rids),
    write: writeSglang,
  },
} as const satisfies Readonly<Record<string, WireReader>>;

function writeGenerate(samples: readonly WrittenSample[], prompt: string): string {
  const choices = samples.map(({ ids, logprobs }, index) => {
    const content = ids.map((id, i) => {
      const one = `"token_id":${id},"logprob":${logprobs[i]},"rank":${i + 1}`;
      return `{${one},"top_logprobs":[{${one}}]}`;
    });
    return `{"index":${index},"finish_reason":"length","stop_reason":null,"token_ids":[${ids.join(",")}],"routed_experts":null,"weight_versions":[{"version":"é","start":0,"end":${ids.length}}],"logprobs":{"content":[${content.join(",")}]}}`;
  });
  return `{"request_id":"generate-tokens-x","usage":{"prompt_tokens":${count(prompt)}},"prompt_token_ids":[${prompt}],"choices":[${choices.join(",")}]}`;
}

function writeCompletions(samples: readonly WrittenSample[], prompt: string): string {
  const choices = samples.map(({ ids, logprobs, text }, index) => {
    const tops = ids.map((id, i) => `{"token_id:${id}":${logprobs[i]}}`);
    const lists = [
      `"text_offset":[${ids.map((_, i) => 4 * i).join(",")}]`,
      `"token_logprobs":[${logprobs.join(",")}]`,
      `"tokens":[${ids.map((id) => `"token_id:${id}"`).join(",")}]`,
      `"top_logprobs":[${tops.join(",")}]`,
    ];
    return `{"index":${index},"text":${JSON.stringify(text)},"logprobs":{${lists.join(",")}},"finish_reason":"length","stop_reason":null,"token_ids":[${ids.join(",")}],"prompt_logprobs":null,"prompt_token_ids":[${prompt}]}`;
  });
  return `{"id":"cmpl-x","object":"text_completion","model":"m","choices":[${choices.join(",")}],"usage":{"prompt_tokens":${count(prompt)}}}`;
}

function writeSglang(samples: readonly WrittenSample[], prompt: string): string {
  const items = samples.map(({ ids, logprobs, text }, index) => {
    const entries = ids.map((id, i) => `[${logprobs[i]},${id},null]`);
    return `{"text":${JSON.stringify(text)},"output_ids":[${ids.join(",")}],"meta_info":{"id":"r-${index}","finish_reason":{"type":"length","length":${ids.length}},"prompt_tokens":${count(prompt)},"input_token_logprobs":[],"output_token_logprobs":[${entries.join(",")}],"output_token_logprobs_length":${ids.length},"weight_versions":[{"version":"default","start":0,"end":${ids.length}}],"e2e_latency":0.02175923899994814},"prompt_token_ids":[${prompt}]}`;
  });
  return items.length === 1 ? items[0]! : `[${items.join(",")}]`;
}

function count(prompt: string): number {
  return prompt.split(",").length;
}

export function replyWith(bytes: Uint8Array | string): Reply {
  return {
    ok: true,
    status: 200,
    contentType: "application/json",
    afterMs: null,
    header: () => null,
    bytes: typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes,
  };
}
