/**
 * Which sequence's keys and values lie in which cache slot. In: prompts. Out: a free slot, and how many of the prompt's
 * tokens it (or another slot, to be copied) already holds. A finished sequence stays until its slot is needed: the
 * next turn of a trajectory then feeds only what is new. Reuse is exact: a cached row depends on nothing but its prefix.
 */
export type Slot = {
  readonly index: number;
  /** [context]; the first `cached` are in the cache. */
  readonly ids: Int32Array;
  cached: number;
  busy: boolean;
  lastUsed: number;
};

export type Slots = {
  readonly all: readonly Slot[];
  /** Marks a free slot busy; null when none is free. `copyFrom`: copy `cached` positions from there first. */
  take(prompt: Int32Array): { readonly slot: Slot; readonly copyFrom: Slot | null } | null;
  release(slot: Slot): void;
  /** The weights changed: nothing that is cached holds. */
  forget(): void;
};

/** Below this a copy costs more than feeding the tokens. */
const LEAST_SHARED = 8;

export function createSlots(count: number, context: number): Slots {
  const all = Array.from({ length: count }, (_, index): Slot => {
    return { index, ids: new Int32Array(context), cached: 0, busy: false, lastUsed: 0 };
  });
  let clock = 0;

  function stalest(): Slot | null {
    let found: Slot | null = null;
    for (const slot of all) {
      if (!slot.busy && (found === null || slot.lastUsed < found.lastUsed)) found = slot;
    }
    return found;
  }

  return {
    all,
    take(prompt) {
      const free = stalest();
      if (free === null) return null;
      let nearest: Slot | null = null;
      let shared = LEAST_SHARED - 1;
      for (const slot of all) {
        const length = sharedPrefix(prompt, slot);
        // On a tie a slot that can be taken as it is beats one that must be copied.
        if (length > shared || (length === shared && isWhole(slot, length))) {
          nearest = slot;
          shared = length;
        }
      }
      const asItIs = nearest !== null && isWhole(nearest, shared);
      const slot = nearest !== null && asItIs ? nearest : free;
      // The last token is always fed: its logits are what is wanted.
      slot.cached = nearest === null ? 0 : Math.min(shared, prompt.length - 1);
      slot.busy = true;
      slot.ids.set(prompt);
      return { slot, copyFrom: nearest === slot ? null : nearest };
    },
    release(slot) {
      slot.busy = false;
      slot.lastUsed = ++clock;
    },
    forget() {
      for (const slot of all) {
        slot.cached = 0;
        if (!slot.busy) slot.lastUsed = 0;
      }
    },
  };
}

function isWhole(slot: Slot, length: number): boolean {
  return !slot.busy && slot.cached === length;
}

function sharedPrefix(prompt: Int32Array, slot: Slot): number {
  const most = Math.min(prompt.length, slot.cached);
  let length = 0;
  while (length < most && prompt[length] === slot.ids[length]) length++;
  return length;
}
