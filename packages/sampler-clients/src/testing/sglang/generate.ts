/** `POST /generate` of SGLang 0.5: one prompt is an object, a batch or n > 1 an array. */
import { checkFields } from "../check-fields.ts";
import type { FakeModel, FakeSample, FakeSampling } from "../fake-model.ts";
import { generateAll, usedPrompt } from "../fake-server.ts";
import type { Fault } from "../faults.ts";
import { jsonResponse } from "../wire-json.ts";
import { wireSamples, type WireSample } from "../wire-sample.ts";
import { bodyError, valueError } from "./errors.ts";
import type { SglangCore } from "./options.ts";
import { readSampling } from "./sampling.ts";

const BODY = {
  where: "the body",
  required: ["input_ids", "sampling_params", "rid", "return_logprob", "logprob_start_len", "stream"],
  known: [
    "top_logprobs_num", "token_ids_logprob", "return_text_in_logprobs", "return_prompt_token_ids", "lora_path",
    "extra_key", "priority", "routed_dp_rank", "return_routed_experts", "return_hidden_states", "session_params",
  ],
}; // prettier-ignore

type Fields = Readonly<Record<string, unknown>>;

/** One sequence to be: a prompt, its id and its values. */
type Item = {
  readonly rid: string;
  readonly prompt: readonly number[];
  readonly sampling: FakeSampling;
};

export async function generate(
  core: SglangCore,
  body: unknown,
  fault: Fault | null,
  signal: AbortSignal,
): Promise<Response> {
  if (typeof body !== "object" || body === null) return bodyError("JSON decode error");
  const fields = body as Fields;
  const items = readItems(core, fields);
  if (items instanceof Response) return items;
  const model = modelOf(core, fields["lora_path"]);
  if (model instanceof Response) return model;
  const flights = items.map(({ rid }) => {
    const flight = new AbortController();
    core.flights.set(rid, flight);
    return flight;
  });
  const started = Date.now() / 1000;
  try {
    const batches = await Promise.all(
      items.map(({ prompt, sampling }, i) => {
        const either = AbortSignal.any([signal, flights[i]!.signal]);
        return generateItem({ ...core, model }, prompt, sampling, fault, either);
      }),
    );
    const samples = wireSamples(batches, core.logprobs, model, fault);
    const written = samples.map((sample) => {
      const item = items[sample.index] ?? items.at(-1)!;
      return writeSample(core, fields, item, sample, fault, started);
    });
    const isBatch = Array.isArray((fields["input_ids"] as unknown[])[0]) || items.length > 1;
    return jsonResponse(isBatch ? written : written[0]);
  } finally {
    for (const { rid } of items) core.flights.delete(rid);
  }
}

/** `max_new_tokens: 0` is a prefill: no ids, no logprobs. */
async function generateItem(
  core: SglangCore,
  prompt: readonly number[],
  sampling: FakeSampling,
  fault: Fault | null,
  signal: AbortSignal,
): Promise<FakeSample> {
  if (sampling.maxTokens === 0) return { tokens: [], finish: "length", seed: 0, versions: [] };
  const [sample] = await generateAll(core, prompt, [sampling], fault, [signal]);
  return sample!;
}

function readItems(core: SglangCore, fields: Fields): readonly Item[] | Response {
  const given = fields["input_ids"];
  if (given === undefined || given === null) {
    return valueError("Either text, input_ids or input_embeds should be provided.");
  }
  if (!Array.isArray(given) || given.length === 0) return valueError("input_ids cannot be empty.");
  const prompts = (Array.isArray(given[0]) ? given : [given]) as readonly (readonly number[])[];
  if (prompts.some((prompt) => prompt.length === 0))
    return valueError("input_ids cannot be empty.");
  if (core.strict) {
    const complaints = [
      ...checkFields(fields, BODY),
      ...(fields["stream"] === false ? [] : ["Expected stream false: this fake does not stream"]),
    ];
    core.complaints.push(...complaints);
    if (complaints.length > 0) return valueError(complaints.join("; "));
  }
  if (prompts.flat().some((id) => id < 0 || id >= core.model.vocabSize)) {
    // The scheduler dies of it, and the process with it.
    core.dead = true;
    return new Response(null, { status: 500 });
  }
  const params = fields["sampling_params"] ?? {};
  const rids = fields["rid"];
  const candidates = Number(fields["top_logprobs_num"] ?? 0);
  const items: Item[] = [];
  for (const [i, prompt] of prompts.entries()) {
    const own = (Array.isArray(params) ? params[i] : params) as Fields | undefined;
    const read = readSampling(core, own ?? {}, prompt.length, candidates);
    if (read instanceof Response) return read;
    const rid = ridOf(rids, i, prompts.length);
    for (let copy = 0; copy < read.n; copy++) {
      // With n in one item the children get ids of their own and share the seed.
      const name = read.n > 1 ? randomRid() : rid;
      items.push({ rid: name, prompt, sampling: read.sampling });
    }
  }
  const names = items.map(({ rid }) => rid);
  const twice = names.find((rid, i) => core.flights.has(rid) || names.indexOf(rid) !== i);
  if (twice !== undefined) return valueError(`Duplicate request ID detected: ${twice}`);
  return items;
}

function ridOf(rids: unknown, place: number, count: number): string {
  if (Array.isArray(rids)) return String(rids[place]);
  if (typeof rids === "string") return count > 1 ? `${rids}_${place}` : rids;
  return randomRid();
}

function randomRid(): string {
  return crypto.randomUUID().replaceAll("-", "");
}

function modelOf(core: SglangCore, path: unknown): FakeModel | Response {
  const first: unknown = Array.isArray(path) ? path[0] : path;
  if (first === undefined || first === null) return core.model;
  const adapter = typeof first === "string" ? core.adapters.get(first) : undefined;
  return adapter ?? valueError(`LoRA adapter ${JSON.stringify(first)} is not loaded`);
}

/** −Infinity becomes the smallest float32, NaN becomes null (orjson). */
function numberOf(logprob: number | null): number | null {
  if (logprob === null || Number.isNaN(logprob)) return null;
  return logprob === -Infinity ? -3.4028234663852886e38 : logprob;
}

function finishOf(sample: WireSample, item: Item, fault: Fault | null): object {
  if (fault?.type === "nan_happened" && (fault.sample ?? 0) === sample.index) {
    return { type: "stop", matched: "NaN happened" };
  }
  if (sample.reason !== undefined) return { type: sample.reason };
  switch (sample.finish) {
    case "stop":
      return { type: "stop", matched: sample.ids.at(-1) };
    case "length":
      return { type: "length", length: item.sampling.maxTokens };
    case "aborted":
      return { type: "abort", message: "Aborted", status_code: null, err_type: null };
  }
}

function writeSample(
  core: SglangCore,
  fields: Fields,
  item: Item,
  sample: WireSample,
  fault: Fault | null,
  started: number,
): object {
  const now = Date.now() / 1000;
  const { entries, ids, text } = sample;
  const withLogprobs = fields["return_logprob"] === true;
  const withCandidates = withLogprobs && Number(fields["top_logprobs_num"] ?? 0) > 0;
  const used = usedPrompt(item.prompt, fault);
  return {
    text,
    output_ids: ids,
    meta_info: {
      id: item.rid,
      finish_reason: finishOf(sample, item, fault),
      prompt_tokens: used.length,
      weight_version: core.model.version(),
      num_retractions: 0,
      storage_prefetch_wait: 0,
      storage_staging_wait: 0,
      forward_entry_time: started,
      prefill_finished_time: started,
      queue_time: 0,
      ...(withLogprobs
        ? {
            input_token_logprobs: [],
            output_token_logprobs: entries.map(({ id, logprob }) => [numberOf(logprob), id, null]),
            output_token_logprobs_length: entries.length,
          }
        : {}),
      ...(withCandidates
        ? {
            input_top_logprobs: [],
            output_top_logprobs: entries.map(({ candidates }) =>
              candidates.map(({ id, logprob }) => [numberOf(logprob), id, null]),
            ),
          }
        : {}),
      reasoning_tokens: 0,
      completion_tokens: ids.length,
      cached_tokens: 0,
      weight_versions:
        sample.versions.length > 0
          ? sample.versions
          : [{ version: core.model.version(), start: 0, end: 0 }],
      cached_tokens_details: null,
      dp_rank: null,
      e2e_latency: now - started,
      request_received_ts: started,
      first_token_latency: now - started,
      api_server_dispatch_finish_ts: started,
      request_finished_ts: now,
      ...(ids.length > 1 ? { decode_throughput: ids.length / Math.max(1e-3, now - started) } : {}),
      response_sent_to_client_ts: now,
    },
    ...(fields["return_prompt_token_ids"] === true ? { prompt_token_ids: used } : {}),
  };
}
