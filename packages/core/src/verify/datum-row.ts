import type { DatumArrays } from "../datum/datum.ts";

/** One row of `datums.arrow`, as it was read: nothing in it is believed yet. */
export type DatumRow = DatumArrays & {
  readonly step: number;
  readonly questionIndex: number;
  readonly groupIndex: number;
  readonly reward: number;
  readonly correct: boolean;
  readonly validFormat: boolean;
  readonly finalAnswer: string | null;
  readonly termination: string;
  readonly turns: number;
  readonly codeCalls: number;
  readonly microBatch: number;
  readonly sampleWeight: number;
  readonly turnEnds: Int32Array;
  readonly groupMean: number;
  readonly groupScored: number;
};

/** What the file says of itself in its schema metadata. */
export type DatumFacts = {
  readonly groupSize: number;
  readonly vocabSize: number;
  readonly maxContextTokens: number;
  /** N of the step. */
  readonly scoredSamples: number;
  readonly advantageEstimator: string;
};
