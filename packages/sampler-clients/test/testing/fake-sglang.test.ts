import { describe, expect, test } from "bun:test";
import { embeddedPolicyFolder } from "../../src/index.ts";
import { createFakeSglang, serveFake, type Fault } from "../../src/testing/index.ts";
import { afterSteps, column, EOS, get, post, PROMPT, sglangBody, type Answer } from "./ask-fake.ts";

const LONG = { max_new_tokens: 300, ignore_eos: true };

const finish = (answer: Answer): unknown => answer.at("meta_info.finish_reason");

describe("a fake SGLang", () => {
  test("a batch is an array with the ids it was given; one prompt is an object", async () => {
    const fake = await createFakeSglang();
    const batch = sglangBody({}, { input_ids: [PROMPT, PROMPT], rid: ["g-00000", "g-00001"] });
    const answer = await post(fake, "/generate", batch);
    expect([answer.at("0.meta_info.id"), answer.at("1.meta_info.id")]).toEqual([
      "g-00000",
      "g-00001",
    ]);
    expect(answer.at("1.prompt_token_ids")).toEqual([...PROMPT]);
    expect((await post(fake, "/generate", sglangBody())).at("meta_info.id")).toBe("rid-00001");
    expect(fake.complaints).toEqual([]);
  });

  test("seeds count only when it is deterministic; then 42 is everybody's default, n in one item shares it", async () => {
    const ids = async (deterministic: boolean, seed: number | null): Promise<unknown[]> => {
      const fake = await createFakeSglang({ deterministic, strict: false });
      const body = sglangBody({ max_new_tokens: 24, sampling_seed: seed, n: 3 });
      return column(JSON.parse((await post(fake, "/generate", body)).text), "output_ids");
    };
    const shared = await ids(true, 7);
    expect(shared[1]).toEqual(shared[0]);
    expect(await ids(true, 7)).toEqual(shared);
    expect(await ids(true, null)).toEqual(await ids(true, 42));
    const free = await ids(false, 7);
    expect(new Set(free.map(String)).size).toBe(3);
  });

  test("an unknown sampling key fails the request with a string under error", async () => {
    const fake = await createFakeSglang();
    const answer = await post(fake, "/generate", sglangBody({ seed: 7 }));
    expect([answer.status, String(answer.at("error"))]).toEqual([
      400,
      expect.stringMatching(
        /^unknown field `seed`, expected one of `max_new_tokens`/,
      ) as unknown as string,
    ]);
  });

  test("how it ends: matched id, also at the limit; length with the limit; ignore_eos stops nothing", async () => {
    const fake = await createFakeSglang({ deterministic: true });
    const greedy = { temperature: 0, max_new_tokens: 96 };
    const whole = await post(fake, "/generate", sglangBody(greedy));
    const ids = whole.at("output_ids") as number[];
    expect(finish(whole)).toEqual({ type: "stop", matched: EOS });
    const limit = await post(
      fake,
      "/generate",
      sglangBody({ ...greedy, max_new_tokens: ids.length }),
    );
    expect(finish(limit)).toEqual({ type: "stop", matched: EOS });
    const cut = await post(fake, "/generate", sglangBody({ ...greedy, max_new_tokens: 3 }));
    expect(finish(cut)).toEqual({ type: "length", length: 3 });
    const on = {
      ...greedy,
      max_new_tokens: ids.length + 2,
      ignore_eos: true,
      stop_token_ids: [EOS],
    };
    const past = await post(fake, "/generate", sglangBody(on));
    expect(past.at("output_ids")).toHaveLength(ids.length + 2);
    const none = await post(fake, "/generate", sglangBody({ max_new_tokens: 0 }));
    expect([none.at("output_ids"), none.at("meta_info.output_token_logprobs")]).toEqual([[], []]);
  });

  test("an abort matches by prefix, so rid-1 also ends rid-10; an unknown id is 200", async () => {
    const fake = await createFakeSglang();
    const rids = ["rid-1", "rid-10", "other"];
    const body = sglangBody(LONG, { input_ids: rids.map(() => PROMPT), rid: rids });
    const running = post(fake, "/generate", body);
    await afterSteps(fake, 3);
    expect((await post(fake, "/abort_request", { rid: "nobody" })).status).toBe(200);
    await post(fake, "/abort_request", { rid: "rid-1", abort_all: false });
    await afterSteps(fake, 2);
    expect(fake.model.counts().live).toBe(1);
    await post(fake, "/abort_request", { abort_all: true });
    const answer = await running;
    const ends = [0, 1, 2].map((i) => answer.at(`${i}.meta_info.finish_reason.type`));
    expect(ends).toEqual(["abort", "abort", "abort"]);
    const [first, last] = [answer.at("0.output_ids"), answer.at("2.output_ids")] as number[][];
    expect(first!.length).toBeLessThan(last!.length);
  });

  test("the same rid twice at once is refused", async () => {
    const fake = await createFakeSglang();
    const running = post(fake, "/generate", sglangBody({ ...LONG, max_new_tokens: 30 }));
    await afterSteps(fake, 1);
    const twice = await post(fake, "/generate", sglangBody());
    expect(twice.at("error.message")).toBe("Duplicate request ID detected: rid-00001");
    expect((await running).status).toBe(200);
  });

  test("a prompt id outside the vocabulary kills the server: no answer, now and later", async () => {
    const fake = await createFakeSglang();
    await using served = await serveFake(fake.app);
    const send = async (input_ids: number[]): Promise<string> => {
      const body = JSON.stringify(sglangBody({}, { input_ids }));
      return fetch(`${served.url}/generate`, { method: "POST", body }).then(
        (response) => `answered ${response.status}`,
        () => "no answer",
      );
    };
    expect(await send([5, 6])).toBe("answered 200");
    expect(await send([5, 512])).toBe("no answer");
    expect(await send([5, 6])).toBe("no answer");
  });

  test("a new version's name aborts everything unless told not to; then there are two spans", async () => {
    const fake = await createFakeSglang();
    const first = post(fake, "/generate", sglangBody(LONG));
    await afterSteps(fake, 2);
    await post(fake, "/update_weight_version", { new_version: "v1" });
    expect(finish(await first)).toMatchObject({ type: "abort", message: "Aborted" });
    const second = post(fake, "/generate", sglangBody({ ...LONG, max_new_tokens: 20 }));
    await afterSteps(fake, 4);
    await post(fake, "/update_weight_version", { new_version: "v2", abort_all_requests: false });
    const spans = (await second).at("meta_info.weight_versions") as {
      version: string;
      end: number;
    }[];
    expect(spans.map(({ version }) => version)).toEqual(["v1", "v2"]);
    expect(spans[1]!.end).toBe(20);
    expect((await get(fake, "/model_info")).at("weight_version")).toBe("v2");
    expect((await get(fake, "/weight_version")).status).toBe(404);
  });

  test("weights from disk wait for what runs, unless it is paused", async () => {
    const fake = await createFakeSglang();
    const update = {
      model_path: embeddedPolicyFolder,
      weight_version: "B",
      abort_all_requests: false,
    };
    const running = post(fake, "/generate", sglangBody({ ...LONG, max_new_tokens: 20 }));
    await afterSteps(fake, 2);
    await post(fake, "/update_weights_from_disk", update);
    expect(fake.running()).toBe(0);
    expect(column((await running).at("meta_info.weight_versions"), "version")).toEqual(["default"]);
    const paused = post(fake, "/generate", sglangBody({ ...LONG, max_new_tokens: 20 }));
    await afterSteps(fake, 2);
    await post(fake, "/pause_generation", { mode: "retract" });
    await post(fake, "/update_weights_from_disk", { ...update, weight_version: "C" });
    await post(fake, "/continue_generation", {});
    expect(column((await paused).at("meta_info.weight_versions"), "version")).toEqual(["B", "C"]);
  });

  test("the cache is not flushed while something runs", async () => {
    const fake = await createFakeSglang();
    const running = post(fake, "/generate", sglangBody({ ...LONG, max_new_tokens: 20 }));
    await afterSteps(fake, 1);
    expect((await post(fake, "/flush_cache", {})).status).toBe(400);
    await running;
    expect((await post(fake, "/flush_cache", {})).status).toBe(200);
  });

  test("NaN logits are a made-up last id; NaN and −Infinity of logprobs are null and the smallest float", async () => {
    const script: Fault[] = [
      { type: "nan_happened" },
      { type: "logprob", value: Number.NaN },
      { type: "logprob", value: -Infinity },
    ];
    const fake = await createFakeSglang({ faults: ({ place }) => script[place] ?? null });
    expect(finish(await post(fake, "/generate", sglangBody()))).toEqual({
      type: "stop",
      matched: "NaN happened",
    });
    const first = async () =>
      (await post(fake, "/generate", sglangBody())).at("meta_info.output_token_logprobs.0.0");
    expect(await first()).toBeNull();
    expect(await first()).toBe(-3.4028234663852886e38);
  });
});
