import type { Protocol } from "../protocol/protocol.ts";
import type { Member } from "./group.ts";

/** Ids of turn `turn` (from 0). Throws RangeError when the member has no such turn. */
export function turnIds(member: Member, turn: number): Int32Array {
  let seen = 0;
  for (const segment of member.tokens.segments) {
    if (segment.kind === "sampled" && seen++ === turn) return segment.ids;
  }
  throw new RangeError(`Member ${member.index} has ${seen} turns, turn ${turn} was asked for`);
}

/** Stripped text of a turn, decoded from its ids on demand. */
export function turnText(protocol: Protocol, member: Member, turn: number): string {
  return protocol.decodeTurn(turnIds(member, turn));
}

/** `final_text`: the last turn's text, `""` for an EOS-only turn; null when there is no turn. */
export function finalText(protocol: Protocol, member: Member): string | null {
  return member.turns.length === 0 ? null : turnText(protocol, member, member.turns.length - 1);
}
