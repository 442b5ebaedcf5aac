/**
 * Outermost: from the port's request to requests that a server takes at once, and from troubles to one failure per
 * sample. Each part is a request of its own below (retried, limited, routed alone), so a fault in one does not draw
 * its siblings again.
 */
import type { Failure, SampleRequest, Sequence } from "@interlace/core";
import type { Backend } from "../backend.ts";
import { failEach } from "../trouble.ts";

const SEEDS = 2 ** 31;

/** Parts in order. A part also ends where seeds wrap around, as servers count on past 2^31. */
export function splitRequest(request: SampleRequest, atOnce: number): readonly SampleRequest[] {
  if (request.samples <= atOnce && request.seed + request.samples <= SEEDS) return [request];
  const parts: SampleRequest[] = [];
  for (let at = 0; at < request.samples;) {
    const seed = (request.seed + at) % SEEDS;
    const samples = Math.min(atOnce, request.samples - at, SEEDS - seed);
    parts.push({ ...request, id: `${request.id}-${at}`, samples, seed });
    at += samples;
  }
  return parts;
}

export async function sampleParts(
  backend: Backend,
  request: SampleRequest,
  atOnce: number,
  signal: AbortSignal,
): Promise<readonly (Sequence | Failure)[]> {
  const answers = await Promise.all(
    splitRequest(request, atOnce).map(async (part) => {
      const answer = await backend.sample(part, signal);
      return answer.ok ? answer.sequences : failEach(part.samples, answer);
    }),
  );
  return answers.flat();
}
