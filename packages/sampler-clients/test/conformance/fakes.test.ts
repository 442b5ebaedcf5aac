/** Every adapter × its fake: five lines each. */
import {
  createFakeLlamacpp,
  createFakeSglang,
  createFakeTgi,
  createFakeTinker,
  createFakeVllm,
} from "../../src/testing/index.ts";
import { runConformance } from "./conformance.ts";
import { openFake, type Hold } from "./fake-subject.ts";
import type { Traits } from "./subject.ts";

const VLLM_HOLD: Hold = { pause: "/pause?mode=keep", body: "{}", resume: "/resume" };
const SGLANG_HOLD: Hold = {
  pause: "/pause_generation",
  body: '{"mode":"in_place"}',
  resume: "/continue_generation",
};

const VLLM: Traits = {
  kind: "vllm",
  logprobKind: "raw",
  honoursSeed: true,
  versionSource: "per_token",
  tolerance: 1e-5,
  stopsOnAbort: true,
  holds: true,
  loadsWeights: true,
};

const vllm = (options: Parameters<typeof createFakeVllm>[0]) => async () =>
  openFake(await createFakeVllm(options), { kind: "vllm" }, VLLM_HOLD);
runConformance("fake vLLM", vllm({}), VLLM);
runConformance("fake vLLM, processed", vllm({ logprobs: "processed" }), {
  ...VLLM,
  logprobKind: "processed",
});
runConformance("fake vLLM, older", vllm({ release: "older" }), VLLM);
runConformance("fake vLLM, completions", vllm({ scaleOut: false }), {
  ...VLLM,
  versionSource: "per_request",
});

const SGLANG: Traits = {
  ...VLLM,
  kind: "sglang",
  logprobKind: "temperature_scaled",
  honoursSeed: false,
};
const sglang = (options: Parameters<typeof createFakeSglang>[0]) => async () =>
  openFake(await createFakeSglang(options), { kind: "sglang" }, SGLANG_HOLD);
runConformance("fake SGLang", sglang({}), SGLANG);
runConformance("fake SGLang, deterministic", sglang({ deterministic: true }), {
  ...SGLANG,
  honoursSeed: true,
});
runConformance("fake SGLang, original logprobs", sglang({ logprobs: "raw" }), {
  ...SGLANG,
  logprobKind: "raw",
});

const STILL = { versionSource: "none", holds: false, loadsWeights: false } as const;
runConformance("fake TGI", async () => openFake(await createFakeTgi({}), { kind: "tgi" }, null), {
  ...VLLM,
  ...STILL,
  kind: "tgi",
  logprobKind: "processed",
});
runConformance(
  "fake llama.cpp",
  async () => openFake(await createFakeLlamacpp({}), { kind: "llamacpp" }, null),
  { ...VLLM, ...STILL, kind: "llamacpp" },
);

const TINKER: Traits = {
  ...VLLM,
  kind: "tinker",
  versionSource: "per_request",
  stopsOnAbort: false,
  holds: false,
};
const tinker = (options: Parameters<typeof createFakeTinker>[0]) => async () =>
  openFake(await createFakeTinker(options), { kind: "tinker", apiKeyEnv: "FAKE_KEY" }, null);
runConformance("fake Tinker", tinker({ apiKey: "fake" }), TINKER);
runConformance("fake Tinker, JSON", tinker({ protobuf: false }), TINKER);
