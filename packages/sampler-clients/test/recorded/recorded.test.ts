/** Every recorded exchange of a real server is parsed or refused with the right reading (oracle: `expect.py`). */
import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { tokensOf, type Failure, type SampleRequest, type Sequence } from "@interlace/core";
import { parseCompletion } from "../../src/adapters/llamacpp-wire.ts";
import { parseGenerate as parseSglang } from "../../src/adapters/sglang-wire.ts";
import { parseFuture } from "../../src/adapters/tinker-wire.ts";
import { parseCompletions, parseGenerate } from "../../src/adapters/vllm-wire.ts";
import { checkAnswer } from "../../src/check-sequence.ts";
import type { RawSample } from "../../src/raw-sample.ts";
import { readJson } from "../../src/read-json.ts";
import {
  EXCHANGES,
  EXPECTED,
  replyOf,
  type Exchange,
  type Expected,
  type ExpectedSample,
} from "./recordings.ts";

type Asked = Extract<Expected, { reading: "samples" }>["asked"];

test("there are 317 recordings, each with an expectation", () => {
  expect(EXCHANGES.length).toBe(317);
  expect(EXPECTED.map(({ file }) => file)).toEqual(EXCHANGES.map(({ file }) => file));
});

describe("recorded", () => {
  EXPECTED.forEach((expected, index) => {
    test(expected.file, () => {
      const exchange = EXCHANGES[index]!;
      const json = readJson(replyOf(exchange), expected.file);
      switch (expected.reading) {
        case "trouble":
          expect(json).toMatchObject({
            ok: false,
            cause: expected.cause,
            again: expected.again ? "yes" : "never",
          });
          return;
        case "no_json":
          expect(json).toMatchObject({ ok: false, cause: "server_error", again: "never" });
          return;
        case "json":
          expect(json.ok).toBe(true);
          return;
        case "samples": {
          const raws = parse(exchange, expected.asked);
          const checked = checkAnswer(raws, requestOf(expected.asked), {
            vocabSize: expected.asked.vocab,
            logprobKind: "unknown",
            stops: "server",
            before: null,
            after: null,
          });
          expect(checked.map(shown)).toEqual([...expected.samples]);
          return;
        }
      }
    });
  });
});

function parse(exchange: Exchange, asked: Asked): readonly RawSample[] {
  const reply = replyOf(exchange);
  if (asked.wire === "tinker") {
    const future = parseFuture(reply.contentType, reply.bytes, "w");
    if (future.type !== "samples") throw new Error(`Expected samples, got ${future.type}`);
    return future.samples.map(unversioned);
  }
  const json = readJson(reply, exchange.file);
  if (!json.ok) throw new Error(json.detail);
  const raws = parseOther(asked, json.value);
  if (typeof raws === "string") throw new Error(raws);
  return raws;
}

/** What the recording does not hold: the session that the client itself knows. */
function unversioned(raw: RawSample): RawSample {
  return raw.ok ? { ...raw, versions: null } : raw;
}

function parseOther(asked: Asked, value: unknown): readonly RawSample[] | string {
  switch (asked.wire) {
    case "vllm-generate":
      return parseGenerate(value);
    case "vllm-completions":
      return parseCompletions(value);
    case "sglang":
      return parseSglang(value, asked.rids ?? []);
    case "llamacpp":
      return parseCompletion(value, 1024);
    case "tinker":
      throw new Error("Parsed by parseFuture");
  }
}

function requestOf(asked: Asked): SampleRequest {
  return {
    id: "s0-q0-gx-t0",
    affinity: "a",
    prompt: tokensOf(Int32Array.from(asked.prompt)),
    samples: asked.samples,
    maxTokens: asked.max,
    temperature: 1,
    topP: 1,
    topK: null,
    seed: 7,
    stopIds: asked.stop,
  };
}

function shown(checked: Sequence | Failure): ExpectedSample {
  if (!checked.ok) return checked.cause;
  return {
    n: checked.ids.length,
    finish: checked.finish,
    ids: digest(checked.ids),
    logprobs: digest(checked.logprobs),
    versions: checked.versions.map(({ version, start, end }) => [version ?? "", start, end]),
    text: checked.serverText,
  };
}

function digest(values: Int32Array | Float32Array): string {
  return createHash("sha256").update(new Uint8Array(values.buffer)).digest("hex").slice(0, 16);
}
