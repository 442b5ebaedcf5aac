/**
 * Several servers of one model. In: their backends. Out: one. Requests of one affinity meet the replica that holds
 * their prefix, unless it carries much more than the others or is ill; a replica that fails is left alone for a while,
 * then tried by its health route and one request. Never retries: a retry above it may reach another replica.
 */
import type { SampleRequest } from "@interlace/core";
import type { Answered, Backend } from "../backend.ts";
import { trouble, type Trouble } from "../trouble.ts";

export type ReplicaOptions = {
  /** Load above which a replica gives its requests away, as a multiple of the mean. */
  readonly loadFactor: number;
  /** Faults in a row that open the circuit. */
  readonly faults: number;
  /** Milliseconds for which it then stays open; doubled each time that the trial fails, up to 16 times. */
  readonly openMs: number;
  readonly now: () => number;
};

/** Keys remembered; the oldest are forgotten, and a forgotten key only loses its cache. */
const MAX_KEYS = 65_536;

type Replica = {
  readonly backend: Backend;
  /** Samples in flight. */
  load: number;
  faults: number;
  /** Times that the circuit was opened without a success in between. */
  opened: number;
  /** null = closed. */
  openUntil: number | null;
  trying: boolean;
};

export function spreadOver(backends: readonly Backend[], options: ReplicaOptions): Backend {
  const replicas: readonly Replica[] = backends.map((backend) => ({
    backend,
    load: 0,
    faults: 0,
    opened: 0,
    openUntil: null,
    trying: false,
  }));
  const homes = new Map<string, Replica>();

  async function sample(request: SampleRequest, signal: AbortSignal): Promise<Answered | Trouble> {
    const trial = replicas.find((one) => isDue(one) && !one.trying);
    if (trial !== undefined && wantsTrial(request.affinity)) {
      trial.trying = true;
      try {
        if (await trial.backend.healthy(signal)) return await ask(trial, true, request, signal);
        fault(trial, true);
      } finally {
        trial.trying = false;
      }
    }
    const replica = choose(request.affinity);
    return replica === null ? noneHealthy() : ask(replica, false, request, signal);
  }

  async function ask(
    replica: Replica,
    trial: boolean,
    request: SampleRequest,
    signal: AbortSignal,
  ): Promise<Answered | Trouble> {
    if (trial) remember(request.affinity, replica);
    replica.load += request.samples;
    try {
      const answer = await replica.backend.sample(request, signal);
      if (!answer.ok && answer.unhealthy) fault(replica, trial);
      else recover(replica);
      return answer;
    } finally {
      replica.load -= request.samples;
    }
  }

  /** A request whose prefix lies elsewhere does not try a replica that was ill. */
  function wantsTrial(key: string): boolean {
    const home = homes.get(key);
    return home === undefined || home.openUntil !== null;
  }

  /** Synchronous, so that requests that start together see each other's load. */
  function choose(key: string): Replica | null {
    const closed = replicas.filter((replica) => replica.openUntil === null);
    const home = homes.get(key);
    const healthyHome = home !== undefined && home.openUntil === null;
    if (healthyHome && !isOverloaded(home, closed)) return home;
    const [first, ...others] = closed;
    if (first === undefined) return null;
    const least = others.reduce((best, one) => (one.load < best.load ? one : best), first);
    // A home that is only too busy keeps its key: the others' prefixes are still there.
    return healthyHome ? least : remember(key, least);
  }

  function isDue(replica: Replica): boolean {
    return replica.openUntil !== null && options.now() >= replica.openUntil;
  }
  function isOverloaded(replica: Replica, closed: readonly Replica[]): boolean {
    const mean = closed.reduce((sum, one) => sum + one.load, 0) / closed.length;
    return replica.load > options.loadFactor * (mean + 1);
  }
  function remember(key: string, replica: Replica): Replica {
    homes.delete(key);
    homes.set(key, replica);
    if (homes.size > MAX_KEYS) {
      const [oldest] = homes.keys();
      if (oldest !== undefined) homes.delete(oldest);
    }
    return replica;
  }
  function fault(replica: Replica, trial: boolean): void {
    // What was in flight when the circuit opened says nothing new.
    if (replica.openUntil !== null && !trial) return;
    replica.faults += 1;
    if (!trial && replica.faults < options.faults) return;
    replica.openUntil = options.now() + options.openMs * 2 ** Math.min(replica.opened, 4);
    replica.opened += 1;
  }
  function recover(replica: Replica): void {
    replica.faults = 0;
    replica.opened = 0;
    replica.openUntil = null;
  }
  function noneHealthy(): Trouble {
    const soonest = Math.min(...replicas.map((one) => one.openUntil ?? Infinity));
    const afterMs = Math.max(0, soonest - options.now());
    const detail = `None of ${replicas.length} replicas answers; the next try is in ${Math.ceil(afterMs / 1000)} s`;
    return trouble("server_error", detail, { again: "yes", afterMs });
  }
  async function healthy(signal: AbortSignal): Promise<boolean> {
    const all = await Promise.all(replicas.map((one) => one.backend.healthy(signal)));
    return all.some(Boolean);
  }
  return { sample, healthy };
}
