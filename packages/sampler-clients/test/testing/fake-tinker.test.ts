import { describe, expect, test } from "bun:test";
import { embeddedPolicyFolder } from "../../src/index.ts";
import {
  createFakeTinker,
  type Fault,
  type FakeServer,
  type FakeTinkerOptions,
} from "../../src/testing/index.ts";
import { column, EOS, get, post, tinkerBody, type Answer, type Body } from "./ask-fake.ts";

const API = "/api/v1";

async function open(
  options: FakeTinkerOptions = {},
  weights: Body = { base_model: "interlace-embedded" },
): Promise<{ readonly fake: FakeServer; readonly session: string; readonly sampling: string }> {
  const fake = await createFakeTinker({ protobuf: false, ...options });
  const session = String((await post(fake, `${API}/create_session`, {})).at("session_id"));
  const asked = { session_id: session, ...weights };
  const opened = await post(fake, `${API}/create_sampling_session`, asked);
  return { fake, session, sampling: String(opened.at("sampling_session_id")) };
}

const retrieve = (fake: FakeServer, id: unknown, metadata = true): Promise<Answer> =>
  post(fake, `${API}/retrieve_future`, { request_id: id, allow_metadata_only: metadata });

async function sample(
  fake: FakeServer,
  session: string,
  params: Body = {},
  top: Body = {},
): Promise<Answer> {
  const asked = await post(fake, `${API}/asample`, tinkerBody(session, params, top));
  return retrieve(fake, asked.at("request_id"));
}

const script = (answers: readonly Fault[]): Pick<FakeTinkerOptions, "faults"> => ({
  faults: ({ route, place }) => (route.endsWith("asample") ? (answers[place] ?? null) : null),
});

describe("a fake Tinker service", () => {
  test("sample i draws with seed + i; shared seeds are clones, as reported of the hosted one", async () => {
    const { fake, sampling } = await open();
    const both = await sample(fake, sampling, { max_tokens: 24, seed: 100 });
    const ids = column(both.at("sequences"), "tokens");
    expect(ids[1]).not.toEqual(ids[0]);
    const one = await sample(
      fake,
      sampling,
      { max_tokens: 24, seed: 101 },
      { seq_id: 1, num_samples: 1 },
    );
    expect(one.at("sequences.0.tokens")).toEqual(ids[1]);
    const clones = await open({ seeds: "shared" });
    const same = column((await sample(clones.fake, clones.sampling)).at("sequences"), "tokens");
    expect(same[1]).toEqual(same[0]);
    expect(fake.complaints).toEqual([]);
  });

  test("only the client's stop ids stop", async () => {
    const { fake, sampling } = await open();
    const greedy = { temperature: 0, max_tokens: 96 };
    const stopped = await sample(fake, sampling, greedy);
    const tokens = stopped.at("sequences.0.tokens") as number[];
    expect([tokens.at(-1), stopped.at("sequences.0.stop_reason")]).toEqual([EOS, "stop"]);
    const on = await sample(fake, sampling, { ...greedy, stop: [] }, { seq_id: 1 });
    expect(on.at("sequences.0.tokens")).toHaveLength(96);
    expect(on.at("sequences.0.stop_reason")).toBe("length");
  });

  test("protobuf: the bytes by hand, a 0 left out", async () => {
    const { fake, sampling } = await open({ protobuf: true });
    const params = { temperature: 0, max_tokens: 96, stop: [] };
    const body = tinkerBody(sampling, { ...params, max_tokens: 1 }, { num_samples: 1 });
    const asked = await post(fake, `${API}/asample`, body);
    const request = new Request(`http://fake${API}/retrieve_future`, {
      method: "POST",
      body: JSON.stringify({ request_id: asked.at("request_id"), allow_metadata_only: false }),
    });
    const response = await fake.app.fetch(request);
    expect(response.headers.get("content-type")).toBe("application/x-protobuf");
    const bytes = new Uint8Array(await response.arrayBuffer());
    // sequence (1): 14 bytes = reason (1) LENGTH 1, tokens (2) 4 bytes, logprobs (3) 4 bytes
    expect([...bytes.subarray(0, 6)]).toEqual([0x0a, 14, 0x08, 1, 0x12, 4]);
    expect([...bytes.subarray(10, 12)]).toEqual([0x1a, 4]);
    expect(bytes.length).toBe(16);
    const view = new DataView(bytes.buffer);
    expect(view.getInt32(6, true)).toBeWithin(0, 512);
    expect(view.getFloat32(12, true)).toBeLessThan(0);
  });

  test("a future plays its script, one answer per call, and then gives the samples again and again", async () => {
    const fault = {
      type: "future",
      answers: ["try_again", "paused_capacity", 408, 429, 400, 500, "complete_metadata"],
    } as const;
    const { fake, sampling } = await open(script([fault]));
    const asked = await post(fake, `${API}/asample`, tinkerBody(sampling));
    const id = asked.at("request_id");
    expect((await retrieve(fake, id)).at("queue_state")).toBe("active");
    expect((await retrieve(fake, id)).at("queue_state")).toBe("paused_capacity");
    for (const status of [408, 429, 400, 500]) {
      expect((await retrieve(fake, id)).status).toBe(status);
    }
    const metadata = await retrieve(fake, id);
    expect(metadata.at("status")).toBe("complete_metadata");
    const first = await retrieve(fake, id, false);
    expect(metadata.at("response_payload_size")).toBe(first.text.length);
    expect((await retrieve(fake, id, false)).text).toBe(first.text);
  });

  test("a lost future is 410 and then 404; the same sequence id again is sampled again", async () => {
    const { fake, sampling } = await open(script([{ type: "future", answers: [410] }]));
    const submit = () => post(fake, `${API}/asample`, tinkerBody(sampling));
    const id = (await submit()).at("request_id");
    expect((await retrieve(fake, id)).status).toBe(410);
    expect((await retrieve(fake, id)).status).toBe(404);
    const again = (await submit()).at("request_id");
    expect(again).not.toBe(id);
    expect((await retrieve(fake, again)).at("sequences")).toHaveLength(2);
    expect((await submit()).at("request_id")).toBe(again);
  });

  test("back-pressure holds one sequence id back so many times", async () => {
    const fault = { type: "backpressure", times: 2 } as const;
    const { fake, sampling } = await open({ faults: () => fault });
    const statuses = [];
    for (let i = 0; i < 4; i++) {
      statuses.push((await post(fake, `${API}/asample`, tinkerBody(sampling))).status);
    }
    expect(statuses).toEqual([429, 429, 200, 200]);
  });

  test("failed futures name who is to blame", async () => {
    const { fake, sampling } = await open(
      script([
        { type: "future", answers: ["error_user"] },
        { type: "future", answers: ["error_server"] },
      ]),
    );
    const categories = [];
    for (const seq_id of [0, 1]) {
      categories.push((await sample(fake, sampling, {}, { seq_id })).at("category"));
    }
    expect(categories).toEqual(["user", "server"]);
  });

  test("an id outside the vocabulary is taken, and its future is a 500 in plain text", async () => {
    const { fake, sampling } = await open();
    const prompt = { chunks: [{ type: "encoded_text", tokens: [5, 512] }] };
    const answer = await sample(fake, sampling, {}, { prompt });
    expect([answer.status, answer.text]).toEqual([500, "Internal Server Error"]);
  });

  test("a sampling session keeps its weights, and tells where they came from", async () => {
    const { fake, session, sampling } = await open();
    const path = `tinker://${embeddedPolicyFolder}`;
    const asked = { session_id: session, model_path: path };
    const second = await post(fake, `${API}/create_sampling_session`, asked);
    const id = String(second.at("sampling_session_id"));
    expect((await get(fake, `${API}/samplers/${id}`)).at("model_path")).toBe(path);
    const [a, b] = [await sample(fake, sampling), await sample(fake, id)];
    expect(b.at("sequences")).toEqual(a.at("sequences"));
    const nowhere = { session_id: session, model_path: "tinker:///nowhere" };
    expect((await post(fake, `${API}/create_sampling_session`, nowhere)).status).toBe(404);
  });

  test("sessions and keys that it does not know are refused", async () => {
    const { fake } = await open();
    expect((await post(fake, `${API}/asample`, tinkerBody("nobody"))).status).toBe(404);
    expect((await post(fake, `${API}/session_heartbeat`, { session_id: "x" })).status).toBe(404);
    const locked = await createFakeTinker({ apiKey: "key" });
    expect((await get(locked, `${API}/healthz`)).status).toBe(401);
  });
});
