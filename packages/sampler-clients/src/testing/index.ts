/** Fake servers over the policy in the box: faithful shapes, exact logprobs, faults by script. */
export { createFakeVllm } from "./vllm/fake-vllm.ts";
export type { FakeVllmOptions } from "./vllm/options.ts";
export { createFakeSglang } from "./sglang/fake-sglang.ts";
export type { FakeSglangOptions } from "./sglang/options.ts";
export { createFakeTgi } from "./tgi/fake-tgi.ts";
export type { FakeTgiOptions } from "./tgi/options.ts";
export { createFakeLlamacpp } from "./llamacpp/fake-llamacpp.ts";
export type { FakeLlamacppOptions } from "./llamacpp/options.ts";
export { createFakeTinker } from "./tinker/fake-tinker.ts";
export type { FakeTinkerOptions } from "./tinker/options.ts";
export { serveFake, type Fetchable, type ServedFake } from "./serve-fake.ts";
export type { FakeOptions, FakeServer, Seen } from "./fake-server.ts";
export { openFakeModel, type FakeModel, type FakeSample, type FakeSampling } from "./fake-model.ts";
export type { ServerLogprobs } from "./explain-row.ts";
export type { Latency } from "./latency.ts";
export type {
  Fault,
  FutureAnswer,
  GenerationFault,
  KindFault,
  ProtoForm,
  SampleFault,
  WireFault,
} from "./faults.ts";
