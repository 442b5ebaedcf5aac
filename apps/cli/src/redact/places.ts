/**
 * Token ids are texts: each is replaced by one that its place decides – question, trajectory, position – and nothing
 * else, so that no frequency gives anything away. What was equal at one place stays equal, what was not stays unequal:
 * a shifted row or a changed token is still to be seen. In: ids with their places. Out: ids of places.
 */

export type Place = { readonly question: number; readonly group: number };

export type Places = {
  /** The ids of a trajectory as its own row has them; told before any other file is looked at. */
  readonly learn: (place: Place, promptLength: number, ids: Int32Array) => void;
  /** In place: `ids[i]` stands at position `from + i` of the trajectory. */
  readonly replace: (place: Place, from: number, ids: Int32Array) => void;
  /** FNV-1a of the first `length` ids, as they were and as they are now; null = they are not known. */
  readonly promptHashes: (
    place: Place,
    length: number,
  ) => { readonly before: number; readonly after: number } | null;
};

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

export function createPlaces(vocabSize: number): Places {
  const known = new Map<string, Int32Array>();
  /** Siblings share the first prompt: its places have no trajectory. */
  const prompts = new Map<number, number>();

  const idAt = ({ question, group }: Place, position: number): number => {
    const own = position < (prompts.get(question) ?? 0) ? -1 : group;
    return mix(mix(mix(0, question), own), position) % vocabSize;
  };
  const originalAt = ({ question, group }: Place, position: number): number | undefined =>
    known.get(`${question}/${group}`)?.[position];

  return {
    learn({ question, group }, promptLength, ids) {
      known.set(`${question}/${group}`, Int32Array.from(ids));
      prompts.set(question, Math.min(prompts.get(question) ?? promptLength, promptLength));
    },
    replace(place, from, ids) {
      for (const [i, id] of ids.entries()) {
        // An id outside the vocabulary is damage and no text.
        if (id < 0 || id >= vocabSize) continue;
        const original = originalAt(place, from + i);
        const isOther = original !== undefined && original !== id;
        ids[i] = (idAt(place, from + i) + (isOther ? 1 : 0)) % vocabSize;
      }
    },
    promptHashes(place, length) {
      let before = FNV_OFFSET;
      let after = FNV_OFFSET;
      for (let position = 0; position < length; position++) {
        const original = originalAt(place, position);
        if (original === undefined) return null;
        before = Math.imul(before ^ original, FNV_PRIME);
        after = Math.imul(after ^ idAt(place, position), FNV_PRIME);
      }
      return { before: before >>> 0, after: after >>> 0 };
    },
  };
}

/** Murmur3's mixer. */
function mix(state: number, value: number): number {
  let h = Math.imul(value ^ 0x9e3779b9, 0xcc9e2d51);
  h = Math.imul((h << 15) | (h >>> 17), 0x1b873593);
  h ^= state;
  h = Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64;
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  return (h ^ (h >>> 16)) >>> 0;
}

/** A text of the same length that says nothing. */
export function fill(text: string): string {
  return "x".repeat(text.length);
}
