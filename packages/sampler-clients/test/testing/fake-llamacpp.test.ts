import { describe, expect, test } from "bun:test";
import { createFakeLlamacpp, type FakeServer } from "../../src/testing/index.ts";
import { column, EOS, get, llamaBody, post, type Answer, type Body } from "./ask-fake.ts";

const complete = (fake: FakeServer, fields: Body = {}): Promise<Answer> =>
  post(fake, "/completion", llamaBody(fields));

/** Hot enough that bytes of characters are drawn one by one. */
const HOT = { temperature: 12, n_predict: 60, ignore_eos: true };

describe("a fake llama-server", () => {
  test("n_cmpl > 1 is an array; child i draws with seed + i and says so", async () => {
    const fake = await createFakeLlamacpp();
    const three = await complete(fake, { n_cmpl: 3, seed: 100, n_predict: 24 });
    const items = JSON.parse(three.text) as { tokens: number[] }[];
    expect(column(items, "index")).toEqual([0, 1, 2]);
    const seeds = [0, 1, 2].map((i) => three.at(`${i}.generation_settings.seed`));
    expect(seeds).toEqual([100, 101, 102]);
    expect((await complete(fake, { seed: 101, n_predict: 24 })).at("tokens")).toEqual(
      items[1]!.tokens,
    );
    expect(fake.complaints).toEqual([]);
  });

  test("more completions than slots are refused", async () => {
    const fake = await createFakeLlamacpp({ slots: 2 });
    const answer = await complete(fake, { n_cmpl: 3 });
    expect([answer.status, answer.at("error.message")]).toEqual([
      400,
      "Field 'n_cmpl': Value must be between 1 <= value <= 2, but got 3",
    ]);
    expect((await get(fake, "/props")).at("total_slots")).toBe(2);
  });

  test("seeds keep 32 bits; −1 is a seed of its own", async () => {
    const fake = await createFakeLlamacpp();
    const tokens = async (seed: number) =>
      (await complete(fake, { seed, n_predict: 24 })).at("tokens");
    expect(await tokens(2 ** 32 + 7)).toEqual(await tokens(7));
    expect(await tokens(-1)).not.toEqual(await tokens(-1));
  });

  test("it has no stop ids: EOS ends it, also at the limit, else the limit", async () => {
    const fake = await createFakeLlamacpp();
    const greedy = { temperature: 0, n_predict: 96 };
    const whole = await complete(fake, greedy);
    const tokens = whole.at("tokens") as number[];
    expect([tokens.at(-1), whole.at("stop_type")]).toEqual([EOS, "eos"]);
    const limit = await complete(fake, { ...greedy, n_predict: tokens.length });
    expect(limit.at("stop_type")).toBe("eos");
    const cut = await complete(fake, { ...greedy, n_predict: 3 });
    expect(cut.at("stop_type")).toBe("limit");
    expect((await complete(fake, { n_predict: 0 })).at("tokens")).toHaveLength(1);
  });

  test("a context that fills up ends as limit, truncated; a prompt that fills it is refused", async () => {
    const fake = await createFakeLlamacpp();
    const prompt = Array.from({ length: 500 }, (_, i) => i % 400);
    const full = await complete(fake, { prompt, n_predict: 100, ignore_eos: true });
    expect([full.at("stop_type"), full.at("truncated"), full.at("tokens_predicted")]).toEqual([
      "limit",
      true,
      12,
    ]);
    const more = await complete(fake, { prompt: [...prompt, ...prompt] });
    expect(more.at("error")).toMatchObject({
      type: "exceed_context_size_error",
      n_prompt_tokens: 1000,
      n_ctx: 512,
    });
  });

  test("ids outside the vocabulary are refused, and it lives on", async () => {
    const fake = await createFakeLlamacpp();
    for (const prompt of [
      [5, 512],
      [5, -1],
    ]) {
      expect((await complete(fake, { prompt })).at("error.message")).toBe(
        "Prompt contains invalid tokens",
      );
    }
    expect((await complete(fake)).status).toBe(200);
  });

  test("tokens of a split character have no probability; the one that ends it has its bytes", async () => {
    const fake = await createFakeLlamacpp();
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, seed) => complete(fake, { ...HOT, seed })),
    );
    const holes = answers.filter((answer) => {
      const tokens = answer.at("tokens") as number[];
      const entries = answer.at("completion_probabilities") as unknown[];
      expect(entries.length).toBeLessThanOrEqual(tokens.length);
      return entries.length < tokens.length;
    });
    expect(holes.length).toBeGreaterThan(0);
  });

  test("before the fix an answer that is no UTF-8 is lost with 500, and so is a body that is no JSON", async () => {
    const [old, fixed] = [
      await createFakeLlamacpp({ release: "b10434" }),
      await createFakeLlamacpp(),
    ];
    const statuses = async (fake: FakeServer) =>
      await Promise.all(
        Array.from(
          { length: 8 },
          async (_, seed) => (await complete(fake, { ...HOT, seed })).status,
        ),
      );
    expect(await statuses(fixed)).toEqual([200, 200, 200, 200, 200, 200, 200, 200]);
    expect(await statuses(old)).toContain(500);
    const broken = async (fake: FakeServer) =>
      (await fake.app.fetch(new Request("http://fake/completion", { method: "POST", body: "{" })))
        .status;
    expect([await broken(old), await broken(fixed)]).toEqual([500, 400]);
  });

  test("faults of its own: a hole, and an answer lost to UTF-8", async () => {
    const script = [{ type: "holes" }, { type: "invalid_utf8" }] as const;
    const fake = await createFakeLlamacpp({ faults: ({ place }) => script[place] ?? null });
    const hole = await complete(fake, { ignore_eos: true });
    expect(hole.at("completion_probabilities")).toHaveLength(7);
    expect(hole.at("tokens")).toHaveLength(8);
    expect((await complete(fake)).status).toBe(500);
    expect((await complete(fake)).status).toBe(200);
  });

  test("samplers whose order it would not follow are a complaint", async () => {
    const fake = await createFakeLlamacpp();
    await complete(fake, { samplers: ["top_k", "top_p", "temperature"], top_p: 0.5 });
    expect(fake.complaints[0]).toContain('Expected the body.samplers to be ["temperature"]');
  });

  test("text reads back as ids, special tokens only when asked to parse them", async () => {
    const fake = await createFakeLlamacpp();
    const content = "a<|im_end|>";
    const plain = await post(fake, "/tokenize", { content, parse_special: false });
    const special = await post(fake, "/tokenize", { content, parse_special: true });
    expect((special.at("tokens") as number[]).at(-1)).toBe(EOS);
    expect(plain.at("tokens")).not.toContain(EOS);
    const back = await post(fake, "/detokenize", { tokens: plain.at("tokens") });
    expect(back.at("content")).toBe(content);
  });
});
