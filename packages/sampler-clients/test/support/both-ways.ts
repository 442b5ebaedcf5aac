/**
 * One answer read both ways: the fast one, and the plain parse, its oracle. In: bytes and what was asked. Out: what a
 * caller sees, floats as bits, so that the two can be compared.
 */
import { expect } from "bun:test";
import { tokensOf, type SampleRequest, type Tokens } from "@interlace/core";
import { checkAnswer } from "../../src/check-sequence.ts";
import { cutLists } from "../../src/cut-lists.ts";
import type { Reply } from "../../src/http.ts";
import type { RawSample } from "../../src/raw-sample.ts";
import { readJson } from "../../src/read-json.ts";
import type { Trouble } from "../../src/trouble.ts";
import { EXCHANGES, EXPECTED, replyOf, type Asked } from "../recorded/recordings.ts";
import { request } from "./requests.ts";
import { replyWith, WIRES, type WireReader } from "./wire-answers.ts";

export type WireName = keyof typeof WIRES;
export const NAMES = Object.keys(WIRES) as readonly WireName[];

export const PROMPT = [1, 300, 301];
export const ASKED: Asked = {
  prompt: PROMPT,
  samples: 2,
  max: 100_000,
  stop: [],
  vocab: 100_000,
  rids: ["r-0", "r-1"],
};

/** Lists of one sample. */
export const LISTS = { "vllm-generate": 2, "vllm-completions": 5, sglang: 2 } as const;

export function promptOf({ prompt }: Pick<Asked, "prompt">): Tokens {
  return tokensOf(Int32Array.from(prompt));
}

function requestOf(asked: Asked): SampleRequest {
  const { samples, max, stop } = asked;
  return request({ prompt: promptOf(asked), samples, maxTokens: max, stopIds: stop });
}

/** What a caller sees, with floats as bits. */
function outcome(raws: readonly RawSample[] | string | Trouble, asked: Asked): unknown {
  if (typeof raws === "string" || "ok" in raws) return raws;
  const bounds = {
    vocabSize: asked.vocab,
    logprobKind: "unknown",
    stops: "server",
    before: null,
    after: null,
  } as const;
  return checkAnswer(raws, requestOf(asked), bounds).map((checked) =>
    checked.ok
      ? {
          ...checked,
          ids: [...checked.ids],
          logprobs: [...new Int32Array(checked.logprobs.buffer)],
        }
      : checked,
  );
}

export function plainly(wire: WireReader, reply: Reply, asked: Asked): unknown {
  const json = readJson(reply, "POST /x");
  return outcome(json.ok ? wire.parse(json.value, asked.rids ?? []) : json, asked);
}

export function fast(wire: WireReader, reply: Reply, asked: Asked): unknown {
  return outcome(wire.read(reply, promptOf(asked), asked.rids ?? []), asked);
}

export function expectSame(
  name: WireName,
  answer: Uint8Array | string,
  asked: Asked = ASKED,
): void {
  const reply = replyWith(answer);
  expect(fast(WIRES[name], reply, asked)).toEqual(plainly(WIRES[name], reply, asked));
}

/** Lists that were cut. */
export function cutsOf(name: WireName, answer: Uint8Array | string): number {
  return cutLists(replyWith(answer).bytes, WIRES[name].lists, promptOf(ASKED)).rows.length;
}

export type Recorded = { readonly name: WireName; readonly asked: Asked; readonly reply: Reply };

/** Every recorded answer of these servers. */
export const RECORDED = EXPECTED.flatMap((expected, index): readonly Recorded[] => {
  if (expected.reading !== "samples" || !(expected.asked.wire in WIRES)) return [];
  const { asked } = expected;
  return [{ name: asked.wire as WireName, asked, reply: replyOf(EXCHANGES[index]!) }];
});
