/**
 * One server as the wrappers see it. In: a request of the port. Out: checked sequences, or a `Trouble`. Checks the
 * prompt's ids before anything is sent, names each attempt, and on abort tells the server as well as closing the
 * socket. Never retries, never waits for a slot.
 */
import type { Failure, SampleRequest, Segment, Sequence, WeightVersion } from "@interlace/core";
import { checkAnswer, type Bounds } from "./check-sequence.ts";
import type { Http } from "./http.ts";
import type { Server } from "./server.ts";
import { trouble, type Trouble } from "./trouble.ts";

export type Answered = { readonly ok: true; readonly sequences: readonly (Sequence | Failure)[] };

export interface Backend {
  /** Rejects only on abort. */
  readonly sample: (request: SampleRequest, signal: AbortSignal) => Promise<Answered | Trouble>;
  /** Would take a request now. Rejects only on abort. */
  readonly healthy: (signal: AbortSignal) => Promise<boolean>;
}

export type BackendOptions = {
  readonly vocabSize: number;
  readonly logprobKind: Bounds["logprobKind"];
  /** A name that is unique among all clients of the server, of fixed width. */
  readonly nextId: () => string;
  /** The version that was announced last; asked before and after each request. */
  readonly version: () => WeightVersion | null;
};

/** Telling a server to stop must not hold up the abort itself. */
const ABORT_MS = 2_000;
const HEALTH_MS = 5_000;

export function openBackend(http: Http, server: Server, options: BackendOptions): Backend {
  const known = new WeakSet<Segment>();
  async function sample(request: SampleRequest, signal: AbortSignal): Promise<Answered | Trouble> {
    const bad = findForeignId(request, options.vocabSize, known);
    if (bad !== null) return trouble("refused", bad);
    const wireId = options.nextId();
    const before = await versionNow(server, options, signal);
    let raws;
    try {
      raws = await server.sample(request, wireId, signal);
    } catch (error) {
      if (signal.aborted) await stopAtServer(http, server, request, wireId);
      throw error;
    }
    if ("ok" in raws) return raws;
    const after = await versionNow(server, options, signal);
    const { vocabSize, logprobKind } = options;
    const bounds: Bounds = { vocabSize, logprobKind, stops: server.facts.stops, before, after };
    return { ok: true, sequences: checkAnswer(raws, request, bounds) };
  }
  async function healthy(signal: AbortSignal): Promise<boolean> {
    const call = { method: "GET", path: server.facts.healthPath, limitMs: HEALTH_MS } as const;
    const reply = await http.send(call, signal);
    return reply.ok && reply.status === 200;
  }
  return { sample, healthy };
}

/** Servers that name no spans are asked, where they tell at all. */
async function versionNow(
  server: Server,
  options: BackendOptions,
  signal: AbortSignal,
): Promise<WeightVersion | null> {
  if (server.facts.versionSource !== "per_request") return options.version();
  return server.readVersion(signal);
}

async function stopAtServer(
  http: Http,
  server: Server,
  request: SampleRequest,
  wireId: string,
): Promise<void> {
  const limit = AbortSignal.timeout(ABORT_MS);
  const calls = server.aborts(request, wireId).map((call) => http.send(call, limit));
  // The socket is closed already; a server that cannot be reached now needs no telling.
  await Promise.allSettled(calls);
}

/** One id outside the vocabulary kills some servers; a segment is looked at once. */
function findForeignId(
  request: SampleRequest,
  vocabSize: number,
  known: WeakSet<Segment>,
): string | null {
  if (request.prompt.length === 0) return "Expected a prompt of at least one id, got none";
  for (const segment of request.prompt.segments) {
    if (known.has(segment)) continue;
    const { ids } = segment;
    // By index: an iterator costs ten times as much.
    for (let i = 0; i < ids.length; i += 1) {
      const id = ids[i]!;
      if (id < 0 || id >= vocabSize) {
        return `Expected prompt ids in [0, ${vocabSize}), got ${id}; nothing was sent`;
      }
    }
    known.add(segment);
  }
  return null;
}
