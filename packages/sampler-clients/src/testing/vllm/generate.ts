/** `POST /inference/v1/generate` of vLLM 0.32: token ids in, token ids out. */
import { checkFields } from "../check-fields.ts";
import { usedPrompt } from "../fake-server.ts";
import type { Fault } from "../faults.ts";
import { jsonResponse } from "../wire-json.ts";
import type { Entry, WireSample } from "../wire-sample.ts";
import { invalid, missingField, vllmError } from "./errors.ts";
import type { VllmCore } from "./options.ts";
import { finishOf, floored, modelOf, randomId, runVllm, usageOf } from "./run.ts";
import { KNOWN_PARAMS, readSampling, REQUIRED_PARAMS, stopReason } from "./sampling.ts";

const TOP = {
  where: "the body",
  required: ["token_ids", "sampling_params", "request_id", "model", "stream"],
  known: [
    "stream_options", "cache_salt", "priority", "kv_transfer_params", "features", "content_parts",
    "assistant_tokens_mask", "output_mode", "return_token_ids", "token_offsets",
  ],
}; // prettier-ignore
const PARAMS = {
  where: "sampling_params",
  required: [...REQUIRED_PARAMS, "detokenize"],
  known: [...KNOWN_PARAMS, "extra_args"],
};

export async function generate(
  core: VllmCore,
  body: unknown,
  fault: Fault | null,
  signal: AbortSignal,
): Promise<Response> {
  const read = readRequest(core, body);
  if (read instanceof Response) return read;
  const { fields, ids, params } = read;
  const model = modelOf(core, fields["model"]);
  if (model instanceof Response) return model;
  const room = model.context - ids.length;
  const sampling = readSampling(core, params, "body.sampling_params", room, room);
  if (sampling instanceof Response) return sampling;
  if (core.strict && fields["stream"] !== false) {
    return vllmError(400, "The fake server does not stream: send stream false");
  }
  const { maxNumSeqs } = core.vllm;
  if (sampling.samples.length > maxNumSeqs) {
    const message = `sampling_params.n must be at most the server's max_num_seqs (${maxNumSeqs}), got ${sampling.samples.length}.`;
    return vllmError(400, message);
  }
  const id = `generate-tokens-${typeof fields["request_id"] === "string" ? fields["request_id"] : randomId()}`;
  const samples = await runVllm(core, model, id, ids, sampling, fault, signal);
  const used = usedPrompt(ids, fault);
  const latest = core.vllm.release === "0.32";
  return jsonResponse({
    request_id: id,
    model: fields["model"] ?? core.modelName,
    created: Math.floor(Date.now() / 1000),
    usage: usageOf(used, samples),
    prompt_logprobs: null,
    ...(latest
      ? {
          prompt_token_id_logprobs: null,
          prompt_token_ids: fields["return_token_ids"] === true ? used : null,
          mm_placeholders: null,
          metrics: null,
        }
      : {}),
    kv_transfer_params: null,
    ec_transfer_params: null,
    ...(latest ? { output_mode: "tokens" } : {}),
    choices: samples.map((sample) => choiceOf(core, sample, sampling.logprobs !== null)),
  });
}

type Read = {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly ids: readonly number[];
  readonly params: Readonly<Record<string, unknown>>;
};

function readRequest(core: VllmCore, body: unknown): Read | Response {
  if (typeof body !== "object" || body === null) {
    return invalid("json_invalid", "body.0", "JSON decode error", "<dict of 0 items>");
  }
  const fields = body as Readonly<Record<string, unknown>>;
  const ids = fields["token_ids"];
  const params = fields["sampling_params"];
  if (ids === undefined) return missingField("body.token_ids");
  if (!Array.isArray(ids) || ids.some((id) => !Number.isInteger(id))) {
    return invalid("list_type", "body.token_ids", "Input should be a valid list", "?");
  }
  if (ids.length === 0) {
    const message = "List should have at least 1 item after validation, not 0";
    return invalid("too_short", "body.token_ids", message, "<list of 0 items>");
  }
  if (ids.some((id: number) => id < 0)) {
    const message = "Value error, token_ids must not contain negative values";
    return invalid("value_error", "body.token_ids", message, `<list of ${ids.length} items>`);
  }
  if (typeof params !== "object" || params === null) return missingField("body.sampling_params");
  const refused = refusePrompt(core, ids);
  if (refused !== null) return refused;
  if (core.strict) {
    const complaints = [...checkFields(fields, TOP), ...checkFields(params, PARAMS)];
    core.complaints.push(...complaints);
    if (complaints.length > 0) return vllmError(400, complaints.join("; "));
  }
  return { fields, ids, params: params as Readonly<Record<string, unknown>> };
}

function refusePrompt(core: VllmCore, ids: readonly number[]): Response | null {
  const { context, vocabSize } = core.model;
  const foreign = ids.find((id) => id >= vocabSize);
  if (foreign !== undefined) return vllmError(400, `Token id ${foreign} is out of vocabulary`);
  const sure = "Make sure that `max_model_len` is no smaller than the number of text tokens";
  if (ids.length === context) {
    const message = `The decoder prompt (length ${ids.length}) plus the number of requested output tokens (at least 1) is longer than the maximum model length of ${context}. ${sure} (prompt + requested output tokens).`;
    return vllmError(400, message);
  }
  if (ids.length > context) {
    const message = `The decoder prompt (length ${ids.length}) is longer than the maximum model length of ${context}. ${sure}.`;
    return vllmError(400, message);
  }
  return null;
}

function choiceOf(core: VllmCore, sample: WireSample, logprobs: boolean): object {
  const finish = finishOf(sample);
  const latest = core.vllm.release === "0.32";
  return {
    index: sample.index,
    ...(latest ? {} : { logprobs: logprobs ? content(core, sample) : null }),
    finish_reason: finish,
    ...(latest ? { stop_reason: stopReason(core, finish, sample.ids.at(-1)) } : {}),
    token_ids: sample.ids,
    routed_experts: null,
    sampling_mask: null,
    ...(latest
      ? { weight_versions: sample.versions, logprobs: logprobs ? content(core, sample) : null }
      : {}),
  };
}

function content(core: VllmCore, sample: WireSample): object {
  return { content: sample.entries.map((entry) => writeEntry(core, entry)) };
}

function writeEntry(core: VllmCore, entry: Entry): object {
  const write =
    core.vllm.release === "0.32"
      ? (id: number, logprob: number | null, rank: number) => {
          return { token_id: id, logprob: floored(logprob), rank };
        }
      : (id: number, logprob: number | null) => {
          return { token: `token_id:${id}`, logprob: floored(logprob), bytes: null };
        };
  const others = entry.candidates.filter(({ id }) => id !== entry.id);
  const own = write(entry.id, entry.logprob, entry.rank);
  return {
    ...own,
    top_logprobs: [own, ...others.map(({ id, logprob, rank }) => write(id, logprob, rank))],
  };
}
