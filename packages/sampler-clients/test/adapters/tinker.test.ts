/** The steps of Tinker's protocol, played by a script: none of them draws a sample twice. */
import { describe, expect, test } from "bun:test";
import { weightVersion } from "@interlace/core";
import { connectTinker } from "../../src/adapters/tinker.ts";
import type { Call, Http, Reply } from "../../src/http.ts";
import type { Server } from "../../src/server.ts";
import { trouble, type Trouble } from "../../src/trouble.ts";
import { NEVER, request } from "../support/requests.ts";

type Step =
  { readonly status?: number; readonly body?: object; readonly bytes?: Uint8Array } | Trouble;

const FUTURE = { body: { request_id: "1" } };
const SAMPLES = {
  body: { sequences: [{ stop_reason: "stop", tokens: [5, 2], logprobs: [-1, -2] }] },
};

/** Session calls always answer; `asample` and `retrieve_future` follow their scripts. */
function scripted(asample: readonly Step[], retrieve: readonly Step[]) {
  const calls: { path: string; body: Record<string, unknown>; accept: string | undefined }[] = [];
  const waits: number[] = [];
  let sessions = 0;
  const at = { asample: 0, retrieve: 0 };
  function step(path: string): Step {
    if (path.endsWith("get_server_capabilities")) {
      return { body: { supported_models: [{ model_name: "base", max_context_length: 4096 }] } };
    }
    if (path.endsWith("create_session")) return { body: { session_id: "session" } };
    if (path.endsWith("create_sampling_session")) {
      sessions += 1;
      return { body: { sampling_session_id: `sampling-${sessions}` } };
    }
    if (path.endsWith("asample")) return asample[at.asample++] ?? FUTURE;
    return retrieve[at.retrieve++] ?? SAMPLES;
  }
  function send(call: Call): Promise<Reply | Trouble> {
    const body = JSON.parse(call.body ?? "{}") as Record<string, unknown>;
    calls.push({ path: call.path.replace("/api/v1/", ""), body, accept: call.headers?.["accept"] });
    const next = step(call.path);
    if ("cause" in next) return Promise.resolve(next);
    const bytes = next.bytes ?? new TextEncoder().encode(JSON.stringify(next.body ?? {}));
    const contentType = next.bytes ? "application/x-protobuf" : "application/json";
    return Promise.resolve({
      ok: true,
      status: next.status ?? 200,
      contentType,
      afterMs: null,
      header: () => null,
      bytes,
    });
  }
  const http: Http = { url: "http://tinker", send };
  const sleep = (ms: number): Promise<void> => {
    waits.push(ms);
    return Promise.resolve();
  };
  return { http, calls, waits, sleep };
}

async function connected(script: ReturnType<typeof scripted>): Promise<Server> {
  const options = { model: null, codec: null, sleep: script.sleep };
  const server = await connectTinker(script.http, options, NEVER);
  if ("cause" in server) throw new Error(server.detail);
  return server;
}

async function sampled(asample: readonly Step[], retrieve: readonly Step[]) {
  const script = scripted(asample, retrieve);
  const server = await connected(script);
  const raws = await server.sample(request(), "w", NEVER);
  await server.close();
  const sent = script.calls.filter(({ path }) => path === "asample");
  const asked = script.calls.filter(({ path }) => path === "retrieve_future");
  return { raws, sent, asked, waits: script.waits };
}

const GOOD = [
  {
    ok: true,
    ids: [5, 2],
    logprobs: [-1, -2],
    finish: "stop",
    versions: [{ version: "base", start: 0, end: 2 }],
  },
];

test("a sample is asked for in protobuf and JSON, and names its session as the version", async () => {
  const { raws, sent, asked } = await sampled([], []);
  expect(raws).toMatchObject(GOOD);
  expect(sent.map(({ body }) => [body["sampling_session_id"], body["seq_id"]])).toEqual([
    ["sampling-1", 0],
  ]);
  expect(asked.map(({ accept }) => accept)).toEqual(["application/x-protobuf, application/json"]);
});

test("protobuf is read as JSON is", async () => {
  const bytes = Uint8Array.fromHex("0a14120805000000020000001a08000080bf000000c0");
  const { raws } = await sampled([], [{ bytes }]);
  if (!Array.isArray(raws)) throw new Error("no samples");
  expect(raws).toMatchObject([{ ok: true, finish: "stop" }]);
  expect([...(raws[0] as { ids: Int32Array }).ids]).toEqual([5, 2]);
});

test("429: wait, then the same sequence id", async () => {
  const { raws, sent, waits } = await sampled([{ status: 429 }, { status: 429 }], []);
  expect(raws).toMatchObject(GOOD);
  expect(sent.map(({ body }) => body["seq_id"])).toEqual([0, 0, 0]);
  expect(waits).toEqual([1_000, 1_000]);
});

test("not ready, 408, a proxy's 400, a 5xx and a broken wire: the same future is asked again", async () => {
  const broken = trouble("server_error", "reset", { again: "yes" });
  const steps = [
    { body: { type: "try_again", queue_state: "active" } },
    { status: 408, body: { queue_state: "active" } },
    { status: 400 },
    { body: { type: "try_again", queue_state: "paused_capacity" } },
    { status: 503 },
    broken,
  ];
  const { raws, sent, asked, waits } = await sampled([], steps);
  expect(raws).toMatchObject(GOOD);
  expect(sent.length).toBe(1);
  expect(asked.map(({ body }) => body["request_id"])).toEqual(["1", "1", "1", "1", "1", "1", "1"]);
  expect(waits).toEqual([50, 1_000, 1_000, 1_000, 1_000]);
});

test("a large answer is fetched in a second call", async () => {
  const { raws, asked } = await sampled(
    [],
    [{ body: { status: "complete_metadata", response_payload_size: 9 } }],
  );
  expect(raws).toMatchObject(GOOD);
  expect(asked.map(({ body }) => body["allow_metadata_only"])).toEqual([true, false]);
});

test("410: the future is gone, so the original is submitted under its own sequence id", async () => {
  const { raws, sent } = await sampled([], [{ status: 410 }]);
  expect(raws).toMatchObject(GOOD);
  expect(sent.map(({ body }) => body["seq_id"])).toEqual([0, 0]);
});

describe("ends", () => {
  test("a failed request keeps the service's words; a user's fault is a refusal", async () => {
    const failed = (category: string) => ({ body: { error: "no", category } });
    expect((await sampled([], [failed("server")])).raws).toMatchObject({
      cause: "server_error",
      again: "never",
    });
    expect((await sampled([], [failed("user")])).raws).toMatchObject({
      cause: "refused",
      again: "never",
    });
  });
  test("patience with one future ends", async () => {
    const bad = Array.from({ length: 9 }, () => ({ status: 400, body: { detail: "bad" } }));
    const { raws, asked } = await sampled([], bad);
    expect(raws).toMatchObject({ cause: "refused" });
    expect(asked.length).toBe(4);
    const gone = Array.from({ length: 9 }, () => ({ status: 410 }));
    expect((await sampled([], gone)).raws).toMatchObject({ cause: "server_error", again: "never" });
  });
  test("402 and 404 are refusals", async () => {
    expect((await sampled([{ status: 402 }], [])).raws).toMatchObject({
      cause: "refused",
      again: "never",
    });
    expect((await sampled([], [{ status: 404 }])).raws).toMatchObject({ cause: "refused" });
  });
  test("without logprobs a sequence is nothing to train on", async () => {
    const step = { body: { sequences: [{ stop_reason: "stop", tokens: [5] }] } };
    expect((await sampled([], [step])).raws).toMatchObject([
      { ok: false, cause: "invalid_logprobs" },
    ]);
  });
});

test("new weights are a new sampling session; a sample in flight stays with the old one", async () => {
  const script = scripted([], []);
  const server = await connected(script);
  const v2 = weightVersion("v2");
  const update = { version: v2, location: "tinker://w/2", form: "full", busy: true } as const;
  expect(await server.updateWeights!(update, NEVER)).toBeNull();
  const raws = await server.sample(request(), "w", NEVER);
  await server.close();
  expect(raws).toMatchObject([{ versions: [{ version: "v2" }] }]);
  const opened = script.calls.filter(({ path }) => path === "create_sampling_session");
  expect(
    opened.map(({ body }) => [
      body["sampling_session_seq_id"],
      body["base_model"],
      body["model_path"],
    ]),
  ).toEqual([
    [0, "base", undefined],
    [1, undefined, "tinker://w/2"],
  ]);
  expect(script.calls.at(-2)!.body["sampling_session_id"]).toBe("sampling-2");
});
