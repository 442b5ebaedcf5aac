/** Requests as a careful client writes them, every field named, and a way to send them in process. */
import type { FakeServer } from "../../src/testing/index.ts";
import { problems } from "../embedded/policy-fixture.ts";

export const PROMPT: readonly number[] = problems[0]!.prompt;
export const EOS = 507;

export type Body = Readonly<Record<string, unknown>>;

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Value at a path, `choices.0.token_ids`; undefined = none there. */
  at(path: string): unknown;
};

export async function post(
  fake: FakeServer,
  path: string,
  body: Body,
  signal?: AbortSignal,
): Promise<Answer> {
  const init = { method: "POST", body: JSON.stringify(body), signal: signal ?? null };
  return read(await fake.app.fetch(new Request(`http://fake${path}`, init)));
}

export async function get(fake: FakeServer, path: string): Promise<Answer> {
  return read(await fake.app.fetch(new Request(`http://fake${path}`)));
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    at(path) {
      let value: unknown = JSON.parse(text);
      for (const name of path.split(".")) value = (value as Record<string, unknown>)?.[name];
      return value;
    },
  };
}

/** The lists that a server writes as arrays of records. */
export function column(rows: unknown, name: string | number): unknown[] {
  return (rows as Record<string | number, unknown>[]).map((row) => row[name]);
}

/** Until the decode loop has taken `steps` more steps. */
export async function afterSteps(fake: FakeServer, steps: number): Promise<void> {
  const goal = fake.model.counts().steps + steps;
  while (fake.model.counts().steps < goal) await new Promise((resolve) => setImmediate(resolve));
}

export function vllmBody(params: Body = {}, top: Body = {}): Body {
  return {
    request_id: "r-1",
    model: "interlace-embedded",
    stream: false,
    token_ids: PROMPT,
    sampling_params: {
      n: 1,
      temperature: 1,
      top_p: 1,
      top_k: 0,
      min_p: 0,
      seed: 7,
      max_tokens: 8,
      stop_token_ids: [EOS],
      ignore_eos: false,
      repetition_penalty: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      logprobs: 0,
      detokenize: false,
      ...params,
    },
    ...top,
  };
}

export function sglangBody(params: Body = {}, top: Body = {}): Body {
  return {
    input_ids: PROMPT,
    rid: "rid-00001",
    return_logprob: true,
    logprob_start_len: -1,
    return_prompt_token_ids: true,
    stream: false,
    sampling_params: {
      max_new_tokens: 8,
      temperature: 1,
      top_p: 1,
      top_k: -1,
      min_p: 0,
      stop_token_ids: [EOS],
      ignore_eos: false,
      repetition_penalty: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      sampling_seed: 7,
      ...params,
    },
    ...top,
  };
}

export function llamaBody(fields: Body = {}): Body {
  return {
    prompt: PROMPT,
    n_predict: 8,
    n_cmpl: 1,
    seed: 7,
    temperature: 1,
    top_k: 0,
    top_p: 1,
    min_p: 0,
    typical_p: 1,
    repeat_penalty: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    samplers: ["temperature", "top_k", "top_p"],
    n_probs: 1,
    post_sampling_probs: false,
    return_tokens: true,
    ignore_eos: false,
    stream: false,
    ...fields,
  };
}

export function tgiBody(inputs: string, parameters: Body = {}): Body {
  const given = { do_sample: true, max_new_tokens: 8, seed: 7, details: true, ...parameters };
  return { inputs, parameters: given };
}

export function tinkerBody(session: string, params: Body = {}, top: Body = {}): Body {
  return {
    sampling_session_id: session,
    seq_id: 0,
    num_samples: 2,
    prompt: { chunks: [{ type: "encoded_text", tokens: PROMPT }] },
    sampling_params: {
      max_tokens: 8,
      seed: 7,
      stop: [EOS],
      temperature: 1,
      top_k: -1,
      top_p: 1,
      ...params,
    },
    ...top,
  };
}
