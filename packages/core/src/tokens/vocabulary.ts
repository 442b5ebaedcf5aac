/**
 * A byte-pair vocabulary as encoding reads it, and the one that lists give. In: the `model` of a tokenizer.json.
 * Knows no added tokens; those that it must not merge to are passed in.
 */
import { refuse } from "./refuse.ts";
import type { JsonObject } from "./tokenizer-json.ts";

export type Vocabulary = {
  /** The entry of an id; null where there is none. */
  readonly entryOf: (id: number) => string | null;
  readonly idOf: (entry: string) => number | null;
  /** Highest id + 1. */
  readonly size: number;
  /** Which neighbours merge, but to none of the entries in `control`. */
  readonly mergesWithout: (control: ReadonlySet<string>) => Merges;
};

export type Merges = {
  /** The lower, the earlier; -1 = these two ids do not merge. */
  readonly rankOf: (left: number, right: number) => number;
  /** By rank, the id that the merge gives; what stands at ranks that `rankOf` never gave means nothing. */
  readonly merged: Int32Array;
};

const LARGEST_VOCAB = 1 << 24;
/** Pairs whose rank is remembered, each in its one slot: a look-up by text costs ten times more. */
const PAIRS = 1 << 16;

/** Throws one sentence when the lists cannot be used. */
export function listedVocabulary(model: JsonObject): Vocabulary {
  const { vocab, merges } = checkModel(model);
  const entries = invert(vocab);
  const idOf = (entry: string): number | null => {
    // Not every name that an object answers to is an entry: "constructor" gives a function.
    const id = vocab[entry];
    return typeof id === "number" ? id : null;
  };
  return {
    entryOf: (id) => entries[id] ?? null,
    idOf,
    size: entries.length,
    mergesWithout: (control) =>
      listedMerges(merges, entries, (entry) => (control.has(entry) ? null : idOf(entry))),
  };
}

type Vocab = Readonly<Record<string, unknown>>;

function checkModel(model: JsonObject): {
  readonly vocab: Vocab;
  readonly merges: readonly unknown[];
} {
  const { vocab, merges, continuing_subword_prefix: prefix, end_of_word_suffix: suffix } = model;
  if (!Array.isArray(merges)) throw refuse('expected a list under "model.merges"', merges);
  if ((prefix ?? "") !== "" || (suffix ?? "") !== "") {
    throw refuse("expected byte pairs without marks inside or at the end of words", {
      continuing_subword_prefix: prefix,
      end_of_word_suffix: suffix,
    });
  }
  return { vocab: vocab as Vocab, merges };
}

/** Entries by id; undefined where an id has none. */
function invert(vocab: Vocab): readonly (string | undefined)[] {
  const names = Object.keys(vocab);
  let size = 0;
  for (const entry of names) {
    const id = vocab[entry];
    if (typeof id !== "number" || !Number.isInteger(id) || id < 0 || id >= LARGEST_VOCAB) {
      throw refuse(`expected the id of every entry to be from 0 to ${LARGEST_VOCAB - 1}`, {
        [entry]: id,
      });
    }
    if (id >= size) size = id + 1;
  }
  const entries = Array.from<string | undefined>({ length: size }).fill(undefined);
  for (const entry of names) entries[vocab[entry] as number] = entry;
  return entries;
}

/** What stands between the two halves of a merge where it is one text; the first of the list tells. */
export function separatorOf(list: readonly unknown[]): string {
  return typeof list[0] === "string" ? " " : "\u0000";
}

/** A merge as one text, written as `"a b"` or `["a", "b"]`. */
export function pairText(pair: unknown, separator: string): string {
  return Array.isArray(pair) ? `${pair[0]}${separator}${pair[1]}` : String(pair);
}

function listedMerges(
  list: readonly unknown[],
  entries: readonly (string | undefined)[],
  find: (entry: string) => number | null,
): Merges {
  const separator = separatorOf(list);
  const rankByText = new Map<string, number>();
  for (let rank = 0; rank < list.length; rank++) {
    rankByText.set(pairText(list[rank], separator), rank);
  }
  const merged = new Int32Array(list.length);
  const known = {
    left: new Int32Array(PAIRS).fill(-1),
    right: new Int32Array(PAIRS),
    rank: new Int32Array(PAIRS),
  };
  return {
    merged,
    rankOf(left, right) {
      const slot = mixIds(left, right) & (PAIRS - 1);
      if (known.left[slot] === left && known.right[slot] === right) {
        return known.rank[slot] as number;
      }
      const [a, b] = [entries[left] as string, entries[right] as string];
      let rank = rankByText.get(a + separator + b) ?? -1;
      if (rank >= 0) {
        const id = find(a + b);
        if (id === null) rank = -1;
        else merged[rank] = id;
      }
      known.left[slot] = left;
      known.right[slot] = right;
      known.rank[slot] = rank;
      return rank;
    },
  };
}

/** 32 bits that two ids spread over. */
export function mixIds(left: number, right: number): number {
  const mixed = Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b);
  return mixed ^ (mixed >>> 15);
}
