/** What differs between one llama-server and another. */
import type { Core, FakeOptions } from "../fake-server.ts";

export type FakeLlamacppOptions = FakeOptions & {
  /** `-np`: n_cmpl may not exceed it. */
  readonly slots?: number;
  /** b10434 answers 500 for output that is no UTF-8, and for a body that is no JSON; b11434 does not. */
  readonly release?: "b11434" | "b10434";
  /** Rows that `/v1/models` names; absent = the truth. */
  readonly vocabSize?: number;
};

export type LlamacppCore = Core & {
  readonly slots: number;
  readonly release: "b11434" | "b10434";
  readonly vocabSize: number;
};
