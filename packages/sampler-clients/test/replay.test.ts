import { expect, test } from "bun:test";
import { tokensOf, type Event, type SamplerIdentity } from "@interlace/core";
import { readRequestId, ReplayMiss, replaySampler } from "../src/replay.ts";
import { NEVER, request, sequence } from "./support/requests.ts";

const IDENTITY: SamplerIdentity = {
  kind: "vllm",
  model: "m",
  vocabSize: 576,
  contextLength: 1024,
  logprobKind: "raw",
  honoursSeed: true,
  versionSource: "none",
  weightVersion: null,
};

const PROMPT = tokensOf(Int32Array.of(1, 300, 301));
const mark = ({ length, hash }: { length: number; hash: number }) => ({ length, hash });
const FIRST = { step: 0, question: 3, group: null, turn: 0 };
const SECOND = { step: 0, question: 3, group: 1, turn: 1 };
const EVENTS: readonly Event[] = [
  { type: "sampled", key: FIRST, prompt: mark(PROMPT), sequences: [sequence([5]), sequence([6])] },
  { type: "graded", key: SECOND, grade: { kind: "different", answer: null, by: "native" } },
  { type: "sampled", key: SECOND, prompt: mark(PROMPT), sequences: [sequence([7])] },
];

const ask = (change: object) =>
  request({ id: "s0-q3-gx-t0", prompt: PROMPT, samples: 2, ...change });

test("a recorded request gets exactly its recorded answer, in any order", async () => {
  const sampler = replaySampler(EVENTS, IDENTITY);
  expect(await sampler.identity()).toEqual(IDENTITY);
  expect(await sampler.sample(ask({ id: "s0-q3-g1-t1", samples: 1 }), NEVER)).toEqual([
    sequence([7]),
  ]);
  expect(await sampler.sample(ask({}), NEVER)).toEqual([sequence([5]), sequence([6])]);
});

test("a request that was not recorded shows the nearest one", async () => {
  const misses: ReplayMiss[] = [];
  const sampler = replaySampler(EVENTS, IDENTITY, { onMiss: (miss) => misses.push(miss) });
  expect(sampler.sample(ask({ id: "s0-q3-g1-t2", samples: 1 }), NEVER)).rejects.toThrow(
    "Request 0/3/1/2 (step/question/member/turn) was not recorded; the nearest one is 0/3/1/1, with a prompt of 3 tokens",
  );
  expect(misses.map(({ key }) => key)).toEqual([{ step: 0, question: 3, group: 1, turn: 2 }]);
  expect(replaySampler([], IDENTITY).sample(ask({}), NEVER)).rejects.toThrow("nothing is recorded");
});

test("the same place with another prompt or another number of samples is a miss", async () => {
  const sampler = replaySampler(EVENTS, IDENTITY);
  const other = tokensOf(Int32Array.of(1, 300, 302));
  expect(sampler.sample(ask({ prompt: other }), NEVER)).rejects.toBeInstanceOf(ReplayMiss);
  expect(sampler.sample(ask({ samples: 3 }), NEVER)).rejects.toThrow(
    "asks for 3 samples, recorded were 2",
  );
});

test("an abort rejects", async () => {
  const sampler = replaySampler(EVENTS, IDENTITY);
  expect(sampler.sample(ask({}), AbortSignal.abort(new Error("stop")))).rejects.toThrow("stop");
});

test("request ids name the key", () => {
  expect(readRequestId("s12-q3-gx-t0")).toEqual({ step: 12, question: 3, group: null, turn: 0 });
  expect(readRequestId("s0-q3-g7-t2")).toEqual({ step: 0, question: 3, group: 7, turn: 2 });
  expect(() => readRequestId("handshake")).toThrow(
    "Expected a request id like s0-q3-g1-t2, got handshake",
  );
});
