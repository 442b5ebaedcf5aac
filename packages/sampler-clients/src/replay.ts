/**
 * The sampler without a server: answers of a recorded run. In: its events. Out: the port; exact answers to the
 * requests that were recorded. Any other request is an error that shows the nearest one, as a replay that makes
 * something up would be worthless.
 */
import {
  formatKey,
  type Event,
  type Failure,
  type Key,
  type SampleRequest,
  type Sampler,
  type SamplerIdentity,
  type Sequence,
} from "@interlace/core";

type Recorded = Extract<Event, { type: "sampled" }>;

/** A request that the recording does not answer: where it happened is what a person wants to know. */
export class ReplayMiss extends Error {
  override readonly name = "ReplayMiss";
  readonly key: Key;
  constructor(key: Key, message: string) {
    super(message);
    this.key = key;
  }
}

export type ReplayOptions = {
  /** Told of each miss before it is thrown: a driver that turns what ports throw into failures would hide it. */
  readonly onMiss?: (miss: ReplayMiss) => void;
};

/** `identity` is the recorded one; it is told as it was, so that a replay writes the same files. */
export function replaySampler(
  events: Iterable<Event>,
  identity: SamplerIdentity,
  options: ReplayOptions = {},
): Sampler {
  const recorded = new Map<string, Recorded>();
  for (const event of events) {
    if (event.type === "sampled") recorded.set(formatKey(event.key), event);
  }
  function miss(key: Key, message: string): ReplayMiss {
    const error = new ReplayMiss(key, message);
    options.onMiss?.(error);
    return error;
  }
  function answerTo(request: SampleRequest): readonly (Sequence | Failure)[] {
    const key = readRequestId(request.id);
    const event = recorded.get(formatKey(key));
    if (event === undefined) throw miss(key, unrecorded(key, recorded));
    const { prompt, sequences } = event;
    if (prompt.length !== request.prompt.length || prompt.hash !== request.prompt.hash) {
      throw miss(
        key,
        `Request ${formatKey(key)} has another prompt than the recorded one: ${request.prompt.length} tokens (hash ${request.prompt.hash}), recorded were ${prompt.length} (hash ${prompt.hash}); the run would need a new answer here`,
      );
    }
    if (sequences.length !== request.samples) {
      throw miss(
        key,
        `Request ${formatKey(key)} asks for ${request.samples} samples, recorded were ${sequences.length}`,
      );
    }
    return sequences;
  }
  return {
    identity: () => Promise.resolve(identity),
    // oxlint-disable-next-line typescript/require-await -- the port rejects, it never throws
    sample: async (request, signal) => {
      signal.throwIfAborted();
      return answerTo(request);
    },
  };
}

/** `s0-q3-g1-t2`, `gx` = the first request that a group shares. */
export function readRequestId(id: string): Key {
  const found = /^s(\d+)-q(\d+)-g(\d+|x)-t(\d+)$/.exec(id);
  if (found === null) throw new Error(`Expected a request id like s0-q3-g1-t2, got ${id}`);
  const [, step, question, group, turn] = found;
  return {
    step: Number(step),
    question: Number(question),
    group: group === "x" ? null : Number(group),
    turn: Number(turn),
  };
}

function unrecorded(key: Key, recorded: ReadonlyMap<string, Recorded>): string {
  const near = nearest(key, recorded);
  const shown =
    near === null
      ? "nothing is recorded"
      : `the nearest one is ${formatKey(near.key)}, with a prompt of ${near.prompt.length} tokens`;
  return `Request ${formatKey(key)} (step/question/member/turn) was not recorded; ${shown}`;
}

/** Another turn of the same member, else of the group, else of the step; then the closest numbers. */
function nearest(key: Key, recorded: ReadonlyMap<string, Recorded>): Recorded | null {
  let best: Recorded | null = null;
  let bestDistance = Infinity;
  for (const event of recorded.values()) {
    const distance =
      Math.abs(event.key.step - key.step) * 1e12 +
      Math.abs(event.key.question - key.question) * 1e8 +
      Math.abs((event.key.group ?? -1) - (key.group ?? -1)) * 1e4 +
      Math.abs(event.key.turn - key.turn);
    if (distance < bestDistance) [best, bestDistance] = [event, distance];
  }
  return best;
}
