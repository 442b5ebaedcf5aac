/**
 * The handshake with one server, once at start. In: what was configured and a way to reach it. Out: the connected
 * server with a table of answers, or one line with the fix. What logprobs mean is measured, never assumed.
 */
import type { LogprobKind, WeightVersion } from "@interlace/core";
import { openBackend } from "../backend.ts";
import { connectServer } from "../connect.ts";
import type { Http } from "../http.ts";
import type { ConnectOptions, SamplerKind, SamplerTokenizer, Server } from "../server.ts";
import type { Trouble } from "../trouble.ts";
import { sampleParts } from "../wrappers/split.ts";
import { limitRequests } from "../wrappers/limit.ts";
import { retryRequests, type RetryOptions } from "../wrappers/retry.ts";
import { answer, problem, refuse, type Answer, type Refusal } from "./answer.ts";
import { unsupported, type Sampling } from "./bias.ts";
import { probeServer, type Probed } from "./probe.ts";

export type HandshakeOptions = {
  readonly kind: SamplerKind;
  readonly connect: ConnectOptions;
  readonly tokenizer: SamplerTokenizer | null;
  /** Rows of the model as configured; null = not configured. */
  readonly vocabSize: number | null;
  readonly sampling: Sampling;
  readonly maxTrajectoryTokens: number;
  readonly maxAssistantTokens: number;
  /** Name of the variable that holds the key, null = none is configured. */
  readonly apiKeyEnv: string | null;
  readonly sampleMs: number;
  readonly retry: RetryOptions;
  readonly nextId: () => string;
};

export type Shaken = {
  readonly ok: true;
  readonly url: string;
  readonly server: Server;
  readonly answers: readonly Answer[];
  readonly vocabSize: number;
  readonly logprobKind: LogprobKind;
  readonly honoursSeed: boolean;
};

/** What is still being read while a server says who it is: rejects with its reason. */
export type Pending = { readonly tokenizer: Promise<SamplerTokenizer | null> };

export async function shakeHands(
  http: Http,
  asked: Omit<HandshakeOptions, "tokenizer"> & Pending,
  signal: AbortSignal,
): Promise<Shaken | Refusal> {
  const { url } = http;
  const server = await connectServer(asked.kind, http, asked.connect, signal);
  if ("cause" in server) return refuse(url, [], explain(url, server, asked));
  let tokenizer: SamplerTokenizer | null;
  try {
    tokenizer = await asked.tokenizer;
  } catch (error) {
    await server.close();
    throw error;
  }
  return examine(http, server, { ...asked, tokenizer }, signal);
}

/** What of the settings holds at a server that is connected, and what its samples show. */
async function examine(
  http: Http,
  server: Server,
  options: HandshakeOptions,
  signal: AbortSignal,
): Promise<Shaken | Refusal> {
  const { url } = http;
  const answers: Answer[] = [answer("reachable", `${url} (${options.kind})`)];
  answers.push(answer("model", server.facts.model));
  for (const { line, fix } of server.facts.notes) answers.push(answer("note", line, fix));
  const settled = await checkSettings(server, options, signal);
  if (!Array.isArray(settled)) {
    await server.close();
    return refuse(url, answers, settled as Answer);
  }
  answers.push(...(settled as readonly Answer[]));
  const vocabSize = rowsOf(server, options);
  if (vocabSize === null) {
    await server.close();
    const fix =
      "set sampler.vocab_size to vocab_size of the model's config.json, or name --tokenizer";
    return refuse(
      url,
      answers,
      problem("vocabulary", "neither the server nor a tokenizer tells it", fix),
    );
  }
  const probed = await probe(http, server, vocabSize, options, signal);
  if (probed.failure !== null && probed.logprobs.shift === null && probed.stopReturned === null) {
    await server.close();
    // Model lists are alike across kinds, so that another kind may only show here.
    const fix = isMissing(probed.failure) ? wrongPlace(url, probed.failure, options.kind) : null;
    return refuse(url, answers, problem("first sample", probed.failure, fix));
  }
  if (probed.seeds === "clones") server.dropSeeds?.();
  answers.push(...probeAnswers(probed, server));
  const honoursSeed = server.facts.takesSeeds && probed.seeds === "honoured";
  const logprobKind = probed.logprobs.kind;
  return { ok: true, url, server, answers, vocabSize, logprobKind, honoursSeed };
}

/** One line for the ways in which a first contact fails. */
function explain(
  url: string,
  seen: Trouble,
  options: Pick<HandshakeOptions, "kind" | "apiKeyEnv">,
): Answer {
  const { detail } = seen;
  if (seen.unhealthy && detail.includes(" broke: ")) {
    return problem("reachable", detail, `start the ${options.kind} server or correct --url ${url}`);
  }
  if (/ answered 40[13]: /.test(detail)) {
    const fix =
      options.apiKeyEnv === null
        ? "name the environment variable that holds the key: sampler.api_key_env"
        : `check the key in $${options.apiKeyEnv}`;
    return problem("API key", detail, fix);
  }
  if (isMissing(detail) || detail.includes("that is not JSON") || / answered 30\d: /.test(detail)) {
    return problem("reachable", detail, wrongPlace(url, detail, options.kind));
  }
  if (detail.startsWith("Expected model ")) return problem("model", detail, "set sampler.model");
  return problem("reachable", detail, null);
}

/** The server has no such route. */
function isMissing(detail: string): boolean {
  return detail.includes(" answered 404: ");
}

/** What a person may have meant, where another server or a page answers. */
function wrongPlace(url: string, detail: string, kind: SamplerKind): string {
  // Clients of the OpenAI API want it in their base URL; here every path has its own.
  const [version] = (kind === "tinker" ? /\/api\/v1$|\/v1$|\/api$/ : /\/v1$/).exec(url) ?? [];
  if (version !== undefined) return `leave ${version} out of --url`;
  if (isMissing(detail)) {
    return `this looks like another kind of server: is it ${kind}? If not, name its kind with --sampler; if so, correct --url`;
  }
  return `is --url the ${kind} server itself, and not a page or proxy?`;
}

/** The rows of the table, or the row that stops the run. */
async function checkSettings(
  server: Server,
  options: HandshakeOptions,
  signal: AbortSignal,
): Promise<readonly Answer[] | Answer> {
  const { facts } = server;
  const { tokenizer } = options;
  const wrong = unsupported(options.kind, options.sampling, options.maxAssistantTokens);
  if (wrong !== null) return problem("sampling", wrong.seen, wrong.fix);
  const { contextLength } = facts;
  if (contextLength !== null && contextLength < options.maxTrajectoryTokens) {
    const seen = `${contextLength} tokens, max_trajectory_tokens is ${options.maxTrajectoryTokens}`;
    return problem(
      "context",
      seen,
      "lower max_trajectory_tokens or give the server a longer context",
    );
  }
  const context = contextLength === null ? "not told" : `${contextLength} tokens`;
  const rows = rowsOf(server, options);
  if (
    facts.vocabSize !== null &&
    options.vocabSize !== null &&
    facts.vocabSize !== options.vocabSize
  ) {
    const seen = `the server's model has ${facts.vocabSize} rows, sampler.vocab_size is ${options.vocabSize}`;
    return problem("vocabulary", seen, "remove sampler.vocab_size or serve the right model");
  }
  if (tokenizer !== null && rows !== null && tokenizer.vocabSize > rows) {
    const seen = `the tokenizer names ${tokenizer.vocabSize} ids, the model has ${rows} rows`;
    return problem("vocabulary", seen, "name the tokenizer of the served model (--tokenizer)");
  }
  const compared = tokenizer === null ? null : await compareTokenizers(server, tokenizer, signal);
  if (compared !== null && !compared.holds) return compared;
  return [
    answer("context", context),
    answer("vocabulary", rows === null ? "not told" : `${rows} rows`),
    ...(compared === null ? [] : [compared]),
  ];
}

/** Words, digits, white space, accents, another script: what two vocabularies cut differently. */
const SAMPLE_TEXT = "Let x = 12345.\n\tdef area(r): return 3.14 * r**2  # naïve größer 数学 🙂";

async function compareTokenizers(
  server: Server,
  tokenizer: SamplerTokenizer,
  signal: AbortSignal,
): Promise<Answer | null> {
  const theirs = await server.tokenize(SAMPLE_TEXT, signal);
  if (theirs === null) return null;
  const ours = Array.from(tokenizer.encode(SAMPLE_TEXT));
  const at = ours.findIndex((id, place) => theirs[place] !== id);
  if (at === -1 && ours.length === theirs.length) {
    return answer("tokenizer", "the server cuts a sample text into the same ids");
  }
  const place = at === -1 ? ours.length : at;
  const seen = `a sample text becomes other ids at place ${place}: ${ours[place] ?? "the end"} here, ${JSON.stringify(theirs[place] ?? "the end")} there`;
  return problem("tokenizer", seen, "name the tokenizer of the served model (--tokenizer)");
}

function rowsOf(server: Server, options: HandshakeOptions): number | null {
  return server.facts.vocabSize ?? options.vocabSize ?? options.tokenizer?.vocabSize ?? null;
}

function probe(
  http: Http,
  server: Server,
  vocabSize: number,
  options: HandshakeOptions,
  signal: AbortSignal,
): Promise<Probed> {
  const version = (): WeightVersion | null => server.facts.weightVersion;
  const { nextId } = options;
  const backend = openBackend(http, server, { vocabSize, logprobKind: "unknown", nextId, version });
  const limited = limitRequests(backend, { limit: () => 16, sampleMs: options.sampleMs });
  const retried = retryRequests(limited, options.retry);
  return probeServer(
    (request, abort) => sampleParts(retried, request, server.atOnce(request), abort),
    probePrompts(options.tokenizer, vocabSize),
    signal,
  );
}

/** Short openings that leave much open, so that several ids are likely. */
const OPENINGS = ["The", "A", "1", "x", "So"];

function probePrompts(tokenizer: SamplerTokenizer | null, rows: number): readonly Int32Array[] {
  if (tokenizer === null) {
    return [0.2, 0.4, 0.6, 0.8].map((share) => Int32Array.of(Math.floor(rows * share)));
  }
  return OPENINGS.map((opening) => Int32Array.from(tokenizer.encode(opening)));
}

function probeAnswers(probed: Probed, server: Server): readonly Answer[] {
  const { logprobs, seeds, stopReturned, failure } = probed;
  const cut = server.facts.stops === "cut";
  return [
    answer("logprobs", LOGPROBS[logprobs.kind]),
    answer("seeds", server.facts.takesSeeds ? SEEDS[seeds] : "not sent"),
    answer(
      "stop id",
      stopReturned === null
        ? "no probe ended at one"
        : cut
          ? "cut here"
          : stopReturned
            ? "returned"
            : "left out",
    ),
    answer("ids", "returned with every sample"),
    ...(failure === null ? [] : [answer("note", `some probes failed: ${failure}`)]),
  ];
}

const LOGPROBS: Readonly<Record<LogprobKind, string>> = {
  raw: "raw: temperature 1, full vocabulary",
  temperature_scaled: "scaled by temperature, full vocabulary",
  processed: "scaled by temperature, renormalised over the ids that top_p and top_k keep",
  unknown: "could not be told apart",
};

const SEEDS: Readonly<Record<Probed["seeds"], string>> = {
  honoured: "honoured",
  ignored: "not honoured: the same seed draws something else",
  clones: "harmful, so no longer sent: one seed makes all siblings equal",
};
