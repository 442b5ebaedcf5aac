/** What is sent, field by field: every sampling field is explicit, no server default is relied on. */
import { expect, test } from "bun:test";
import { completionBody } from "../../src/adapters/llamacpp-wire.ts";
import { generateBody as sglangBody, requestIds } from "../../src/adapters/sglang-wire.ts";
import { generateBody as tgiBody } from "../../src/adapters/tgi-wire.ts";
import { sampleBody } from "../../src/adapters/tinker-wire.ts";
import { completionsBody, generateBody } from "../../src/adapters/vllm-wire.ts";
import { request } from "../support/requests.ts";

const ASKED = request({ samples: 2, temperature: 0.7, topP: 0.9, topK: 20, stopIds: [2, 9] });

test("vLLM: one request for n", () => {
  expect(JSON.parse(generateBody(ASKED, "w", "m"))).toEqual({
    request_id: "w",
    model: "m",
    stream: false,
    return_token_ids: true,
    token_ids: [1, 300, 301],
    sampling_params: {
      n: 2,
      max_tokens: 8,
      min_tokens: 0,
      temperature: 0.7,
      top_p: 0.9,
      top_k: 20,
      min_p: 0,
      seed: 7,
      stop: [],
      stop_token_ids: [2, 9],
      ignore_eos: false,
      repetition_penalty: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      logprobs: 0,
      prompt_logprobs: null,
      detokenize: false,
    },
  });
});

test("vLLM's fallback names the same fields and asks for ids twice over", () => {
  const body = JSON.parse(completionsBody(request({ topK: null }), "w", "m")) as object;
  expect(body).toMatchObject({
    request_id: "w",
    model: "m",
    prompt: [1, 300, 301],
    n: 1,
    max_tokens: 8,
    top_k: 0,
    logprobs: 0,
    return_token_ids: true,
    return_tokens_as_token_ids: true,
    echo: false,
    add_special_tokens: false,
    stream: false,
  });
});

test("SGLang: a batch of equal prompts with an id, a seed and parameters each", () => {
  const body = JSON.parse(sglangBody(ASKED, "ab-0001", true, null)) as {
    input_ids: unknown;
    rid: unknown;
    sampling_params: { sampling_seed: number }[];
  };
  expect(body.input_ids).toEqual([
    [1, 300, 301],
    [1, 300, 301],
  ]);
  expect(body.rid).toEqual(["ab-0001-00000", "ab-0001-00001"]);
  expect(body.sampling_params.map(({ sampling_seed }) => sampling_seed)).toEqual([7, 8]);
  expect(body.sampling_params[0]).toEqual({
    max_new_tokens: 8,
    min_new_tokens: 0,
    temperature: 0.7,
    top_p: 0.9,
    top_k: 20,
    min_p: 0,
    stop: [],
    stop_token_ids: [2, 9],
    ignore_eos: false,
    skip_special_tokens: true,
    no_stop_trim: false,
    n: 1,
    repetition_penalty: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    sampling_seed: 7,
  } as never);
  expect(body).toMatchObject({
    return_logprob: true,
    logprob_start_len: -1,
    top_logprobs_num: 0,
    return_text_in_logprobs: false,
    return_prompt_token_ids: true,
    stream: false,
  });
});

test("SGLang: no seed to a server that would ignore it, a LoRA per item", () => {
  const body = JSON.parse(sglangBody(ASKED, "w", false, "v2")) as {
    sampling_params: object[];
    lora_path: unknown;
  };
  expect(body.sampling_params[0]).not.toHaveProperty("sampling_seed");
  expect(body.lora_path).toEqual(["v2", "v2"]);
});

test("SGLang: no id of a request begins another, as aborting matches by prefix", () => {
  const ids = requestIds(request({ samples: 120 }), "ab-0001");
  for (const id of ids) expect(ids.filter((other) => other.startsWith(id))).toEqual([id]);
});

test("llama.cpp: neutral samplers, temperature before the cuts", () => {
  const body = JSON.parse(completionBody(request({ topK: null, samples: 3 }))) as object;
  expect(body).toMatchObject({
    prompt: [1, 300, 301],
    n_predict: 8,
    n_cmpl: 3,
    seed: 7,
    temperature: 1,
    top_k: 0,
    top_p: 1,
    min_p: 0,
    typical_p: 1,
    repeat_penalty: 1,
    samplers: ["temperature", "top_k", "top_p"],
    n_probs: 1,
    return_tokens: true,
    post_sampling_probs: false,
    stop: [],
  });
});

test("TGI: top_p 1 is left out, as it is refused; greedy is do_sample false", () => {
  const parameters = (change: object): unknown =>
    (JSON.parse(tgiBody(request(change), "hi")) as { parameters: unknown }).parameters;
  expect(parameters({ topP: 1 })).toMatchObject({
    top_p: null,
    do_sample: true,
    temperature: 1,
    seed: 7,
  });
  expect(parameters({ topP: 0.9 })).toMatchObject({ top_p: 0.9 });
  expect(parameters({ temperature: 0 })).toMatchObject({ do_sample: false, temperature: null });
  expect(parameters({})).toMatchObject({
    details: true,
    return_full_text: false,
    max_new_tokens: 8,
    best_of: null,
  });
});

test("Tinker: stop ids are explicit, also when there are none", () => {
  expect(JSON.parse(sampleBody(ASKED, "session", 3, true))).toEqual({
    sampling_session_id: "session",
    seq_id: 3,
    num_samples: 2,
    prompt: { chunks: [{ type: "encoded_text", tokens: [1, 300, 301] }] },
    sampling_params: {
      max_tokens: 8,
      seed: 7,
      stop: [2, 9],
      temperature: 0.7,
      top_k: 20,
      top_p: 0.9,
    },
    prompt_logprobs: false,
    topk_prompt_logprobs: 0,
    type: "sample",
  });
  const without = JSON.parse(sampleBody(request({ stopIds: [] }), "s", 0, false)) as {
    sampling_params: object;
  };
  expect(without.sampling_params).toEqual({
    max_tokens: 8,
    stop: [],
    temperature: 1,
    top_k: -1,
    top_p: 1,
  });
});
