/** A real server as a subject of the conformance suite. */
import { loadTokenizer, weightVersion } from "../../packages/core/src/index.ts";
import { join } from "node:path";
import {
  createSampler,
  embeddedPolicyFolder,
  samplerTokenizer,
  type SamplerClient,
} from "../../packages/sampler-clients/src/index.ts";
import type { Subject, Weights } from "../../packages/sampler-clients/test/conformance/subject.ts";

export type RealServerNote = {
  readonly name: string;
  readonly kind: "vllm" | "llamacpp" | "sglang" | "tinker";
  readonly url: string;
  readonly logprobs: "raw" | "processed" | "temperature_scaled";
  readonly scaleOut: boolean;
  /** What `make_policies.py` wrote. */
  readonly policies: string;
};

export async function openReal(note: RealServerNote): Promise<Subject> {
  const client = await openClient(note);
  const { url, kind } = note;
  return {
    client,
    untilBusy: () => until(async () => (await busy(kind, url)) > 0, 5),
    // A llama.cpp that is asked more often than every second or so never sees that a client has gone.
    untilIdle: () =>
      until(async () => (await busy(kind, url)) === 0, kind === "llamacpp" ? 2_500 : 50),
    hold: HOLDS[kind](url),
    weights:
      kind === "vllm" || kind === "sglang"
        ? {
            first: weights("first", note.policies, embeddedPolicyFolder),
            other: weights("other", note.policies, join(note.policies, "other-tied")),
          }
        : null,
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

export async function openClient(
  note: RealServerNote,
  updates: "drain" | "overlap" = "drain",
): Promise<SamplerClient> {
  const folder = embeddedPolicyFolder;
  const tokenizer = loadTokenizer({
    tokenizer: await Bun.file(join(folder, "tokenizer.json")).json(),
    config: await Bun.file(join(folder, "tokenizer_config.json")).json(),
  });
  const client = await createSampler(
    { kind: note.kind, urls: [note.url], updates, vocabSize: 512 },
    {
      tokenizer: samplerTokenizer(tokenizer),
      sampling: { temperature: 1, topP: 1, topK: null },
      maxTrajectoryTokens: 512,
      maxAssistantTokens: 96,
    },
    new AbortController().signal,
  );
  if (!client.ok) throw new Error(client.line);
  return client;
}

function weights(name: string, policies: string, folder: string): Weights {
  return { version: weightVersion(name), location: join(policies, name), folder };
}

const HOLDS: Readonly<Record<RealServerNote["kind"], (url: string) => Subject["hold"]>> = {
  vllm: (url) => ({
    pause: () => post(`${url}/pause?mode=keep&clear_cache=false`),
    resume: () => post(`${url}/resume`),
  }),
  sglang: (url) => ({
    pause: () => post(`${url}/pause_generation`, '{"mode":"in_place"}'),
    resume: () => post(`${url}/continue_generation`),
  }),
  llamacpp: () => null,
  tinker: () => null,
};

async function busy(kind: RealServerNote["kind"], url: string): Promise<number> {
  // Nothing in the protocol tells.
  if (kind === "tinker") return 0;
  if (kind === "llamacpp") {
    const slots = (await (await fetch(`${url}/slots`)).json()) as { is_processing: boolean }[];
    return slots.filter((slot) => slot.is_processing).length;
  }
  if (kind === "sglang") {
    const { loads } = (await (await fetch(`${url}/v1/loads`)).json()) as {
      loads: { num_running_reqs: number; num_waiting_reqs: number }[];
    };
    return loads.reduce((sum, load) => sum + load.num_running_reqs + load.num_waiting_reqs, 0);
  }
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^vllm:num_requests_running\{[^}]*\} (\S+)$/m.exec(metrics)?.[1] ?? 0);
}

async function until(holds: () => Promise<boolean>, everyMs: number): Promise<void> {
  for (;;) {
    if (everyMs > 1_000) await Bun.sleep(everyMs);
    if (await holds()) return;
    await Bun.sleep(everyMs);
  }
}

async function post(url: string, body = "{}"): Promise<void> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
}
