/** Rows of `rollouts.jsonl`, as groups: what the described system recorded, put into our records by hand. */
import {
  captured,
  type ExecResult,
  type ExecStatus,
  type Group,
  type Termination,
  type ToolCall,
} from "../../src/index.ts";
import { handMember, type HandTurn } from "./hand-built.ts";

type Answer = {
  readonly group_index: number;
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
};
type Recorded = {
  readonly requests: readonly {
    readonly question_index: number;
    readonly turn: number;
    readonly answers: readonly Answer[];
  }[];
  readonly tool_calls: readonly {
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
  }[];
  readonly trajectories: readonly {
    readonly question_index: number;
    readonly group_index: number;
    readonly turns: readonly {
      readonly prompt_tokens: number;
      readonly delta_ids: readonly number[] | null;
      readonly completion_ids: readonly number[];
      readonly text: string;
    }[];
    readonly code_calls: number;
    readonly reward: number;
    readonly advantage: number;
    readonly valid_format: boolean;
    readonly correct: boolean;
    readonly termination: Termination;
  }[];
  readonly step: {
    readonly datums: readonly {
      readonly question_index: number;
      readonly group_index: number;
      readonly num_tokens: number;
      readonly input_sha256: string;
      readonly target_sha256: string;
      readonly logprobs_f32_sha256: string;
      readonly advantages_f32_sha256: string;
      readonly advantage_f32: number;
      readonly mask_runs: readonly (readonly [number, number])[];
      readonly loss_tokens: number;
    }[];
    readonly micro_batches: number[][];
    readonly weights_f32: number[];
    readonly scaled_advantages_f32_sha256: readonly (readonly string[])[];
    readonly metrics: Readonly<Record<string, number>>;
  };
};
export type RolloutRow = {
  readonly id: string;
  readonly name: string;
  readonly input: {
    readonly config: { readonly group_size: number; readonly max_trajectory_tokens: number };
    readonly packing: { readonly max_items: number; readonly max_padded_tokens: number };
    readonly problems: readonly {
      readonly id: string;
      readonly question: string;
      readonly answer: string;
      readonly data_source: string;
    }[];
  };
  readonly want: Recorded;
  readonly firstPrompts: readonly { readonly ids: readonly number[] }[];
};

/** Rows with a step; `ours` where our decided behaviour differs. */
export async function recordedSteps(): Promise<readonly RolloutRow[]> {
  const path = new URL("../../../../vectors/rollouts.jsonl", import.meta.url);
  const lines = (await Bun.file(path).text()).split("\n").filter((line) => line !== "");
  return lines.flatMap((line) => {
    const { id, name, input, expected, ours } = JSON.parse(line);
    if (expected.step === undefined) return [];
    return [
      { id, name, input, want: { ...expected, ...ours }, firstPrompts: expected.first_prompts },
    ];
  });
}

export function groupsOf({ input, want, firstPrompts }: RolloutRow): Group[] {
  return input.problems.map((problem, question) => ({
    question,
    problem: {
      id: problem.id,
      question: problem.question,
      answer: problem.answer,
      dataSource: problem.data_source,
    },
    members: want.trajectories
      .filter((trajectory) => trajectory.question_index === question)
      .map((trajectory) => {
        const { group_index: index, code_calls: codeCalls } = trajectory;
        const turns = trajectory.turns.map((turn, i): HandTurn => {
          const answer = want.requests
            .filter((request) => request.question_index === question && request.turn === i)
            .flatMap(({ answers }) => answers)
            .find((each) => each.group_index === index);
          if (answer === undefined)
            throw new Error(`No answer for turn ${i} of ${question}/${index}`);
          return {
            before: turn.delta_ids ?? firstPrompts[question]?.ids ?? [],
            sampled: turn.completion_ids,
            logprobs: answer.logprobs,
            opensCall: turn.text.includes("<tool_call>"),
          };
        });
        const toolCalls = want.tool_calls
          .filter((call) => call.question_index === question && call.group_index === index)
          .map((call, i): ToolCall => ({
            id: `code-${question}-${index}-${call.n + 1}`,
            turn: i,
            code: call.code,
            result: result(call.result),
            content: i < codeCalls ? "joined" : null,
            truncated: false,
          }));
        return handMember(index, {
          turns,
          toolCalls,
          termination: trajectory.termination,
          grade: trajectory.correct
            ? { kind: "equal", answer: "recorded", by: "recorded" }
            : {
                kind: "different",
                answer: trajectory.valid_format ? "recorded" : null,
                by: "recorded",
              },
        });
      }),
  }));
}

function result(recorded: Recorded["tool_calls"][number]["result"]): ExecResult {
  const status: ExecStatus = recorded.timed_out ? "timeout" : recorded.ok ? "ok" : "error";
  return {
    ok: true,
    status,
    exitCode: recorded.returncode,
    signal: null,
    limit: recorded.timed_out ? 3 : null,
    stdout: captured(recorded.stdout),
    stderr: captured(recorded.stderr),
    usage: { queuedSeconds: 0, wallSeconds: 0.25, cpuSeconds: null, peakMemoryBytes: null },
  };
}
