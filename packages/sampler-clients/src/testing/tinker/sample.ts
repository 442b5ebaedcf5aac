/** `asample`: checks, a future, and the samples that it will hold. Sampling goes on when the client goes away. */
import { z } from "zod";
import { checkFields } from "../check-fields.ts";
import type { FakeSampling } from "../fake-model.ts";
import { generateAll } from "../fake-server.ts";
import type { Fault } from "../faults.ts";
import { jsonResponse, wireJson } from "../wire-json.ts";
import { wireSamples, type WireSample } from "../wire-sample.ts";
import type { FutureResult, SamplingSession, TinkerCore } from "./options.ts";
import { writeSampleResponse } from "./proto.ts";

const BODY = {
  where: "the body",
  required: ["sampling_session_id", "seq_id", "num_samples", "prompt", "sampling_params"],
  known: ["prompt_logprobs", "topk_prompt_logprobs", "type", "base_model", "model_path"],
};
const PARAMS = {
  where: "sampling_params",
  required: ["max_tokens", "stop", "temperature", "top_k", "top_p"],
  known: ["seed"],
};

const bodySchema = z.object({
  sampling_session_id: z.string(),
  seq_id: z.int().nullish(),
  num_samples: z.int().min(1).default(1),
  prompt: z.object({
    chunks: z.array(z.object({ type: z.literal("encoded_text"), tokens: z.array(z.int()) })),
  }),
  sampling_params: z.object({
    max_tokens: z.int().nullish(),
    seed: z.int().nullish(),
    stop: z.array(z.int()).nullish(),
    temperature: z.number().default(1),
    top_k: z.int().default(-1),
    top_p: z.number().default(1),
  }),
});

type Asked = z.output<typeof bodySchema>;

export function detail(status: number, text: unknown): Response {
  return jsonResponse({ detail: text }, status);
}

export async function submit(
  core: TinkerCore,
  body: unknown,
  fault: Fault | null,
): Promise<Response> {
  const parsed = bodySchema.safeParse(body);
  if (!parsed.success) {
    const issues = parsed.error.issues.map(({ code, path, message }) => {
      return { type: code, loc: ["body", ...path], msg: message };
    });
    return detail(422, issues);
  }
  const asked = parsed.data;
  if (core.strict) {
    const params = (body as { sampling_params: object }).sampling_params;
    const complaints = [...checkFields(body as object, BODY), ...checkFields(params, PARAMS)];
    core.complaints.push(...complaints);
    if (complaints.length > 0) return detail(422, complaints.join("; "));
  }
  const { max_tokens: most } = asked.sampling_params;
  if (most === null || most === undefined) return detail(400, "max_tokens is currently required");
  if (most <= 0) return detail(400, "max_tokens must be a positive number");
  const session = core.sampling.get(asked.sampling_session_id);
  if (session === undefined) return detail(404, "Sampling session not found");
  const key = `${session.id}/${asked.seq_id}`;
  const held = core.heldBack.get(key) ?? 0;
  if (fault?.type === "backpressure" && held < fault.times) {
    core.heldBack.set(key, held + 1);
    return detail(429, "Too many samples in flight");
  }
  return jsonResponse(pending(core, session, key, asked, most, fault));
}

/** The same sequence id again is the same request, unless its future is gone. */
function pending(
  core: TinkerCore,
  session: SamplingSession,
  key: string,
  asked: Asked,
  most: number,
  fault: Fault | null,
): object {
  const before = core.submitted.get(key);
  const alive = before !== undefined && core.futures.get(before)?.gone === false;
  const id = alive ? before : String(core.futures.size + 1);
  if (!alive) {
    // A future that was lost was scripted once; its second life is a plain one.
    const own = before === undefined ? fault : null;
    const state = {
      result: run(core, session, asked, most, own),
      done: false,
      fault: own,
      answered: 0,
      gone: false,
    };
    state.result.then(
      () => (state.done = true),
      () => (state.done = true),
    );
    core.futures.set(id, state);
    core.submitted.set(key, id);
  }
  return { future_id: id, status: "pending", request_id: id };
}

async function run(
  core: TinkerCore,
  session: SamplingSession,
  asked: Asked,
  most: number,
  fault: Fault | null,
): Promise<FutureResult> {
  const { model } = session;
  const prompt = asked.prompt.chunks.flatMap(({ tokens }) => tokens);
  const room = model.context - prompt.length;
  if (room < 1 || prompt.some((id) => id < 0 || id >= model.vocabSize) || prompt.length === 0) {
    const type = "text/plain; charset=utf-8";
    return { status: 500, type, bytes: new TextEncoder().encode("Internal Server Error") };
  }
  const { temperature, top_k, top_p, seed, stop } = asked.sampling_params;
  const one: Omit<FakeSampling, "seed"> = {
    temperature,
    topP: top_p,
    topK: top_k <= 0 ? null : top_k,
    maxTokens: Math.min(most, room),
    // No implicit EOS (SkyRL): only what the client names.
    stopIds: stop ?? [],
    candidates: 0,
    kind: core.logprobs,
  };
  const shared = core.tinker.seeds === "shared";
  const wanted = Array.from({ length: asked.num_samples }, (_, i) => {
    const base = seed ?? null;
    return { ...one, seed: base === null ? null : base + (shared ? 0 : i) };
  });
  const never = new AbortController().signal;
  const samples = await generateAll(
    { ...core, model },
    prompt,
    wanted,
    fault,
    wanted.map(() => never),
  );
  const wire = wireSamples(samples, core.logprobs, model, fault);
  return core.tinker.protobuf ? asProto(wire, fault) : asJson(wire);
}

function asProto(samples: readonly WireSample[], fault: Fault | null): FutureResult {
  const bytes = writeSampleResponse(samples, fault?.type === "proto" ? fault.form : null);
  return { status: 200, type: "application/x-protobuf", bytes };
}

function asJson(samples: readonly WireSample[]): FutureResult {
  const body = wireJson({
    sequences: samples.map((sample) => ({
      stop_reason:
        sample.reason === undefined
          ? sample.finish === "stop"
            ? "stop"
            : "length"
          : sample.reason,
      tokens: sample.ids,
      logprobs: sample.entries.map(({ logprob }) => logprob),
    })),
    prompt_logprobs: null,
  });
  return { status: 200, type: "application/json", bytes: new TextEncoder().encode(body) };
}
