/** What differs between one TGI and another. */
import type { Core, FakeOptions } from "../fake-server.ts";

export type FakeTgiOptions = FakeOptions & {
  /** New tokens after which it re-encodes its own text. */
  readonly chunk?: number;
  /** Id that the tokenizer puts in front of every text; null = none. */
  readonly bos?: number | null;
  readonly maxConcurrent?: number;
};

export type TgiCore = Core & {
  readonly chunk: number;
  readonly bos: number | null;
  readonly maxConcurrent: number;
};
