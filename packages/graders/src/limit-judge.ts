/**
 * A time limit of its own for any judge of a chain. In: a judge and seconds. Out: the judge; one that takes longer is
 * told to stop, and the pair is `unscored`: the next stage must not decide what this one could not.
 */
import type { Judge } from "@interlace/core";

export function limitJudge(judge: Judge, seconds: number): Judge {
  return {
    name: judge.name,
    async judge(reference, prediction, signal) {
      signal.throwIfAborted();
      const limit = new AbortController();
      const { promise, resolve } = Promise.withResolvers<null>();
      const timer = setTimeout(() => resolve(null), seconds * 1000);
      try {
        const both = AbortSignal.any([signal, limit.signal]);
        const verdict = await Promise.race([judge.judge(reference, prediction, both), promise]);
        if (verdict !== null) return verdict;
        const detail = `No verdict of ${judge.name} within ${seconds} s`;
        return { kind: "unscored", reason: "timeout", detail };
      } finally {
        clearTimeout(timer);
        limit.abort();
      }
    },
  };
}
