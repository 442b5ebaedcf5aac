import { describe, expect, test } from "bun:test";
import { createFakeTgi, type FakeServer } from "../../src/testing/index.ts";
import {
  afterSteps,
  column,
  EOS,
  get,
  post,
  PROMPT,
  tgiBody,
  type Answer,
  type Body,
} from "./ask-fake.ts";

const textOf = (fake: FakeServer): string => fake.model.tokenizer.decoder([]).decode(PROMPT);
const generate = (fake: FakeServer, parameters: Body = {}): Promise<Answer> =>
  post(fake, "/generate", tgiBody(textOf(fake), parameters));

describe("a fake TGI", () => {
  test("text goes in, ids with logprobs come out; special tokens are marked and not in the text", async () => {
    const fake = await createFakeTgi();
    const answer = await generate(fake, { max_new_tokens: 96, do_sample: false });
    const tokens = answer.at("details.tokens") as { id: number; text: string; special: boolean }[];
    expect(tokens.at(-1)).toMatchObject({ id: EOS, text: "<|im_end|>", special: true });
    expect(answer.at("details.finish_reason")).toBe("eos_token");
    expect(answer.at("generated_text")).not.toContain("<|im_end|>");
    const visible = tokens.filter(({ special }) => !special).map(({ text }) => text);
    expect(visible.join("")).toBe(String(answer.at("generated_text")));
    expect(fake.complaints).toEqual([]);
  });

  test("length is looked at before EOS", async () => {
    const fake = await createFakeTgi();
    const whole = await generate(fake, { max_new_tokens: 96, do_sample: false });
    const length = whole.at("details.generated_tokens") as number;
    const limit = await generate(fake, { max_new_tokens: length, do_sample: false });
    expect(column(limit.at("details.tokens"), "id")).toEqual(
      column(whole.at("details.tokens"), "id"),
    );
    expect(limit.at("details.finish_reason")).toBe("length");
  });

  test("top_p of 1, a temperature or top_k of 0, and what does not fit are 422", async () => {
    const fake = await createFakeTgi();
    for (const bad of [{ top_p: 1 }, { temperature: 0 }, { top_k: 0 }, { max_new_tokens: 500 }]) {
      const answer = await generate(fake, bad);
      expect([answer.status, answer.at("error_type")]).toEqual([422, "validation"]);
    }
    expect((await generate(fake, { top_p: 0.5, temperature: 0.5, top_k: 5 })).status).toBe(200);
  });

  test("one seed draws the same again; a request without one does not", async () => {
    const fake = await createFakeTgi();
    const ids = async (seed: number | null): Promise<unknown[]> =>
      column((await generate(fake, { seed, max_new_tokens: 24 })).at("details.tokens"), "id");
    expect(await ids(5)).toEqual(await ids(5));
    expect(await ids(null)).not.toEqual(await ids(null));
  });

  test("/tokenize says which ids a text is; with a BOS it puts one in front, everywhere", async () => {
    const fake = await createFakeTgi();
    const seen = await post(fake, "/tokenize", { inputs: textOf(fake) });
    expect(column(JSON.parse(seen.text), "id")).toEqual([...PROMPT]);
    expect(seen.at("0")).toEqual({ id: PROMPT[0], text: "<|im_start|>", start: 0, stop: 12 });
    const other = await createFakeTgi({ bos: 505 });
    const begun = await post(other, "/tokenize", { inputs: "a" });
    expect(column(JSON.parse(begun.text), "id")[0]).toBe(505);
    const answer = await generate(other);
    expect(answer.headers.get("x-prompt-tokens")).toBe(String(PROMPT.length + 1));
  });

  test("a scripted drift reads a text back as other ids", async () => {
    const faults = (): { type: "drift" } => ({ type: "drift" });
    const fake = await createFakeTgi({ faults });
    const seen = await post(fake, "/tokenize", { inputs: textOf(fake) });
    expect(column(JSON.parse(seen.text), "id")).not.toEqual([...PROMPT]);
  });

  test("past a chunk it goes on from its own text with the seed begun anew", async () => {
    const sampling = { max_new_tokens: 20, seed: 3, temperature: 1.5 };
    const chunked = await createFakeTgi({ chunk: 8 });
    const answer = await generate(chunked, sampling);
    const ids = column(answer.at("details.tokens"), "id") as number[];
    expect(ids.length).toBeGreaterThan(8);
    const text = chunked.model.tokenizer.decoder([]).decode(ids.slice(0, 8));
    const next = tgiBody(textOf(chunked) + text, { ...sampling, max_new_tokens: 8 });
    const second = await post(await createFakeTgi(), "/generate", next);
    expect(column(second.at("details.tokens"), "id")).toEqual(ids.slice(8, 16));
  });

  test("what is over max_concurrent_requests is 429 at once", async () => {
    const fake = await createFakeTgi({ maxConcurrent: 1 });
    const running = generate(fake, { max_new_tokens: 60, temperature: 1.9 });
    await afterSteps(fake, 1);
    const second = await generate(fake);
    expect([second.status, second.at("error_type")]).toEqual([429, "overloaded"]);
    expect((await running).status).toBe(200);
    expect((await get(fake, "/info")).at("max_concurrent_requests")).toBe(1);
  });
});
