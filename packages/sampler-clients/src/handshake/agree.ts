/** Replicas are one model: what their handshakes say must agree, and together it is one identity. Pure. */
import type { SamplerIdentity } from "@interlace/core";
import type { SamplerKind } from "../server.ts";
import { problem, refuse, type Refusal } from "./answer.ts";
import type { Shaken } from "./handshake.ts";

/** null = they agree. */
export function disagreement(shaken: readonly Shaken[]): Refusal | null {
  const [first, ...others] = shaken;
  if (first === undefined) return null;
  for (const other of others) {
    const [ours, theirs] = [describe(first), describe(other)];
    if (ours === theirs) continue;
    const seen = `${first.url} has ${ours}, ${other.url} has ${theirs}`;
    return refuse(
      other.url,
      other.answers,
      problem("replicas", seen, "give URLs of one model, started alike"),
    );
  }
  return null;
}

function describe({ server, vocabSize, logprobKind }: Shaken): string {
  return `model ${server.facts.model}, ${vocabSize} rows, ${logprobKind} logprobs`;
}

export function identityOf(shaken: readonly Shaken[], kind: SamplerKind): SamplerIdentity {
  const [first] = shaken as readonly [Shaken, ...Shaken[]];
  const lengths = shaken.map(({ server }) => server.facts.contextLength).filter((n) => n !== null);
  const { facts } = first.server;
  return {
    kind,
    model: facts.model,
    vocabSize: first.vocabSize,
    contextLength: lengths.length === 0 ? null : Math.min(...lengths),
    logprobKind: first.logprobKind,
    honoursSeed: shaken.every(({ honoursSeed }) => honoursSeed),
    versionSource: facts.versionSource,
    weightVersion: facts.weightVersion,
  };
}
