/** Each fault does what its name says, and nothing else. Sample faults are seen through vLLM's shape. */
import { describe, expect, test } from "bun:test";
import { createFakeVllm, serveFake, type Fault } from "../../src/testing/index.ts";
import { column, EOS, post, PROMPT, vllmBody, type Answer } from "./ask-fake.ts";

const GENERATE = "/inference/v1/generate";
const PARAMS = { n: 2, max_tokens: 6, ignore_eos: true, stop_token_ids: [] };

async function answers(fault: Fault): Promise<{ readonly clean: Answer; readonly faulty: Answer }> {
  const fake = await createFakeVllm({ faults: ({ place }) => (place === 1 ? fault : null) });
  const clean = await post(fake, GENERATE, vllmBody(PARAMS));
  const faulty = await post(fake, GENERATE, vllmBody(PARAMS));
  return { clean, faulty };
}

const entries = (answer: Answer, sample: number, name: string): unknown[] =>
  column(answer.at(`choices.${sample}.logprobs.content`), name);

describe("a fault of a sample", () => {
  test.each([null, 0.3, -9999, 0])("logprob %p takes the place of one number", async (value) => {
    const { clean, faulty } = await answers({ type: "logprob", value, sample: 1, token: 2 });
    const expected = entries(clean, 1, "logprob").with(2, value);
    expect(entries(faulty, 1, "logprob")).toEqual(expected);
    expect(faulty.at("choices.0")).toEqual(clean.at("choices.0"));
    expect(faulty.at("choices.1.token_ids")).toEqual(clean.at("choices.1.token_ids"));
  });

  test("logprob NaN is written as the text NaN, which is no JSON", async () => {
    const { faulty } = await answers({ type: "logprob", value: Number.NaN });
    expect(faulty.text).toContain('"logprob":NaN,');
    expect(() => faulty.at("choices")).toThrow(SyntaxError);
  });

  test.each([-1, 1] as const)("logprob_count %d: lists differ in length", async (by) => {
    const { clean, faulty } = await answers({ type: "logprob_count", by });
    expect(entries(faulty, 0, "logprob").length).toBe(6 + by);
    expect(faulty.at("choices.0.token_ids")).toEqual(clean.at("choices.0.token_ids"));
  });

  test("zero_logprobs, entry_id and token_id", async () => {
    const zero = await answers({ type: "zero_logprobs", sample: 1 });
    expect(entries(zero.faulty, 1, "logprob")).toEqual([0, 0, 0, 0, 0, 0]);
    const entry = await answers({ type: "entry_id", id: 3, token: 1 });
    expect(entries(entry.faulty, 0, "token_id")[1]).toBe(3);
    expect(entry.faulty.at("choices.0.token_ids")).toEqual(entry.clean.at("choices.0.token_ids"));
    const token = await answers({ type: "token_id", id: -1, token: 5 });
    expect(token.faulty.at("choices.0.token_ids.5")).toBe(-1);
    expect(entries(token.faulty, 0, "token_id")[5]).toBe(-1);
  });

  test("sample_count and shuffled", async () => {
    const few = await answers({ type: "sample_count", by: -1 });
    expect(column(few.faulty.at("choices"), "index")).toEqual([0]);
    const many = await answers({ type: "sample_count", by: 1 });
    expect(column(many.faulty.at("choices"), "index")).toEqual([0, 1, 2]);
    const mixed = await answers({ type: "shuffled" });
    expect(column(mixed.faulty.at("choices"), "index")).toEqual([1, 0]);
    expect(mixed.faulty.at("choices.0")).toEqual(mixed.clean.at("choices.1"));
  });

  test("finish says the server's own word, or none", async () => {
    const error = await answers({ type: "finish", reason: "error", sample: 1 });
    expect(column(error.faulty.at("choices"), "finish_reason")).toEqual(["length", "error"]);
    const none = await answers({ type: "finish", reason: null });
    expect(none.faulty.at("choices.0.finish_reason")).toBeNull();
  });

  test("a fault that finds no place to be is a bug of the script", async () => {
    const faults = (): Fault => ({ type: "logprob", value: null, token: 50 });
    const fake = await createFakeVllm({ faults });
    const answer = await post(fake, GENERATE, vllmBody(PARAMS));
    expect(answer.status).toBe(599);
    expect(fake.complaints).toEqual([
      "Expected an answer, the fake or its script broke: Expected token 50 to put the fault into, seen 6; ask for more",
    ]);
  });
});

describe("a fault of the generation", () => {
  test("abort ends every sample with what there is", async () => {
    const { clean, faulty } = await answers({ type: "abort", after: 3 });
    expect(column(faulty.at("choices"), "finish_reason")).toEqual(["abort", "abort"]);
    const ids = clean.at("choices.0.token_ids") as number[];
    expect(faulty.at("choices.0.token_ids")).toEqual(ids.slice(0, 3));
  });

  test("prompt: what the server counts and echoes is another prompt", async () => {
    for (const [change, length] of [
      ["truncated", -1],
      ["begins_twice", 1],
    ] as const) {
      const faults = (): Fault => ({ type: "prompt", change });
      const fake = await createFakeVllm({ faults });
      const answer = await post(fake, GENERATE, vllmBody(PARAMS, { return_token_ids: true }));
      expect(answer.at("usage.prompt_tokens")).toBe(PROMPT.length + length);
      const expected = length < 0 ? PROMPT.slice(1) : [PROMPT[0], ...PROMPT];
      expect(answer.at("prompt_token_ids")).toEqual(expected as number[]);
    }
  });

  test("new_weights without a location changes the name of the tokens to come only", async () => {
    const { clean, faulty } = await answers({
      type: "new_weights",
      after: 2,
      version: "B",
      location: null,
    });
    expect(faulty.at("choices.0.weight_versions")).toEqual([
      { version: "default", start: 0, end: 2 },
      { version: "B", start: 2, end: 6 },
    ]);
    expect(faulty.at("choices.0.token_ids")).toEqual(clean.at("choices.0.token_ids"));
  });
});

describe("a fault of the wire", () => {
  async function over(fault: Fault): Promise<{ response: Response; text: string } | string> {
    const fake = await createFakeVllm({ faults: () => fault });
    await using served = await serveFake(fake.app);
    const body = JSON.stringify(vllmBody(PARAMS));
    try {
      const response = await fetch(served.url + GENERATE, { method: "POST", body });
      return { response, text: await response.text() };
    } catch (error) {
      return (error as Error & { code: string }).code;
    }
  }

  test("status: any code, type, body and header", async () => {
    const fault = {
      type: "status",
      status: 429,
      body: "slow",
      headers: { "retry-after": "3" },
    } as const;
    const seen = await over(fault);
    if (typeof seen === "string") throw new Error(seen);
    expect([seen.response.status, seen.text]).toEqual([429, "slow"]);
    expect(seen.response.headers.get("retry-after")).toBe("3");
    expect(seen.response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  });

  test("html: a page with 200", async () => {
    const seen = await over({ type: "html" });
    if (typeof seen === "string") throw new Error(seen);
    expect([seen.response.status, seen.response.headers.get("content-type")]).toEqual([
      200,
      "text/html",
    ]);
    expect(seen.text).toContain("<html>");
  });

  test("reset before and after the headers, and a body that is cut", async () => {
    const resets = [
      { type: "reset", when: "before_headers" },
      { type: "reset", when: "after_headers" },
      { type: "cut" },
    ] as const;
    for (const fault of resets) {
      expect(await over(fault)).toMatch(/^(ECONNRESET|ConnectionClosed|ERR_|UND_)/i);
    }
  });

  test("pieces: the same body, split inside its characters", async () => {
    const seen = await over({ type: "pieces" });
    if (typeof seen === "string") throw new Error(seen);
    expect(JSON.parse(seen.text).choices.length).toBe(2);
  });

  test("stall: nothing comes until the client goes away, and then nothing is sampled", async () => {
    const fake = await createFakeVllm({ faults: () => ({ type: "stall", ms: null }) });
    await using served = await serveFake(fake.app);
    const leaving = new AbortController();
    const asked = fetch(served.url + GENERATE, {
      method: "POST",
      body: JSON.stringify(vllmBody(PARAMS)),
      signal: leaving.signal,
    }).catch((error: unknown) => (error as Error).name);
    while (fake.running() === 0) await Bun.sleep(1);
    leaving.abort();
    expect(await asked).toBe("AbortError");
    while (fake.running() > 0) await Bun.sleep(1);
    expect(fake.model.counts()).toMatchObject({ live: 0, waiting: 0 });
  });
});

describe("a client that goes away", () => {
  test("stops the decode loop: no step is taken for it any more", async () => {
    const fake = await createFakeVllm();
    await using served = await serveFake(fake.app);
    const leaving = new AbortController();
    const body = vllmBody({ ...PARAMS, n: 8, max_tokens: 440 });
    const asked = fetch(served.url + GENERATE, {
      method: "POST",
      body: JSON.stringify(body),
      signal: leaving.signal,
    }).catch((error: unknown) => (error as Error).name);
    while (fake.model.counts().live < 8) await Bun.sleep(1);
    leaving.abort();
    expect(await asked).toBe("AbortError");
    while (fake.running() > 0) await Bun.sleep(1);
    const { steps, live, waiting } = fake.model.counts();
    expect([live, waiting]).toEqual([0, 0]);
    expect(steps).toBeLessThan(440);
    const next = await post(fake, GENERATE, vllmBody({ max_tokens: 1, stop_token_ids: [EOS] }));
    expect(next.status).toBe(200);
    expect(fake.model.counts().steps).toBe(steps + 1);
  });
});
