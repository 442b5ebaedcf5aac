/** New weights at running servers: which calls, in which order, and what happens to requests meanwhile. */
import { describe, expect, test } from "bun:test";
import { weightVersion } from "@interlace/core";
import { connectServer } from "../src/connect.ts";
import type { Call, Http, Reply } from "../src/http.ts";
import { sleep } from "../src/link-signal.ts";
import { rawFailure, sampledBy } from "../src/raw-sample.ts";
import type { SamplerKind, Server } from "../src/server.ts";
import { feedWeights, type FeedOptions } from "../src/weight-feed.ts";
import { limitRequests } from "../src/wrappers/limit.ts";
import { held, NEVER, request, settle } from "./support/requests.ts";

/** A server that answers every call with JSON of the script, or with 404; the calls are kept. */
function scriptedHttp(
  answers: Readonly<Record<string, object>>,
): Http & { readonly calls: string[] } {
  const calls: string[] = [];
  const send = (call: Call): Promise<Reply> => {
    const route = `${call.method} ${call.path}`;
    calls.push(call.body === undefined ? route : `${route} ${call.body}`);
    const body = answers[route];
    return Promise.resolve({
      ok: true,
      status: body === undefined ? 404 : 200,
      contentType: "application/json",
      afterMs: null,
      header: () => null,
      bytes: new TextEncoder().encode(JSON.stringify(body ?? { detail: "Not Found" })),
    });
  };
  return { url: "http://scripted", send, calls };
}

const VLLM = {
  "GET /v1/models": { data: [{ id: "m" }] },
  "GET /weight_info": { weight_version: "default" },
  "POST /collective_rpc": { results: [null] },
  "POST /update_weight_version": { success: true },
  "POST /reset_prefix_cache": { success: true },
  "POST /pause?mode=keep&clear_cache=true": { status: "paused" },
  "POST /resume": { status: "resumed" },
  "POST /v1/load_lora_adapter": {},
};

const SGLANG = {
  "GET /v1/models": { data: [{ id: "m" }] },
  "GET /model_info": { weight_version: "default" },
  "POST /update_weights_from_disk": { success: true },
  "POST /pause_generation": { status: "ok" },
  "POST /continue_generation": { status: "ok" },
  "POST /load_lora_adapter": { success: true },
};

const V2 = weightVersion("v2");

async function connected(kind: SamplerKind, http: Http): Promise<Server> {
  const server = await connectServer(kind, http, { model: null, codec: null, sleep }, NEVER);
  if ("cause" in server) throw new Error(server.detail);
  return server;
}

async function opened(
  kind: SamplerKind,
  answers: Readonly<Record<string, object>>,
  change: Partial<FeedOptions>,
) {
  const http = scriptedHttp(answers);
  const server = await connected(kind, http);
  http.calls.length = 0;
  const backend = held();
  const limited = limitRequests(backend, { limit: () => 8, sampleMs: 60_000 });
  const options: FeedOptions = {
    mode: "drain",
    form: "full",
    first: weightVersion("v1"),
    ...change,
  };
  const feed = feedWeights([{ url: http.url, server, limited }], options)!;
  return { http, server, backend, limited, feed };
}

const posts = (calls: readonly string[]): string[] =>
  calls.map((call) => call.slice("POST ".length));

describe("vLLM", () => {
  test("drained: load, name the version, drop the old KV", async () => {
    const { http, feed } = await opened("vllm", VLLM, {});
    await feed.announce(V2, "/weights/2", NEVER);
    expect(posts(http.calls)).toEqual([
      '/collective_rpc {"method":"reload_weights","kwargs":{"weights_path":"/weights/2"}}',
      '/update_weight_version {"new_version":"v2"}',
      "/reset_prefix_cache {}",
    ]);
    expect(feed.current()).toBe(V2);
  });
  test("overlapping: frozen with the cache cleared, and resumed whatever happens", async () => {
    const { http, feed } = await opened("vllm", VLLM, { mode: "overlap" });
    await feed.announce(V2, "/weights/2", NEVER);
    expect(posts(http.calls).map((call) => call.split(" ")[0]!)).toEqual([
      "/pause?mode=keep&clear_cache=true",
      "/collective_rpc",
      "/update_weight_version",
      "/resume",
    ]);
    const { "POST /collective_rpc": _, ...without } = VLLM;
    const broken = await opened("vllm", without, { mode: "overlap" });
    expect(broken.feed.announce(V2, "/weights/2", NEVER)).rejects.toThrow(
      "Weights v2 could not be loaded by 1 of 1 servers",
    );
    await settle();
    expect(broken.http.calls.at(-1)).toBe("POST /resume {}");
    expect(broken.feed.current()).toBe(weightVersion("v1"));
  });
  test("a cache that cannot be dropped would give wrong logprobs: an error", async () => {
    const stuck = { ...VLLM, "POST /reset_prefix_cache": { success: false } };
    const { feed } = await opened("vllm", stuck, {});
    expect(feed.announce(V2, "/weights/2", NEVER)).rejects.toThrow(
      "something else samples from this server",
    );
  });
  test("without dev mode the error says how to start it", async () => {
    const { feed } = await opened("vllm", { "GET /v1/models": VLLM["GET /v1/models"] }, {});
    expect(feed.announce(V2, "/weights/2", NEVER)).rejects.toThrow(
      "vLLM needs VLLM_SERVER_DEV_MODE=1",
    );
  });
  test("a LoRA is loaded under a new name, which new requests then use", async () => {
    const { http, feed, server } = await opened("vllm", VLLM, { form: "lora" });
    await feed.announce(V2, "/loras/2", NEVER);
    expect(posts(http.calls)).toEqual([
      '/v1/load_lora_adapter {"lora_name":"v2","lora_path":"/loras/2"}',
    ]);
    await server.sample(request(), "w", NEVER);
    expect(http.calls.at(-1)).toContain('"model":"v2"');
  });
});

describe("SGLang", () => {
  test("never aborts what is in flight, and drops the old KV", async () => {
    const { http, feed } = await opened("sglang", SGLANG, {});
    await feed.announce(V2, "/weights/2", NEVER);
    expect(posts(http.calls)).toEqual([
      '/update_weights_from_disk {"model_path":"/weights/2","weight_version":"v2","abort_all_requests":false,"flush_cache":true}',
    ]);
  });
  test("overlapping: running requests are retracted for the change", async () => {
    const { http, feed } = await opened("sglang", SGLANG, { mode: "overlap" });
    await feed.announce(V2, "/weights/2", NEVER);
    expect(posts(http.calls).map((call) => call.split(" ")[0]!)).toEqual([
      "/pause_generation",
      "/update_weights_from_disk",
      "/continue_generation",
    ]);
    expect(http.calls[0]).toContain('{"mode":"retract"}');
  });
});

test.each([
  ["vllm", VLLM, "/collective_rpc", "/resume"],
  ["sglang", SGLANG, "/update_weights_from_disk", "/continue_generation"],
] as const)(
  "%s: an abort in the middle of a change does not leave the server paused",
  async (kind, answers, load, undo) => {
    const stop = new AbortController();
    const scripted = scriptedHttp(answers);
    const http: Http = {
      ...scripted,
      send(call, signal) {
        signal.throwIfAborted();
        if (call.path === load) stop.abort(new Error("enough"));
        signal.throwIfAborted();
        return scripted.send(call, signal);
      },
    };
    const server = await connected(kind, http);
    const change = { version: V2, location: "/weights/2", form: "full", busy: true } as const;
    const error: unknown = await server.updateWeights!(change, stop.signal).catch(
      (e: unknown) => e,
    );
    expect(error).toEqual(new Error("enough"));
    expect(scripted.calls.at(-1)).toBe(`POST ${undo} {}`);
  },
);

test("what a LoRA sampled is told by the LoRA's name, whatever the server calls its base", () => {
  const raw = {
    ok: true,
    index: 0,
    ids: [1, 2, 3],
    logprobs: [-1, -1, -1],
    entryIds: null,
    finish: "stop",
    versions: [{ version: "default", start: 0, end: 3 }],
    text: null,
    prompt: { ids: null, length: null },
  } as const;
  const failed = rawFailure(1, "server_error", "broken");
  expect(sampledBy([raw, failed], "v2")).toEqual([
    { ...raw, versions: [{ version: "v2", start: 0, end: 3 }] },
    failed,
  ]);
  expect(sampledBy([raw], null)).toEqual([raw]);
});

test("drain waits for what is in flight, and nothing starts until the weights are there", async () => {
  const { http, feed, limited, backend } = await opened("vllm", VLLM, {});
  const running = limited.sample(request({ id: "a" }), NEVER);
  await settle();
  const announced = feed.announce(V2, "/weights/2", NEVER);
  const waiting = limited.sample(request({ id: "b" }), NEVER);
  await settle();
  expect([backend.started.length, http.calls.length]).toEqual([1, 0]);
  backend.release();
  await Promise.all([running, announced]);
  await settle();
  expect([backend.started.map(({ id }) => id), feed.current()]).toEqual([["a", "b"], V2]);
  backend.release();
  await waiting;
});

test("two announcements are carried out one after the other", async () => {
  const { http, feed } = await opened("vllm", VLLM, {});
  const v3 = weightVersion("v3");
  await Promise.all([
    feed.announce(V2, "/weights/2", NEVER),
    feed.announce(v3, "/weights/3", NEVER),
  ]);
  const versions = http.calls.filter((call) => call.includes("/update_weight_version"));
  expect(versions).toEqual([
    'POST /update_weight_version {"new_version":"v2"}',
    'POST /update_weight_version {"new_version":"v3"}',
  ]);
  expect(feed.current()).toBe(v3);
});

test("an announcement that fails opens the gate again", async () => {
  const { feed, limited, backend } = await opened(
    "vllm",
    { "GET /v1/models": VLLM["GET /v1/models"] },
    {},
  );
  await feed.announce(V2, "/weights/2", NEVER).catch(() => {});
  const next = limited.sample(request(), NEVER);
  await settle();
  backend.release();
  expect((await next).ok).toBe(true);
});
