/**
 * The composition: split → retry → replicas → limit → adapter, after a handshake with every server. In: options and
 * what the run will ask for. Out: the port, its identity, the table, the weight feed – or one line that says what to
 * fix. The only file between options and servers that knows a clock and chance.
 */
import { randomBytes } from "node:crypto";
import type { Sampler, SamplerIdentity, WeightFeed, WeightVersion } from "@interlace/core";
import { openBackend } from "./backend.ts";
import { disagreement, identityOf } from "./handshake/agree.ts";
import { refuse, type Answer, type Refusal } from "./handshake/answer.ts";
import { biasWarnings, type Sampling } from "./handshake/bias.ts";
import { shakeHands, type HandshakeOptions, type Shaken } from "./handshake/handshake.ts";
import type { Http } from "./http.ts";
import { sleep } from "./link-signal.ts";
import { openWires } from "./open-wires.ts";
import {
  samplerOptionsSchema,
  type SamplerOptions,
  type SamplerOptionsInput,
} from "./sampler-options.ts";
import type { SamplerKind, SamplerTokenizer, TextCodec } from "./server.ts";
import { feedWeights, type Fed } from "./weight-feed.ts";
import { followLoad } from "./wrappers/adaptive-limit.ts";
import { limitRequests } from "./wrappers/limit.ts";
import { spreadOver } from "./wrappers/replicas.ts";
import { retryRequests, type Retry } from "./wrappers/retry.ts";
import { sampleParts } from "./wrappers/split.ts";

export type SamplerContext = {
  /**
   * Compared with the server's, and the text bridge of TGI; null = neither. While a promised one is read, servers
   * already say who they are.
   */
  readonly tokenizer: SamplerTokenizer | Promise<SamplerTokenizer> | null;
  readonly sampling: Sampling;
  readonly maxTrajectoryTokens: number;
  readonly maxAssistantTokens: number;
  /** Default: the process's own. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly random?: () => number;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onRetry?: (retry: Retry) => void;
};

export type SamplerClient = AsyncDisposable & {
  readonly ok: true;
  readonly sampler: Sampler;
  readonly identity: SamplerIdentity;
  /** One table per server. */
  readonly tables: readonly { readonly url: string; readonly answers: readonly Answer[] }[];
  /** Where the configuration biases the learner, one line each with the fix. */
  readonly warnings: readonly string[];
  /** null = this kind cannot load weights while it runs. */
  readonly feed: WeightFeed | null;
};

/**
 * Rejects with a ZodError for options that are none, with the signal's reason on abort, with the tokenizer's when that
 * cannot be had; else resolves.
 */
export async function createSampler(
  input: SamplerOptionsInput,
  context: SamplerContext,
  signal: AbortSignal,
): Promise<SamplerClient | Refusal> {
  const tokenizer = Promise.resolve(context.tokenizer);
  tokenizer.catch(() => {}); // told by the handshake; after a refusal by nobody
  const options = samplerOptionsSchema.parse(input);
  const wires = await openWires(options, context.env ?? process.env);
  if ("refused" in wires) return refuse(options.urls[0]!, [], wires.refused);
  const nextId = nameRequests(randomBytes(4).toString("hex"));
  const retry = retryOptions(options, context);
  const results = await Promise.all(
    wires.map((http) =>
      shakeHands(
        http,
        { ...handshakeOptions(options, context, tokenizer), tokenizer, retry, nextId },
        signal,
      ),
    ),
  );
  const shaken = results.filter((result) => result.ok);
  const refused = results.find((result) => !result.ok) ?? disagreement(shaken);
  if (refused !== null) {
    await Promise.all(shaken.map(({ server }) => server.close()));
    return refused;
  }
  const blind = options.adaptive ? await findBlind(shaken, signal) : [];
  return compose(wires, shaken, options, context, { nextId, blind });
}

function compose(
  wires: readonly Http[],
  shaken: readonly Shaken[],
  options: SamplerOptions,
  context: SamplerContext,
  { nextId, blind }: { readonly nextId: () => string; readonly blind: readonly string[] },
): SamplerClient {
  const identity = identityOf(shaken, options.kind);
  const now = context.now ?? (() => performance.now());
  const closing = new AbortController();
  const version: { current: WeightFeed | null } = { current: null };
  const known = (): WeightVersion | null => version.current?.current() ?? identity.weightVersion;
  const fed: readonly Fed[] = shaken.map(({ url, server, vocabSize, logprobKind }, index) => {
    const backend = openBackend(wires[index]!, server, {
      vocabSize,
      logprobKind,
      nextId,
      version: known,
    });
    const follow = options.adaptive
      ? followLoad({
          start: Math.min(ADAPTIVE_START, options.maxInFlight),
          max: options.maxInFlight,
          everyMs: ADAPTIVE_MS,
          now,
          readLoad: () => server.readLoad(closing.signal),
        })
      : null;
    const limited = limitRequests(backend, {
      limit: () => follow?.limit() ?? options.maxInFlight,
      sampleMs: options.sampleTimeoutSeconds * 1000,
      onGrant: (inFlight) => follow?.onGrant(inFlight),
    });
    return { url, server, limited };
  });
  const one = fed.length === 1 ? fed[0]!.limited : null;
  const spread =
    one ??
    spreadOver(
      fed.map(({ limited }) => limited),
      { ...REPLICAS, now },
    );
  const retried = retryRequests(spread, retryOptions(options, context));
  const feed = feedWeights(fed, {
    mode: options.updates,
    form: options.weights,
    first: identity.weightVersion,
  });
  version.current = feed;
  const sampler: Sampler = {
    identity: () => Promise.resolve({ ...identity, weightVersion: known() }),
    sample: (request, signal) =>
      sampleParts(
        retried,
        request,
        Math.min(...fed.map(({ server }) => server.atOnce(request))),
        signal,
      ),
  };
  return {
    ok: true,
    sampler,
    identity,
    tables: shaken.map(({ url, answers }) => ({ url, answers })),
    warnings: [...biasWarnings(options.kind, identity.logprobKind, context.sampling), ...blind],
    feed,
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      await Promise.all(fed.map(({ server }) => server.close()));
    },
  };
}

const ADAPTIVE_START = 64;
/** Not oftener: a llama.cpp whose metrics are read every second never notices a closed socket. */
const ADAPTIVE_MS = 3_000;
const REPLICAS = { loadFactor: 1.5, faults: 5, openMs: 2_000 };

function handshakeOptions(
  options: SamplerOptions,
  context: SamplerContext,
  tokenizer: Promise<SamplerTokenizer | null>,
): Omit<HandshakeOptions, "tokenizer" | "retry" | "nextId"> {
  return {
    kind: options.kind,
    connect: {
      model: options.model,
      codec: context.tokenizer === null ? null : codecOf(tokenizer),
      sleep: context.sleep ?? sleep,
    },
    vocabSize: options.vocabSize,
    sampling: context.sampling,
    maxTrajectoryTokens: context.maxTrajectoryTokens,
    maxAssistantTokens: context.maxAssistantTokens,
    apiKeyEnv: options.apiKeyEnv,
    sampleMs: options.sampleTimeoutSeconds * 1000,
  };
}

/** Text of ids once there is a tokenizer: no server samples before it. */
function codecOf(tokenizer: Promise<SamplerTokenizer | null>): TextCodec {
  let known: SamplerTokenizer | null = null;
  void remember();
  async function remember(): Promise<void> {
    known = await tokenizer.catch(() => null); // the handshake tells why
  }
  return {
    decode(ids) {
      if (known === null) throw new Error("No text can be made before the tokenizer is there");
      return known.decode(ids);
    },
  };
}

function retryOptions(
  options: SamplerOptions,
  context: SamplerContext,
): Parameters<typeof retryRequests>[1] {
  const { attempts, baseSeconds, maxSeconds, budget } = options.retry;
  return {
    attempts,
    baseMs: baseSeconds * 1000,
    maxMs: maxSeconds * 1000,
    budget,
    random: context.random ?? Math.random,
    sleep: context.sleep ?? sleep,
    ...(context.onRetry === undefined ? {} : { onRetry: context.onRetry }),
  };
}

/** `xxxxxxxx-nnnnnnnn`: unique among clients, of fixed width, as aborting matches by prefix somewhere. */
function nameRequests(nonce: string): () => string {
  let count = 0;
  return () => {
    count += 1;
    return `${nonce}-${count.toString(16).padStart(8, "0")}`;
  };
}

/** Servers that an adaptive limit cannot follow, one line each. */
async function findBlind(
  shaken: readonly Shaken[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const loads = await Promise.all(shaken.map(({ server }) => server.readLoad(signal)));
  return shaken
    .filter((_, index) => loads[index] === null)
    .map(
      ({ url, server: { facts } }) =>
        `${url} has no metrics, so its limit stays at ${ADAPTIVE_START} requests: ${METRICS[facts.kind]}`,
    );
}

const METRICS: Readonly<Record<SamplerKind, string>> = {
  vllm: "start vLLM with its /metrics route, or set adaptive = false",
  sglang: "start SGLang with --enable-metrics, or set adaptive = false",
  tgi: "let TGI answer /metrics, or set adaptive = false",
  llamacpp: "start llama-server with --metrics, or set adaptive = false",
  tinker: "a Tinker service has none, set adaptive = false",
};
