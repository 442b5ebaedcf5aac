/** The work of `interlace serve fake-vllm` and its kin: a faithful server over the policy in the box. */
import {
  createFakeLlamacpp,
  createFakeSglang,
  createFakeTgi,
  createFakeTinker,
  createFakeVllm,
  serveFake,
} from "@interlace/sampler-clients/testing";
import { embeddedPolicyFolder } from "@interlace/sampler-clients";
import type { ServeFakeFlags } from "../commands/serve.ts";
import { messageOf, workFailed } from "../person-error.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { serveUntilStopped } from "./serve-until-stopped.ts";

const FAKES = {
  vllm: createFakeVllm,
  sglang: createFakeSglang,
  tgi: createFakeTgi,
  llamacpp: createFakeLlamacpp,
  tinker: createFakeTinker,
} as const;

export type FakeKind = keyof typeof FAKES;

export async function serveFakeWork(
  terminal: Terminal,
  flags: ServeFakeFlags,
  kind: FakeKind,
): Promise<0> {
  const fake = await FAKES[kind]();
  try {
    const service = await serveFake(fake.app, { port: flags.port });
    const lines = [
      `fake     ${kind}, over the policy in the box; what it is sent is checked, Ctrl-C stops it`,
      `try      bun run rollout --preset embedded --sampler ${kind} --url ${service.url} --tokenizer ${embeddedPolicyFolder}`,
    ];
    const code = await serveUntilStopped(service, lines, terminal);
    for (const complaint of fake.complaints) terminal.note(`complaint: ${complaint}`);
    return code;
  } catch (error) {
    throw workFailed(`Cannot serve on port ${flags.port}: ${messageOf(error)}`, error);
  }
}
