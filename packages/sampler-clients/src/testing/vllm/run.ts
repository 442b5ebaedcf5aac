/** From checked parameters to samples, under an id that can be aborted. */
import type { FakeModel } from "../fake-model.ts";
import type { Fault } from "../faults.ts";
import { generateAll } from "../fake-server.ts";
import { wireSamples, type WireSample } from "../wire-sample.ts";
import { vllmError } from "./errors.ts";
import type { VllmCore } from "./options.ts";
import type { VllmSampling } from "./sampling.ts";

export async function runVllm(
  core: VllmCore,
  model: FakeModel,
  id: string,
  prompt: readonly number[],
  sampling: VllmSampling,
  fault: Fault | null,
  signal: AbortSignal,
): Promise<readonly WireSample[]> {
  const aborting = new AbortController();
  const flights = core.flights.get(id) ?? new Set();
  core.flights.set(id, flights.add(aborting));
  try {
    const either = AbortSignal.any([signal, aborting.signal]);
    const signals = sampling.samples.map(() => either);
    const samples = await generateAll({ ...core, model }, prompt, sampling.samples, fault, signals);
    for (const { finish } of samples) core.finished[finish === "aborted" ? "abort" : finish]++;
    return wireSamples(samples, core.logprobs, model, fault);
  } finally {
    flights.delete(aborting);
    if (flights.size === 0) core.flights.delete(id);
  }
}

export function modelOf(core: VllmCore, given: unknown): FakeModel | Response {
  if (given === undefined || given === null || given === core.modelName) return core.model;
  const name = typeof given === "string" ? given : JSON.stringify(given);
  const adapter = core.adapters.get(name);
  if (adapter !== undefined) return adapter;
  const names = [core.modelName, ...core.adapters.keys()].join(", ");
  const message = `The model \`${name}\` does not exist. Valid aliases: ${names}.`;
  return vllmError(404, message, "NotFoundError", "model");
}

/** vLLM's own word for the end, unless a fault says another. */
export function finishOf(sample: WireSample): string | null {
  if (sample.reason !== undefined) return sample.reason;
  return sample.finish === "aborted" ? "abort" : sample.finish;
}

export function usageOf(prompt: readonly number[], samples: readonly WireSample[]) {
  const completion = samples.reduce((sum, { ids }) => sum + ids.length, 0);
  return {
    prompt_tokens: prompt.length,
    total_tokens: prompt.length + completion,
    completion_tokens: completion,
    prompt_tokens_details: null,
    completion_tokens_details: null,
  };
}

/** What is not there, and −Infinity, are written as −9999. */
export function floored(logprob: number | null): number | null {
  return logprob === null ? null : Math.max(logprob, -9999);
}

export function randomId(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, 16);
}
