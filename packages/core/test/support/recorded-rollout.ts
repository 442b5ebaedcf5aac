/** Rows of `rollouts.jsonl` as scripted worlds: every answer that the described system was given, by place. */
import type { RolloutConfig } from "../../src/index.ts";
import type { RecordedNames } from "./real-tokenizers.ts";

type RecordedAnswer = {
  readonly group_index: number;
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
  readonly server_text?: string;
};

export type RecordedRequest = {
  readonly question_index: number;
  readonly group_index?: number;
  readonly turn: number;
  readonly prompt_tokens: number;
  readonly prompt_sha256: string;
  readonly num_samples: number;
  readonly max_tokens: number;
  readonly seed: number;
  readonly stop: readonly string[];
  readonly temperature: number;
  readonly top_p: number;
  readonly answers: readonly RecordedAnswer[];
};

export type RecordedCall = {
  readonly question_index: number;
  readonly group_index: number;
  readonly n: number;
  readonly code: string;
  readonly result: {
    readonly ok: boolean;
    readonly stdout: string;
    readonly stderr: string;
    readonly returncode: number | null;
    readonly timed_out: boolean;
  };
};

export type RecordedTrajectory = {
  readonly question_index: number;
  readonly group_index: number;
  readonly turns: readonly {
    readonly prompt_tokens: number;
    readonly prompt_sha256: string;
    readonly delta_ids: readonly number[] | null;
    readonly completion_ids: readonly number[];
    readonly logprobs_f32_sha256: string;
    readonly text: string;
  }[];
  readonly messages: readonly object[];
  readonly final_text: string;
  readonly code_calls: number;
  readonly reward: number;
  readonly advantage: number;
  readonly valid_format: boolean;
  readonly correct: boolean;
  readonly termination: string;
};

export type Wanted = {
  readonly requests: readonly RecordedRequest[];
  readonly tool_calls: readonly RecordedCall[];
  /** Absent where the described system raises. */
  readonly trajectories?: readonly RecordedTrajectory[];
  readonly progress?: number;
  readonly raises?: string;
};

export type RecordedRollout = {
  readonly id: string;
  readonly name: string;
  readonly input: RecordedNames & {
    readonly config: Readonly<Record<string, number>>;
    readonly problems: readonly {
      readonly id: string;
      readonly question: string;
      readonly answer: string;
      readonly data_source: string;
    }[];
  };
  readonly firstPrompts: readonly { readonly tokens: number; readonly sha256: string }[];
  /** `ours` where our decided behaviour differs, else what was recorded. */
  readonly want: Wanted;
};

export async function recordedRollouts(): Promise<readonly RecordedRollout[]> {
  const path = new URL("../../../../vectors/rollouts.jsonl", import.meta.url);
  const lines = (await Bun.file(path).text()).split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const { id, name, input, expected, ours } = JSON.parse(line);
    const want = { ...expected, ...ours };
    return { id, name, input, want, firstPrompts: expected.first_prompts };
  });
}

/** `{group_size: 4}` → `{groupSize: 4}`, with the described seeds. */
export function configOf({ input }: RecordedRollout): Partial<RolloutConfig> {
  const camel = Object.entries(input.config).map(([key, value]) => [
    key.replace(/_(.)/g, (_, c: string) => c.toUpperCase()),
    value,
  ]);
  return { ...Object.fromEntries(camel), seedScheme: "positional" };
}
