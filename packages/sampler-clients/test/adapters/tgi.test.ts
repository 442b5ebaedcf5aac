/** The text bridge: a prompt is sampled from only when the server reads its text back as the same ids. */
import { expect, test } from "bun:test";
import { tokensOf } from "@interlace/core";
import { connectTgi } from "../../src/adapters/tgi.ts";
import type { Call, Http, Reply } from "../../src/http.ts";
import { sleep } from "../../src/link-signal.ts";
import type { Server } from "../../src/server.ts";
import { NEVER, request } from "../support/requests.ts";

/** One letter per id, `a` = 1; the server's tokenizer may put a BOS in front or merge letters. */
const codec = {
  decode: (ids: Int32Array) => [...ids].map((id) => String.fromCharCode(96 + id)).join(""),
};

const ANSWER = {
  generated_text: "xy",
  details: {
    finish_reason: "length",
    generated_tokens: 2,
    seed: 7,
    prefill: [],
    tokens: [
      { id: 24, text: "x", logprob: -0.5, special: false },
      { id: 25, text: "y", logprob: -1, special: false },
    ],
  },
};

function scripted(
  tokenize: (text: string) => readonly number[],
  promptTokens: string | null = null,
) {
  const calls: { path: string; body: { inputs?: string } }[] = [];
  const send = (call: Call): Promise<Reply> => {
    const body = JSON.parse(call.body ?? "{}") as { inputs?: string };
    calls.push({ path: call.path, body });
    const given =
      call.path === "/info"
        ? { model_id: "m", max_total_tokens: 2048, max_input_tokens: 1024 }
        : call.path === "/tokenize"
          ? tokenize(body.inputs ?? "").map((id) => ({ id, text: "", start: 0, stop: 0 }))
          : ANSWER;
    return Promise.resolve({
      ok: true,
      status: 200,
      contentType: "application/json",
      afterMs: null,
      header: (name) => (name === "x-prompt-tokens" ? promptTokens : null),
      bytes: new TextEncoder().encode(JSON.stringify(given)),
    });
  };
  const http: Http = { url: "http://tgi", send };
  return { http, calls };
}

async function connected(http: Http): Promise<Server> {
  const server = await connectTgi(http, { model: null, codec, sleep }, NEVER);
  if ("cause" in server) throw new Error(server.detail);
  return server;
}

const letters = (text: string): number[] => [...text].map((letter) => letter.charCodeAt(0) - 96);
const asked = (ids: readonly number[], change = {}) =>
  request({ prompt: tokensOf(Int32Array.from(ids)), ...change });

test("the same ids: the text is sent, one sample per request", async () => {
  const { http, calls } = scripted(letters);
  const server = await connected(http);
  expect(server.facts).toMatchObject({ model: "m", contextLength: 2048, stops: "cut" });
  expect(server.atOnce(request())).toBe(1);
  const raws = await server.sample(asked([1, 2, 3]), "w", NEVER);
  expect(raws).toMatchObject([
    { ok: true, ids: [24, 25], logprobs: [-0.5, -1], finish: "length", text: "xy" },
  ]);
  expect(calls.map(({ path, body }) => [path, body.inputs])).toEqual([
    ["/info", undefined],
    ["/tokenize", "abc"],
    ["/generate", "abc"],
  ]);
});

test("siblings share one round trip of their prompt", async () => {
  const { http, calls } = scripted(letters);
  const server = await connected(http);
  const one = asked([1, 2, 3]);
  await Promise.all([0, 1, 2].map((at) => server.sample({ ...one, seed: at }, "w", NEVER)));
  expect(calls.filter(({ path }) => path === "/tokenize").length).toBe(1);
  expect(calls.filter(({ path }) => path === "/generate").length).toBe(3);
});

test("a prompt that begins with the BOS which the server adds is sent without its text", async () => {
  const { http, calls } = scripted((text) => [9, ...letters(text)]);
  const server = await connected(http);
  expect(await server.sample(asked([9, 1, 2]), "w", NEVER)).toMatchObject([{ ok: true }]);
  expect(calls.at(-1)).toEqual({
    path: "/generate",
    body: { inputs: "ab", parameters: expect.anything() as object } as never,
  });
});

test("other ids are drift, and nothing is sampled", async () => {
  // The server's tokenizer merges `ab` into one id.
  const { http, calls } = scripted((text) =>
    text.startsWith("ab") ? [30, ...letters(text.slice(2))] : letters(text),
  );
  const server = await connected(http);
  expect(await server.sample(asked([1, 2, 3]), "w", NEVER)).toMatchObject({
    ok: false,
    cause: "drift",
    again: "never",
    detail: "The prompt's text does not read back as its ids: place 0, expected 1, got 30",
  });
  expect(calls.some(({ path }) => path === "/generate")).toBe(false);
});

test("a BOS that the prompt does not have is drift", async () => {
  const { http } = scripted((text) => [9, ...letters(text)]);
  const server = await connected(http);
  expect(await server.sample(asked([1, 2]), "w", NEVER)).toMatchObject({ cause: "drift" });
});

test("past 1,024 tokens the server would re-encode its own text: refused", async () => {
  const { http, calls } = scripted(letters);
  const server = await connected(http);
  expect(await server.sample(asked([1], { maxTokens: 1025 }), "w", NEVER)).toMatchObject({
    cause: "refused",
  });
  expect(calls.length).toBe(1);
});

test("the prompt's length in the answer's header is handed on", async () => {
  const { http } = scripted(letters, "2");
  const server = await connected(http);
  expect(await server.sample(asked([1, 2, 3]), "w", NEVER)).toMatchObject([
    { prompt: { length: 2 } },
  ]);
});

test("an abort of one sibling does not fail the round trip of the others", async () => {
  const { http } = scripted(letters);
  let first = true;
  const slow: Http = {
    url: http.url,
    send: (call, signal) => {
      if (call.path !== "/tokenize" || !first) return http.send(call, signal);
      first = false;
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error));
      });
    },
  };
  const server = await connected(slow);
  const controller = new AbortController();
  const one = asked([1, 2, 3]);
  const aborted = server.sample(one, "w", controller.signal);
  const sibling = server.sample(one, "w", NEVER);
  controller.abort(new Error("enough"));
  expect(aborted).rejects.toThrow("enough");
  expect(await sibling).toMatchObject([{ ok: true }]);
});

test("without a tokenizer it is refused at once", async () => {
  const { http } = scripted(letters);
  expect(await connectTgi(http, { model: null, codec: null, sleep }, NEVER)).toMatchObject({
    cause: "refused",
    detail: "TGI takes text only: name the model's tokenizer (--tokenizer)",
  });
});
