/** Several addresses of one service: which to ask next, and which to leave alone for a while. */

export type Replica = {
  readonly url: string;
  inFlight: number;
  failures: number;
  restsUntil: number;
};

export type Replicas = {
  /** The least busy of those that answer; when none does, the one that has rested longest. */
  readonly pick: () => Replica;
  readonly succeeded: (replica: Replica) => void;
  /** It rests, twice as long after every failure in a row. */
  readonly failed: (replica: Replica) => void;
};

const FIRST_REST_MS = 500;
const LONGEST_REST_MS = 30_000;

export function createReplicas(urls: readonly string[], now: () => number): Replicas {
  if (urls.length === 0) {
    throw new RangeError("Expected at least one address of a sandbox service, seen none");
  }
  const all = urls.map((url): Replica => {
    if (!URL.canParse(url)) {
      throw new RangeError(`Expected an address such as http://host:8080, seen "${url}"`);
    }
    return { url: url.replace(/\/+$/, ""), inFlight: 0, failures: 0, restsUntil: 0 };
  });
  return {
    pick() {
      const awake = all.filter((replica) => replica.restsUntil <= now());
      const [first, ...others] = awake.length > 0 ? awake : all;
      const less = awake.length > 0 ? lessBusy : wakesEarlier;
      return others.reduce((best, each) => (less(each, best) ? each : best), first!);
    },
    succeeded(replica) {
      replica.failures = 0;
      replica.restsUntil = 0;
    },
    failed(replica) {
      const rest = Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** replica.failures);
      replica.failures += 1;
      replica.restsUntil = now() + rest;
    },
  };
}

function lessBusy(a: Replica, b: Replica): boolean {
  return a.inFlight < b.inFlight;
}

function wakesEarlier(a: Replica, b: Replica): boolean {
  return a.restsUntil < b.restsUntil;
}
