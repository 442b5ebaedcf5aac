/** `POST /v1/completions` of vLLM 0.32 with token ids as the prompt. */
import { checkFields } from "../check-fields.ts";
import { usedPrompt } from "../fake-server.ts";
import type { FakeModel } from "../fake-model.ts";
import type { Fault } from "../faults.ts";
import { jsonResponse } from "../wire-json.ts";
import type { WireSample } from "../wire-sample.ts";
import { invalid, missingField, vllmError, wrongValue } from "./errors.ts";
import type { VllmCore } from "./options.ts";
import { finishOf, floored, modelOf, randomId, runVllm, usageOf } from "./run.ts";
import { KNOWN_PARAMS, readSampling, REQUIRED_PARAMS, stopReason } from "./sampling.ts";

const BODY = {
  where: "the body",
  required: [...REQUIRED_PARAMS, "model", "prompt", "stream", "return_token_ids"],
  known: [
    ...KNOWN_PARAMS,
    "request_id", "echo", "add_special_tokens", "return_tokens_as_token_ids", "stream_options", "cache_salt",
    "priority", "session_id", "user", "suffix", "best_of",
  ],
}; // prettier-ignore
const DEFAULT_MAX_TOKENS = 16;

export async function complete(
  core: VllmCore,
  body: unknown,
  fault: Fault | null,
  signal: AbortSignal,
): Promise<Response> {
  if (typeof body !== "object" || body === null) {
    return invalid("json_invalid", "body.0", "JSON decode error", "<dict of 0 items>");
  }
  const fields = body as Readonly<Record<string, unknown>>;
  const model = modelOf(core, fields["model"]);
  if (model instanceof Response) return model;
  const ids = readPrompt(core, fields["prompt"]);
  if (ids instanceof Response) return ids;
  if (core.strict) {
    const complaints = checkFields(fields, BODY);
    core.complaints.push(...complaints);
    if (complaints.length > 0) return vllmError(400, complaints.join("; "));
    if (fields["stream"] !== false) {
      return vllmError(400, "The fake server does not stream: send stream false");
    }
  }
  const room = model.context - ids.length;
  if (room < 1) return wrongValue("max_tokens", "at least 1", 0, true);
  const sampling = readSampling(core, fields, "body", room, DEFAULT_MAX_TOKENS);
  if (sampling instanceof Response) return sampling;
  const id = `cmpl-${typeof fields["request_id"] === "string" ? fields["request_id"] : randomId()}`;
  const samples = await runVllm(core, model, `${id}-0`, ids, sampling, fault, signal);
  const used = usedPrompt(ids, fault);
  const withIds = fields["return_token_ids"] === true;
  const asIds = fields["return_tokens_as_token_ids"] === true;
  return jsonResponse({
    id,
    object: "text_completion",
    created: Math.floor(Date.now() / 1000),
    model: fields["model"] ?? core.modelName,
    choices: samples.map((sample) => {
      const finish = finishOf(sample);
      return {
        index: sample.index,
        text: sample.text,
        logprobs: sampling.logprobs === null ? null : logprobsOf(model, sample, asIds),
        finish_reason: finish,
        stop_reason: stopReason(core, finish, sample.ids.at(-1)),
        token_ids: withIds ? sample.ids : null,
        prompt_logprobs: null,
        prompt_token_ids: withIds ? used : null,
        routed_experts: null,
      };
    }),
    service_tier: null,
    system_fingerprint: "vllm-0.32.0-fake",
    usage: usageOf(used, samples),
    kv_transfer_params: null,
    ec_transfer_params: null,
    metrics: null,
  });
}

function readPrompt(core: VllmCore, prompt: unknown): readonly number[] | Response {
  if (prompt === undefined) return missingField("body.prompt");
  if (!Array.isArray(prompt) || prompt.some((id) => typeof id !== "number")) {
    return vllmError(400, "The fake server takes one prompt of token ids");
  }
  const ids: readonly number[] = prompt;
  if (ids.length === 0) return vllmError(400, "You must pass at least one prompt");
  const broken = ids.findIndex((id) => !Number.isInteger(id));
  if (broken !== -1) {
    const message = "Input should be a valid integer, got a number with a fractional part";
    return invalid("int_from_float", `body.prompt.${broken}`, message, String(ids[broken]));
  }
  const negative = ids.findIndex((id) => id < 0);
  if (negative !== -1) {
    const message = "Input should be greater than or equal to 0";
    return invalid("greater_than_equal", `body.prompt.${negative}`, message, String(ids[negative]));
  }
  const foreign = ids.find((id) => id >= core.model.vocabSize);
  return foreign === undefined ? ids : vllmError(400, `Token id ${foreign} is out of vocabulary`);
}

function logprobsOf(model: FakeModel, sample: WireSample, asIds: boolean): object {
  const whole = model.tokenizer.decoder([]);
  const name = (id: number): string => (asIds ? `token_id:${id}` : whole.decode([id]));
  const tokens = sample.entries.map(({ id }) => name(id));
  let offset = 0;
  return {
    text_offset: tokens.map((token) => {
      const start = offset;
      offset += token.length;
      return start;
    }),
    token_logprobs: sample.entries.map(({ logprob }) => floored(logprob)),
    tokens,
    top_logprobs: sample.entries.map(({ id, logprob, candidates }) =>
      Object.fromEntries([
        [name(id), floored(logprob)],
        ...candidates
          .filter((other) => other.id !== id)
          .map((c) => [name(c.id), floored(c.logprob)]),
      ]),
    ),
  };
}
