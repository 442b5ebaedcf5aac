/**
 * Wakes whoever waits. Take `heard()` before looking at the state, look, then await it: no ring is ever lost.
 */
export type Bell = { readonly ring: () => void; readonly heard: () => Promise<void> };

export function createBell(): Bell {
  let next = Promise.withResolvers<void>();
  let isRung = false;
  return {
    ring() {
      isRung = true;
      next.resolve();
    },
    heard() {
      if (isRung) {
        next = Promise.withResolvers<void>();
        isRung = false;
      }
      return next.promise;
    },
  };
}
