/**
 * In: the configuration. Out: what samples, what runs code, what grades – and what a person should know of them.
 * Nothing stays open when a part of it cannot be had.
 */
import type { Grader, Sampler, SamplerIdentity, WeightFeed } from "@interlace/core";
import type { OwnedSandbox } from "@interlace/sandbox";
import type { Config } from "../config/schema.ts";
import { openGrader } from "./open-grader.ts";
import { openSandbox } from "./open-sandbox.ts";
import type { Language } from "./open-language.ts";
import type { TokenizerSource } from "./open-tokenizer.ts";
import { openSampler, type HandshakeTable } from "./open-sampler.ts";

export type OpenedPorts = AsyncDisposable & {
  readonly sampler: Sampler;
  readonly identity: SamplerIdentity;
  /** null = the sampler cannot load weights while it runs. */
  readonly weights: WeightFeed | null;
  readonly sandbox: OwnedSandbox;
  readonly grader: Grader;
  /** What the servers said at the handshake; empty for the embedded policy. */
  readonly handshakes: readonly HandshakeTable[];
  readonly warnings: readonly string[];
  /** Requests that were sent again, so far. */
  readonly retries: () => Readonly<Record<string, number>>;
};

/**
 * Throws a PersonError when a part of the machine or a server is not as it must be. While a `language` is read, Python
 * starts and servers say who they are; where it cannot be had, that is what is told.
 */
export async function openPorts(
  config: Config,
  language: Promise<Language>,
  source: TokenizerSource,
  signal: AbortSignal,
  tell: (line: string) => void,
): Promise<OpenedPorts> {
  await using opening = new AsyncDisposableStack();
  // Without a language or a sandbox no server needs to be asked any further. The first that failed is told.
  const stop = new AbortController();
  function stopAsking(error: unknown): never {
    stop.abort(error);
    throw error;
  }
  const [read, openedSandbox, openedSampler] = await Promise.allSettled([
    language.catch(stopAsking),
    openSandbox(config).catch(stopAsking),
    openSampler(config, language, source, AbortSignal.any([signal, stop.signal])),
  ]);
  if (openedSandbox.status === "fulfilled") opening.use(openedSandbox.value);
  if (openedSampler.status === "fulfilled") opening.use(openedSampler.value);
  if (read.status === "rejected") throw read.reason;
  if (openedSandbox.status === "rejected") throw openedSandbox.reason;
  if (openedSampler.status === "rejected") throw openedSampler.reason;
  const [sandbox, sampler] = [openedSandbox.value, openedSampler.value];
  const grader = opening.use(openGrader(config, tell, sandbox));
  const opened = opening.move();
  return {
    sampler: sampler.sampler,
    identity: await sampler.sampler.identity(),
    weights: sampler.weights,
    sandbox,
    grader: grader.grader,
    handshakes: sampler.handshakes,
    warnings: sampler.warnings,
    retries: () => ({ sampler: sampler.retries(), sandbox: sandbox.statistics().retries }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
