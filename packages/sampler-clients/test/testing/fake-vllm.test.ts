import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embeddedPolicyFolder } from "../../src/index.ts";
import { createFakeVllm, type FakeServer } from "../../src/testing/index.ts";
import { openOracle } from "../conformance/oracle.ts";
import {
  afterSteps,
  column,
  EOS,
  get,
  post,
  PROMPT,
  vllmBody,
  type Answer,
  type Body,
} from "./ask-fake.ts";

const GENERATE = "/inference/v1/generate";
const LONG = { max_tokens: 300, ignore_eos: true, stop_token_ids: [] };

let other: string;
beforeAll(async () => {
  other = await mkdtemp(join(tmpdir(), "other-policy-"));
  await cp(embeddedPolicyFolder, other, { recursive: true });
  const file = join(other, "model.safetensors");
  const bytes = await Bun.file(file).bytes();
  bytes.fill(0, 600_000, 632_000);
  await Bun.write(file, bytes);
});
afterAll(() => rm(other, { recursive: true }));

const generate = (fake: FakeServer, params: Body = {}, top: Body = {}): Promise<Answer> =>
  post(fake, GENERATE, vllmBody(params, top));

describe("a fake vLLM", () => {
  test("child i of n is the single request with seed + i, on both endpoints", async () => {
    const fake = await createFakeVllm();
    const four = await generate(fake, { n: 4, seed: 100, max_tokens: 24 });
    const ids = column(four.at("choices"), "token_ids");
    expect(new Set(ids.map(String)).size).toBeGreaterThan(2);
    const third = await generate(fake, { seed: 102, max_tokens: 24 });
    expect(third.at("choices.0.token_ids")).toEqual(ids[2]);
    const { sampling_params: params, token_ids: prompt } = vllmBody({
      n: 4,
      seed: 100,
      max_tokens: 24,
    });
    const { detokenize: _, ...shared } = params as Body;
    const completions = await post(fake, "/v1/completions", {
      ...shared,
      model: "interlace-embedded",
      prompt,
      stream: false,
      return_token_ids: true,
    });
    expect(column(completions.at("choices"), "token_ids")).toEqual(ids);
    expect(fake.complaints).toEqual([]);
  });

  test("EOS and stop ids stay in ids and logprobs; stop_reason is null for EOS and the id else", async () => {
    const fake = await createFakeVllm();
    const free = await generate(fake, { temperature: 0, max_tokens: 96, stop_token_ids: [] });
    const ids = free.at("choices.0.token_ids") as number[];
    expect(ids.at(-1)).toBe(EOS);
    expect(free.at("choices.0.finish_reason")).toBe("stop");
    expect(free.at("choices.0.stop_reason")).toBeNull();
    const cut = await generate(fake, { temperature: 0, max_tokens: 3, stop_token_ids: [ids[2]!] });
    expect(cut.at("choices.0.token_ids")).toEqual(ids.slice(0, 3));
    expect([cut.at("choices.0.finish_reason"), cut.at("choices.0.stop_reason")]).toEqual([
      "stop",
      ids[2],
    ]);
    const on = await generate(fake, {
      temperature: 0,
      max_tokens: ids.length + 3,
      ignore_eos: true,
      stop_token_ids: [],
    });
    expect(on.at("choices.0.token_ids")).toHaveLength(ids.length + 3);
    expect(on.at("choices.0.finish_reason")).toBe("length");
  });

  test("greedy with n > 1 is refused; a temperature below 0.01 is 0.01", async () => {
    const fake = await createFakeVllm();
    expect((await generate(fake, { temperature: 0, n: 2 })).at("error.message")).toBe(
      "n must be 1 when using greedy sampling, got 2.",
    );
    const cold = await generate(fake, { temperature: 0.001, max_tokens: 16 });
    const greedy = await generate(fake, { temperature: 0, max_tokens: 16 });
    expect(cold.at("choices.0.token_ids")).toEqual(greedy.at("choices.0.token_ids"));
  });

  test("what it was not sent, and what it does not know, is a complaint and a 400", async () => {
    const fake = await createFakeVllm();
    const { top_p: _, ...params } = vllmBody()["sampling_params"] as Body;
    const body = { ...vllmBody(), sampling_params: { ...params, temprature: 1 } };
    const answer = await post(fake, GENERATE, body);
    expect(answer.status).toBe(400);
    expect(fake.complaints).toEqual([
      "Expected only fields that the server knows in sampling_params, seen `temprature`",
      "Expected `top_p` in sampling_params, seen none: a default would decide",
    ]);
    await generate(fake, { min_p: 0.1 });
    expect(fake.complaints.at(-1)).toContain("Expected body.sampling_params.min_p to be 0");
  });

  test("loose, it takes the real defaults: 16 tokens at /v1/completions, the rest of the context else", async () => {
    const fake = await createFakeVllm({ strict: false });
    const short = await post(fake, "/v1/completions", { prompt: PROMPT, ignore_eos: true });
    expect(short.at("usage.completion_tokens")).toBe(16);
    const params = { seed: 1, ignore_eos: true };
    const whole = await post(fake, GENERATE, { token_ids: PROMPT, sampling_params: params });
    expect(whole.at("usage.total_tokens")).toBe(512);
    expect(whole.at("choices.0.logprobs")).toBeNull();
  });

  test("an abort by the server's own id ends it with 200, partial ids and abort; the client's name does nothing", async () => {
    const fake = await createFakeVllm();
    const running = generate(fake, { ...LONG, n: 2 }, { request_id: "a1" });
    await afterSteps(fake, 3);
    await post(fake, "/inference/v1/abort_requests", { request_ids: ["a1"] });
    await afterSteps(fake, 2);
    expect(fake.model.counts().live).toBe(2);
    const path = "/inference/v1/abort_requests";
    await post(fake, path, { request_ids: ["generate-tokens-a1"] });
    const answer = await running;
    expect(answer.status).toBe(200);
    expect(column(answer.at("choices"), "finish_reason")).toEqual(["abort", "abort"]);
    const { length } = answer.at("choices.0.token_ids") as number[];
    expect(length).toBeGreaterThanOrEqual(5);
    expect(length).toBeLessThan(300);
    expect(fake.model.counts()).toMatchObject({ live: 0, waiting: 0 });
  });

  test("paused with keep it freezes what runs, holds what comes, and goes on where it was", async () => {
    const fake = await createFakeVllm();
    const alone = await generate(fake, { ...LONG, max_tokens: 40 });
    const running = generate(fake, { ...LONG, max_tokens: 40 });
    await afterSteps(fake, 3);
    await post(fake, "/pause?mode=keep", {});
    const { steps } = fake.model.counts();
    const held = generate(fake, { max_tokens: 1 });
    for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
    expect(fake.model.counts()).toMatchObject({ steps, live: 1, waiting: 1 });
    expect((await get(fake, "/is_paused")).at("is_paused")).toBe(true);
    expect((await get(fake, "/health")).status).toBe(200);
    await post(fake, "/resume", {});
    expect((await running).at("choices.0.token_ids")).toEqual(alone.at("choices.0.token_ids"));
    expect((await held).status).toBe(200);
  });

  test("paused with abort it ends what runs; with wait it answers when nothing runs", async () => {
    const fake = await createFakeVllm();
    const first = generate(fake, LONG);
    await afterSteps(fake, 2);
    await post(fake, "/pause?mode=abort", {});
    expect((await first).at("choices.0.finish_reason")).toBe("abort");
    await post(fake, "/resume", {});
    const second = generate(fake, { ...LONG, max_tokens: 30 });
    await afterSteps(fake, 2);
    await post(fake, "/pause?mode=wait", {});
    expect(fake.running()).toBe(0);
    expect((await second).at("choices.0.finish_reason")).toBe("length");
  });

  test("weights that change in mid-request give two spans, the second exactly the new model's", async () => {
    const fake = await createFakeVllm();
    const running = generate(fake, { ...LONG, max_tokens: 40 });
    await afterSteps(fake, 4);
    await post(fake, "/pause?mode=keep&clear_cache=true", {});
    const kwargs = { weights_path: other };
    expect((await post(fake, "/collective_rpc", { method: "reload_weights", kwargs })).status).toBe(
      200,
    );
    await post(fake, "/update_weight_version", { new_version: "B" });
    await post(fake, "/resume", {});
    const answer = await running;
    const [a, b] = answer.at("choices.0.weight_versions") as {
      version: string;
      start: number;
      end: number;
    }[];
    expect([a!.version, a!.start, b!.version, b!.end]).toEqual(["default", 0, "B", 40]);
    expect(a!.end).toBe(b!.start);
    const ids = answer.at("choices.0.token_ids") as number[];
    const logprobs = column(answer.at("choices.0.logprobs.content"), "logprob") as number[];
    const settings = { temperature: 1, topP: 1, topK: null };
    const [before, after] = [await openOracle(), await openOracle(other)].map(
      (oracle) => oracle.explain(PROMPT, ids, settings).raw,
    );
    for (const [i, logprob] of logprobs.entries()) {
      const expected = (i < a!.end ? before! : after!)[i]!;
      expect(Math.abs(logprob - expected)).toBeLessThan(2e-4);
    }
  });

  test("a cached prompt that outlives its weights gives wrong logprobs until the cache is reset", async () => {
    const fake = await createFakeVllm();
    const params = { max_tokens: 1, temperature: 1, seed: 3 };
    await generate(fake, params);
    const kwargs = { weights_path: other };
    await post(fake, "/collective_rpc", { method: "reload_weights", kwargs });
    const off = async (): Promise<number> => {
      const answer = await generate(fake, params);
      const ids = answer.at("choices.0.token_ids") as number[];
      const settings = { temperature: 1, topP: 1, topK: null };
      const { raw } = (await openOracle(other)).explain(PROMPT, ids, settings);
      return Math.abs((answer.at("choices.0.logprobs.content.0.logprob") as number) - raw[0]!);
    };
    expect(await off()).toBeGreaterThan(0.01);
    expect((await post(fake, "/reset_prefix_cache", {})).at("success")).toBe(true);
    expect(await off()).toBeLessThan(2e-4);
  });

  test("the cache cannot be reset while something runs", async () => {
    const fake = await createFakeVllm();
    const running = generate(fake, { ...LONG, max_tokens: 30 });
    await afterSteps(fake, 2);
    expect((await post(fake, "/reset_prefix_cache", {})).at("success")).toBe(false);
    await running;
  });

  test("a LoRA is picked by its name, and its name cannot be used twice", async () => {
    const fake = await createFakeVllm();
    const lora = { lora_name: "v2", lora_path: other };
    expect((await post(fake, "/v1/load_lora_adapter", lora)).status).toBe(200);
    expect((await post(fake, "/v1/load_lora_adapter", lora)).at("error.type")).toBe(
      "InvalidUserInput",
    );
    const base = await generate(fake, { max_tokens: 24 });
    const adapted = await generate(fake, { max_tokens: 24 }, { model: "v2" });
    const logprobs = (answer: Answer) => column(answer.at("choices.0.logprobs.content"), "logprob");
    expect(logprobs(adapted)).not.toEqual(logprobs(base));
    expect(column((await get(fake, "/v1/models")).at("data"), "id")).toEqual([
      "interlace-embedded",
      "v2",
    ]);
  });

  test("without dev mode the control plane is not there; without scale-out generate is forbidden", async () => {
    const fake = await createFakeVllm({ devMode: false, scaleOut: false });
    expect((await post(fake, "/pause", {})).status).toBe(404);
    expect((await get(fake, "/weight_info")).status).toBe(404);
    expect((await generate(fake)).at("error.type")).toBe("PermissionDeniedError");
  });

  test("the older release names ids in its entries and tells no versions", async () => {
    const fake = await createFakeVllm({ release: "older" });
    const answer = await generate(fake, { max_tokens: 2 });
    const ids = answer.at("choices.0.token_ids") as number[];
    const tokens = column(answer.at("choices.0.logprobs.content"), "token");
    expect(tokens).toEqual(ids.map((id) => `token_id:${id}`));
    expect(answer.at("choices.0.weight_versions")).toBeUndefined();
  });

  test("its metrics count what runs", async () => {
    const fake = await createFakeVllm();
    const running = generate(fake, { ...LONG, n: 3, max_tokens: 30 });
    await afterSteps(fake, 1);
    expect((await get(fake, "/metrics")).text).toContain(
      'vllm:num_requests_running{engine="0",model_name="interlace-embedded"} 3.0',
    );
    await running;
    expect((await get(fake, "/metrics")).text).toContain(
      'finished_reason="length",model_name="interlace-embedded"} 3.0',
    );
  });
});
