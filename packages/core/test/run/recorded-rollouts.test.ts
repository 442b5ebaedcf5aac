/**
 * Whole batches of the described system, token for token and request for request: schedule `rounds`,
 * `positional` seeds, real tokenizers and templates. Where it raises, only the trajectories concerned fail.
 */
import { createHash } from "node:crypto";
import { describe, expect, test } from "bun:test";
import {
  boxedGrader,
  captured,
  collect,
  concatIds,
  finalText,
  groupCentred,
  messagesOf,
  nativeJudge,
  rolloutConfigSchema,
  rounds,
  scoreGrade,
  turnText,
  type ExecRequest,
  type ExecResult,
  type Grader,
  type Group,
  type Plan,
  type Ports,
  type SampleRequest,
} from "../../src/index.ts";
import {
  configOf,
  recordedRollouts,
  type RecordedCall,
  type RecordedRequest,
  type RecordedRollout,
} from "../support/recorded-rollout.ts";
import { recordedProtocol } from "../support/real-tokenizers.ts";
import { placeOf } from "../support/scripted-world.ts";

const rows = await recordedRollouts();

test("81 recorded batches are here", () => expect(rows).toHaveLength(81));

describe.each(rows.map((row) => [`${row.id} ${row.name}`, row] as const))("%s", (_, row) => {
  test("requests, tool calls and trajectories are the recorded ones", async () => {
    const { plan, batch, requests, calls, settled } = await replayRow(row);
    const first = row.input.problems.map((p) => plan.protocol.firstPrompt(p.question));
    expect(first.map((ids) => ({ tokens: ids.length, sha256: sha256(ids) }))).toEqual(
      row.firstPrompts.map(({ tokens, sha256: hash }) => ({ tokens, sha256: hash })),
    );
    expect(requests.map(sentRequest)).toEqual(row.want.requests.map(wantedRequest));
    expect(calls.map((c) => [c.id, c.code])).toEqual(
      row.want.tool_calls.map((c) => [callId(c), c.code]),
    );
    if (row.want.trajectories === undefined) {
      const causes = batch.groups.flatMap((g) => g.members.map((m) => m.failure?.cause ?? null));
      expect(causes).toEqual(RAISED[row.name] as typeof causes);
      return;
    }
    expect(batch.groups.flatMap((g) => ourTrajectories(plan, g))).toEqual(
      row.want.trajectories.map((t) => ({ ...t, done: true })),
    );
    expect(settled).toBe(row.want.progress as number);
  });
});

/** The described system loses these batches; here each trajectory says what was wrong with its answer. */
const RAISED: Record<string, (string | null)[]> = {
  "wrong-sample-count": ["incomplete", "incomplete"],
  "wrong-sample-count-more": ["incomplete", "incomplete"],
  "logprobs-short": [null, "invalid_logprobs"],
};

async function replayRow(row: RecordedRollout) {
  const plan: Plan = {
    config: rolloutConfigSchema.parse(configOf(row)),
    protocol: await recordedProtocol(row.input),
    step: 0,
  };
  const requests: SampleRequest[] = [];
  const calls: ExecRequest[] = [];
  let settled = 0;
  const ports: Ports = {
    sampler: {
      identity: () => Promise.reject(new Error("Never asked by the loop")),
      sample(request) {
        requests.push(request);
        return Promise.resolve(
          findRequest(row, request).answers.map((answer, i) => ({
            ok: true,
            ids: Int32Array.from(answer.ids),
            logprobs: Float32Array.from(answer.logprobs),
            finish: plan.protocol.stopIds.includes(answer.ids.at(-1) ?? -1) ? "stop" : "length",
            seed: request.seed + i,
            versions: [],
            serverText: answer.server_text ?? null,
          })),
        );
      },
    },
    sandbox: {
      isolation: () => ({ backend: "recorded", level: "none", lines: [] }),
      run(request) {
        calls.push(request);
        const call = row.want.tool_calls.find((c) => callId(c) === request.id);
        if (call === undefined) throw new Error(`No recorded call ${request.id}`);
        return Promise.resolve(resultOf(call));
      },
    },
    grader: recordedGrader(row),
    log: null,
  };
  const problems = row.input.problems.map(({ id, question, answer, data_source }) => ({
    id,
    question,
    answer,
    dataSource: data_source,
  }));
  const batch = await collect(plan, problems, ports, {
    schedule: rounds,
    maxFailedFraction: 1,
    onSettled: () => settled++,
  });
  return { plan, batch, requests, calls, settled };
}

function ourTrajectories({ protocol }: Plan, group: Group): readonly object[] {
  const grades = group.members.map((m) => (m.phase.type === "graded" ? m.phase.grade : null));
  const scores = grades.map((grade) => (grade === null ? null : scoreGrade(grade)));
  const advantages = groupCentred(scores.map((s) => s?.reward ?? null));
  return group.members.map((member) => {
    const all = concatIds(member.tokens);
    const sampled = member.tokens.segments.filter((s) => s.kind === "sampled");
    const score = scores[member.index];
    return {
      question_index: group.question,
      group_index: member.index,
      turns: member.turns.map(({ promptLength, length }, turn) => {
        const before = member.turns[turn - 1];
        const known = before === undefined ? null : before.promptLength + before.length;
        return {
          prompt_tokens: promptLength,
          prompt_sha256: sha256(all.slice(0, promptLength)),
          delta_ids: known === null ? null : Array.from(all.subarray(known, promptLength)),
          completion_ids: Array.from(all.subarray(promptLength, promptLength + length)),
          logprobs_f32_sha256: sha256(sampled[turn]?.logprobs ?? new Float32Array()),
          text: turnText(protocol, member, turn),
        };
      }),
      messages: [...messagesOf(protocol, member)],
      // The recording writes "" where there is no turn at all.
      final_text: finalText(protocol, member) ?? "",
      code_calls: member.codeCalls,
      reward: score?.reward as number,
      advantage: advantages[member.index] as number,
      valid_format: score?.validFormat as boolean,
      correct: score?.correct as boolean,
      done: true,
      termination: member.phase.type === "graded" ? member.phase.termination : "",
    };
  });
}

/** Native first; where it is unsure, the recorded verdict on the same text (the pool has its own tests). */
function recordedGrader(row: RecordedRollout): Grader {
  const native = boxedGrader([nativeJudge]);
  return {
    async grade(text, answer, signal) {
      const grade = await native.grade(text, answer, signal);
      if (grade.kind !== "unscored") return grade;
      const same = row.want.trajectories?.find((t) => t.final_text === text);
      if (same === undefined) throw new Error(`No recorded verdict on ${text}`);
      return { kind: same.correct ? "equal" : "different", answer: text, by: "recorded" };
    },
  };
}

function findRequest(row: RecordedRollout, request: SampleRequest): RecordedRequest {
  const { question, group, turn } = placeOf(request);
  const found = row.want.requests.find(
    (r) => r.question_index === question && r.turn === turn && (r.group_index ?? null) === group,
  );
  if (found === undefined) throw new Error(`No recorded request for ${request.id}`);
  return found;
}

function sentRequest(request: SampleRequest) {
  const { question, group, turn } = placeOf(request);
  return {
    place: [question, group, turn],
    prompt: [request.prompt.length, sha256(concatIds(request.prompt))],
    samples: request.samples,
    maxTokens: request.maxTokens,
    seed: request.seed,
    sampling: [request.temperature, request.topP, request.topK],
    stops: request.stopIds.length,
  };
}

function wantedRequest(r: RecordedRequest): ReturnType<typeof sentRequest> {
  return {
    place: [r.question_index, r.group_index ?? null, r.turn],
    prompt: [r.prompt_tokens, r.prompt_sha256],
    samples: r.num_samples,
    maxTokens: r.max_tokens,
    seed: r.seed,
    sampling: [r.temperature, r.top_p, null],
    stops: r.stop.length,
  };
}

function callId({ question_index, group_index, n }: RecordedCall): string {
  return `code-${question_index}-${group_index}-${n + 1}`;
}

function resultOf({ result }: RecordedCall): ExecResult {
  return {
    ok: true,
    status: result.timed_out ? "timeout" : result.ok ? "ok" : "error",
    exitCode: result.returncode,
    signal: null,
    limit: result.timed_out ? 3 : null,
    stdout: captured(result.stdout),
    stderr: captured(result.stderr),
    usage: { queuedSeconds: 0, wallSeconds: 0.25, cpuSeconds: null, peakMemoryBytes: null },
  };
}

function sha256(array: Int32Array | Float32Array): string {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  return createHash("sha256").update(bytes).digest("hex");
}
