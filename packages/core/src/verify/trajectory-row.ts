/** One row of `trajectories.arrow`, as it was read; nested records keep the names of the file. */
export type TrajectoryRow = {
  readonly step: number;
  readonly questionIndex: number;
  readonly groupIndex: number;
  readonly problemId: string;
  readonly dataSource: string;
  /** These four: null = unscored. */
  readonly reward: number | null;
  readonly correct: boolean | null;
  readonly validFormat: boolean | null;
  readonly advantage: number | null;
  readonly finalAnswer: string | null;
  readonly termination: string;
  readonly codeCalls: number;
  /** null = it gives a datum. */
  readonly noDatum: string | null;
  readonly messages: readonly MessageRecord[];
  readonly tokens: Int32Array;
  readonly spans: readonly SpanRecord[];
  /** Of the sampled positions, in order. */
  readonly logprobs: Float32Array;
  readonly turns: readonly TurnRecord[];
  readonly toolCalls: readonly ToolCallRecord[];
  readonly grade: GradeRecord;
  readonly failure: {
    readonly boundary: string;
    readonly cause: string;
    readonly detail: string;
  } | null;
};

export type MessageRecord = { readonly role: string; readonly content: string };
export type SpanRecord = {
  readonly kind: string;
  readonly start: number;
  readonly length: number;
};

export type TurnRecord = {
  readonly prompt_length: number;
  readonly length: number;
  readonly text: string;
  readonly finish: string;
  readonly seed: number;
  readonly versions: readonly {
    readonly version: string | null;
    readonly start: number;
    readonly end: number;
  }[];
  readonly parsed: string | null;
  readonly invalid_cause: string | null;
  readonly opens_call: boolean;
  readonly text_mismatch: boolean;
};

export type ToolCallRecord = {
  readonly id: string;
  readonly turn: number;
  readonly code: string;
  /** A status of the sandbox, or the cause of its failure. */
  readonly status: string;
  /** Joined observation; null = it was not joined. */
  readonly content: string | null;
  readonly truncated: boolean;
  readonly usage: { readonly wall_seconds: number } | null;
};

export type GradeRecord = {
  readonly kind: string;
  readonly answer: string | null;
  readonly by: string | null;
  readonly reason: string | null;
  readonly detail: string | null;
};
