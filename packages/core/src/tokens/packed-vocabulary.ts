/**
 * A byte-pair vocabulary as bytes that are read as they lie: no parsing, no tables to build. In: a vocabulary and its
 * merges. Out: bytes; from bytes the same vocabulary. Refuses to know where they are kept, and whether they are whole.
 */
import type { JsonObject } from "./tokenizer-json.ts";
import {
  listedVocabulary,
  mixIds,
  pairText,
  separatorOf,
  type Merges,
  type Vocabulary,
} from "./vocabulary.ts";

/** Lengths in int32s, and of the text in bytes of UTF-8, which comes last. */
type Layout = {
  readonly ids: number;
  readonly idSlots: number;
  readonly ranks: number;
  readonly rankSlots: number;
  readonly textBytes: number;
};

type Tables = {
  /** Where the entry of each id begins in the text, in UTF-16 units, and where the last one ends. */
  readonly starts: Int32Array;
  /** By hash of an entry: id + 1; 0 = free. */
  readonly idSlots: Int32Array;
  /** By rank. */
  readonly left: Int32Array;
  readonly right: Int32Array;
  readonly merged: Int32Array;
  /** By hash of two ids: rank + 1; 0 = free. */
  readonly rankSlots: Int32Array;
};

const HEAD = 5;

/** null = this one cannot be kept so, and is read from its lists: two entries with one id, an empty one, broken text. */
export function packVocabulary(model: JsonObject): Uint8Array | null {
  const vocabulary = listedVocabulary(model);
  const names = Object.keys(model["vocab"] as JsonObject);
  const entries = Array.from({ length: vocabulary.size }, (_, id) => vocabulary.entryOf(id) ?? "");
  const isPlain = (name: string): boolean =>
    name !== "" && name.isWellFormed() && entries[vocabulary.idOf(name) ?? -1] === name;
  if (!names.every(isPlain)) return null;
  const pairs = findPairs(model["merges"] as readonly unknown[], vocabulary);
  if (pairs === null) return null;

  const text = new TextEncoder().encode(entries.join(""));
  const layout: Layout = {
    ids: vocabulary.size,
    idSlots: slotsFor(names.length),
    ranks: pairs.merged.length,
    rankSlots: slotsFor(pairs.merged.length),
    textBytes: text.length,
  };
  const bytes = new Uint8Array(byteLength(layout));
  const { ids, idSlots, ranks, rankSlots, textBytes } = layout;
  new Int32Array(bytes.buffer, 0, HEAD).set([ids, idSlots, ranks, rankSlots, textBytes]);
  const tables = tablesOf(bytes, layout);
  let units = 0;
  for (const [id, entry] of entries.entries()) {
    tables.starts[id] = units;
    units += entry.length;
    if (entry !== "") tables.idSlots[freeSlot(tables.idSlots, hashOf(entry))] = id + 1;
  }
  tables.starts[ids] = units;
  tables.left.set(pairs.left);
  tables.right.set(pairs.right);
  tables.merged.set(pairs.merged);
  for (let rank = 0; rank < ranks; rank++) fillRank(tables, rank);
  bytes.set(text, bytes.length - textBytes);
  return bytes;
}

/** null = these are not bytes of `packVocabulary`. Keeps `bytes`, which must not change. */
export function openVocabulary(bytes: Uint8Array): Vocabulary | null {
  if (bytes.byteOffset % 4 !== 0) return openVocabulary(bytes.slice());
  if (bytes.length < HEAD * 4) return null;
  const [ids, idSlots, ranks, rankSlots, textBytes] = new Int32Array(
    bytes.buffer,
    bytes.byteOffset,
    HEAD,
  ) as unknown as [number, number, number, number, number];
  const layout = { ids, idSlots, ranks, rankSlots, textBytes };
  if (!Object.values(layout).every((length) => length >= 0)) return null;
  if (bytes.length !== byteLength(layout)) return null;
  const tables = tablesOf(bytes, layout);
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(
    bytes.subarray(bytes.length - textBytes),
  );
  const { starts } = tables;
  const idOf = (entry: string): number | null => {
    const mask = idSlots - 1;
    for (let slot = hashOf(entry) & mask; ; slot = (slot + 1) & mask) {
      const id = (tables.idSlots[slot] as number) - 1;
      if (id < 0) return null;
      const start = starts[id] as number;
      const isSame = (starts[id + 1] as number) - start === entry.length;
      if (isSame && text.startsWith(entry, start)) return id;
    }
  };
  return {
    entryOf: (id) => text.slice(starts[id], starts[id + 1] ?? 0) || null,
    idOf,
    size: ids,
    mergesWithout: (control) => packedMerges(tables, control, idOf),
  };
}

function packedMerges(
  { left, right, merged, rankSlots }: Tables,
  control: ReadonlySet<string>,
  idOf: (entry: string) => number | null,
): Merges {
  const never = new Set([...control].map(idOf).filter((id) => id !== null));
  // Of most models no control token is an entry, too.
  const allowed = never.size === 0 ? merged : merged.map((id) => (never.has(id) ? -1 : id));
  const mask = rankSlots.length - 1;
  return {
    merged: allowed,
    rankOf(a, b) {
      for (let slot = mixIds(a, b) & mask; ; slot = (slot + 1) & mask) {
        const rank = (rankSlots[slot] as number) - 1;
        if (rank < 0) return -1;
        if (left[rank] === a && right[rank] === b) return (allowed[rank] as number) < 0 ? -1 : rank;
      }
    },
  };
}

type Pairs = Pick<Tables, "left" | "right" | "merged">;

/** By rank; −1 everywhere = it merges nothing. null = a merge that could be read in two ways. */
function findPairs(list: readonly unknown[], { idOf, entryOf }: Vocabulary): Pairs | null {
  const separator = separatorOf(list);
  const pairs: Pairs = {
    left: new Int32Array(list.length).fill(-1),
    right: new Int32Array(list.length).fill(-1),
    merged: new Int32Array(list.length).fill(-1),
  };
  for (let rank = 0; rank < list.length; rank++) {
    const text = pairText(list[rank], separator);
    const at = text.indexOf(separator);
    if (at === -1) continue;
    if (text.includes(separator, at + 1)) return null;
    const left = idOf(text.slice(0, at));
    const right = idOf(text.slice(at + 1));
    if (left === null || right === null) continue;
    const merged = idOf(`${entryOf(left)}${entryOf(right)}`);
    if (merged === null) continue;
    pairs.left[rank] = left;
    pairs.right[rank] = right;
    pairs.merged[rank] = merged;
  }
  return pairs;
}

/** Of a pair that is listed twice the last rank counts, as it does for the lists themselves. */
function fillRank({ left, right, merged, rankSlots }: Tables, rank: number): void {
  if ((merged[rank] as number) < 0) return;
  const mask = rankSlots.length - 1;
  let slot = mixIds(left[rank] as number, right[rank] as number) & mask;
  for (; rankSlots[slot] !== 0; slot = (slot + 1) & mask) {
    const other = (rankSlots[slot] as number) - 1;
    if (left[other] === left[rank] && right[other] === right[rank]) break;
  }
  rankSlots[slot] = rank + 1;
}

function freeSlot(slots: Int32Array, hash: number): number {
  const mask = slots.length - 1;
  let slot = hash & mask;
  while (slots[slot] !== 0) slot = (slot + 1) & mask;
  return slot;
}

/** At most half of them are ever taken, so that a search ends soon. A power of two. */
function slotsFor(count: number): number {
  return 2 ** Math.ceil(Math.log2(2 * count + 1));
}

function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  return hash ^ (hash >>> 15);
}

function byteLength({ ids, idSlots, ranks, rankSlots, textBytes }: Layout): number {
  return (HEAD + ids + 1 + idSlots + 3 * ranks + rankSlots) * 4 + textBytes;
}

function tablesOf(bytes: Uint8Array, { ids, idSlots, ranks, rankSlots }: Layout): Tables {
  let at = bytes.byteOffset + HEAD * 4;
  const next = (length: number): Int32Array => {
    const table = new Int32Array(bytes.buffer, at, length);
    at += length * 4;
    return table;
  };
  return {
    starts: next(ids + 1),
    idSlots: next(idSlots),
    left: next(ranks),
    right: next(ranks),
    merged: next(ranks),
    rankSlots: next(rankSlots),
  };
}
