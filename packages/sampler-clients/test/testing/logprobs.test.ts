/** Every kind of logprob of every fake, against a forward pass by the plain kernels worked out anew. */
import { describe, expect, test } from "bun:test";
import {
  createFakeLlamacpp,
  createFakeSglang,
  createFakeTgi,
  createFakeTinker,
  createFakeVllm,
} from "../../src/testing/index.ts";
import { openOracle } from "../conformance/oracle.ts";
import {
  column,
  llamaBody,
  post,
  PROMPT,
  sglangBody,
  tgiBody,
  tinkerBody,
  vllmBody,
} from "./ask-fake.ts";

const oracle = await openOracle();
const SETTINGS = { temperature: 0.7, topP: 0.9, topK: 40 } as const;
const TOLERANCE = 2e-4;

function expectKind(
  kind: "raw" | "temperature_scaled" | "processed",
  ids: readonly number[],
  logprobs: readonly number[],
): void {
  expect(ids.length).toBeGreaterThan(2);
  const all = oracle.explain(PROMPT, ids, SETTINGS);
  for (const name of ["raw", "temperature_scaled", "processed"] as const) {
    const off = Math.max(...logprobs.map((logprob, i) => Math.abs(logprob - all[name][i]!)));
    if (name === kind) expect(off).toBeLessThan(TOLERANCE);
    else expect(off).toBeGreaterThan(10 * TOLERANCE);
  }
}

const sampling = { temperature: 0.7, top_p: 0.9, top_k: 40 };
// Drawn so that no id is certain: else two kinds would agree.
const SEED = 11;

describe("logprobs mean what the server's mode says", () => {
  test.each(["raw", "processed"] as const)("vLLM in %s mode", async (logprobs) => {
    const fake = await createFakeVllm({ logprobs });
    const answer = await post(
      fake,
      "/inference/v1/generate",
      vllmBody({ ...sampling, seed: SEED, max_tokens: 24 }),
    );
    const entries = answer.at("choices.0.logprobs.content");
    const ids = answer.at("choices.0.token_ids") as number[];
    expect(column(entries, "token_id")).toEqual(ids);
    expectKind(logprobs, ids, column(entries, "logprob") as number[]);
    expect(fake.complaints).toEqual([]);
  });

  test("SGLang: scaled by the temperature, not renormalised", async () => {
    const fake = await createFakeSglang({ deterministic: true });
    const body = sglangBody({ ...sampling, sampling_seed: SEED, max_new_tokens: 24 });
    const answer = await post(fake, "/generate", body);
    const entries = answer.at("meta_info.output_token_logprobs");
    const ids = answer.at("output_ids") as number[];
    expect(column(entries, 1)).toEqual(ids);
    expectKind("temperature_scaled", ids, column(entries, 0) as number[]);
    expect(fake.complaints).toEqual([]);
  });

  test("llama.cpp: raw, or probabilities after sampling when asked", async () => {
    const fake = await createFakeLlamacpp();
    const body = llamaBody({ ...sampling, seed: SEED, n_predict: 24 });
    const raw = await post(fake, "/completion", body);
    const ids = raw.at("tokens") as number[];
    const entries = raw.at("completion_probabilities");
    expect(column(entries, "id")).toEqual(ids);
    expectKind("raw", ids, column(entries, "logprob") as number[]);
    const after = await post(fake, "/completion", { ...body, post_sampling_probs: true });
    expect(after.at("tokens")).toEqual(ids);
    const probs = column(after.at("completion_probabilities"), "prob") as number[];
    expectKind("processed", ids, probs.map(Math.log));
    expect(fake.complaints).toEqual([]);
  });

  test("TGI: processed", async () => {
    const fake = await createFakeTgi();
    const inputs = fake.model.tokenizer.decoder([]).decode(PROMPT);
    const body = tgiBody(inputs, { ...sampling, seed: SEED, max_new_tokens: 24 });
    const answer = await post(fake, "/generate", body);
    expect(answer.headers.get("x-prompt-tokens")).toBe(String(PROMPT.length));
    const tokens = answer.at("details.tokens");
    expectKind(
      "processed",
      column(tokens, "id") as number[],
      column(tokens, "logprob") as number[],
    );
    expect(fake.complaints).toEqual([]);
  });

  test("Tinker: raw", async () => {
    const fake = await createFakeTinker({ protobuf: false });
    const made = await post(fake, "/api/v1/create_session", {});
    const opened = await post(fake, "/api/v1/create_sampling_session", {
      session_id: made.at("session_id"),
      base_model: "interlace-embedded",
    });
    const session = String(opened.at("sampling_session_id"));
    const params = { ...sampling, seed: SEED, max_tokens: 24 };
    const asked = await post(fake, "/api/v1/asample", tinkerBody(session, params));
    const future = { request_id: asked.at("request_id"), allow_metadata_only: true };
    const answer = await post(fake, "/api/v1/retrieve_future", future);
    const ids = answer.at("sequences.0.tokens") as number[];
    expectKind("raw", ids, answer.at("sequences.0.logprobs") as number[]);
    expect(fake.complaints).toEqual([]);
  });
});
