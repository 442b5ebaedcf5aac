/** Scripted ports: what is answered depends on the request alone, what was asked is kept in order. */
import {
  captured,
  fail,
  rolloutConfigSchema,
  type ExecRequest,
  type ExecResult,
  type ExecStatus,
  type Failure,
  type Grade,
  type MathExample,
  type Plan,
  type Ports,
  type RolloutConfig,
  type SampleRequest,
  type Sequence,
} from "../../src/index.ts";
import { said, toyProtocol, END } from "./toy-protocol.ts";

export type Said = string | readonly number[] | Failure | Partial<Sequence>;

export type World = {
  /** Answer of member `group` in its turn `turn`. */
  readonly say: (question: number, group: number, turn: number) => Said;
  /** Default: prints the code back. */
  readonly tool?: (request: ExecRequest) => ExecResult | Failure;
  /** Default: equal iff the text ends with the reference answer. */
  readonly judge?: (finalText: string, answer: string) => Grade;
  /** Delays every answer; default: the next microtask. */
  readonly delay?: <T>(answer: T, label: string) => Promise<T>;
};

export type Asked = {
  readonly requests: SampleRequest[];
  readonly calls: ExecRequest[];
  readonly graded: string[];
};

export function toyPlan(config: Partial<RolloutConfig> = {}, step = 0): Plan {
  return { config: rolloutConfigSchema.parse(config), protocol: toyProtocol(), step };
}

export function problem(question: string, answer = "42"): MathExample {
  return { id: question.slice(0, 8), question, answer, dataSource: "made" };
}

export function sequence(answer: Said, seed: number): Sequence | Failure {
  if (typeof answer === "object" && "boundary" in answer) return answer;
  const isPartial = typeof answer === "object" && !Array.isArray(answer);
  const given: Partial<Sequence> = isPartial ? (answer as Partial<Sequence>) : {};
  const list = typeof answer === "string" ? said(answer) : isPartial ? said("42") : answer;
  const ids = given.ids ?? Int32Array.from(list as readonly number[]);
  return {
    ok: true,
    ids,
    // Distinct per position and seed, so that a mix-up shows.
    logprobs: Float32Array.from(ids, (_, i) => -((((seed % 97) + 1) * (i + 1)) % 101) / 64),
    finish: ids.at(-1) === END ? "stop" : "length",
    seed,
    versions: [],
    serverText: null,
    ...given,
  };
}

export function printed(stdout: string, status: ExecStatus = "ok", stderr = ""): ExecResult {
  return {
    ok: true,
    status,
    exitCode: status === "ok" ? 0 : 1,
    signal: null,
    limit: status === "timeout" ? 30 : null,
    stdout: captured(stdout),
    stderr: captured(stderr),
    usage: { queuedSeconds: 0, wallSeconds: 0.25, cpuSeconds: null, peakMemoryBytes: null },
  };
}

/** Place of a request, from its id `s0-q3-gx-t0`. */
export function placeOf(request: SampleRequest): {
  question: number;
  group: number | null;
  turn: number;
} {
  const match = /^s\d+-q(\d+)-g(x|\d+)-t(\d+)$/.exec(request.id);
  if (match === null) throw new Error(`Unreadable request id ${request.id}`);
  const [, question, group, turn] = match;
  return {
    question: Number(question),
    group: group === "x" ? null : Number(group),
    turn: Number(turn),
  };
}

export function scriptedPorts(world: World): { readonly ports: Ports; readonly asked: Asked } {
  const asked: Asked = { requests: [], calls: [], graded: [] };
  const delay = world.delay ?? (<T>(answer: T) => Promise.resolve(answer));
  const ports: Ports = {
    sampler: {
      identity: () => Promise.reject(new Error("Never asked by the loop")),
      sample(request) {
        asked.requests.push(request);
        const { question, group, turn } = placeOf(request);
        const answers = Array.from({ length: request.samples }, (_, i) =>
          sequence(world.say(question, group ?? i, turn), request.seed + i),
        );
        return delay(answers, `sample ${request.id}`);
      },
    },
    sandbox: {
      isolation: () => ({ backend: "scripted", level: "none", lines: [] }),
      run(request) {
        asked.calls.push(request);
        return delay((world.tool ?? ((r) => printed(r.code)))(request), `run ${request.id}`);
      },
    },
    grader: {
      grade(finalText, answer) {
        asked.graded.push(finalText);
        const judge = world.judge ?? judgeBySuffix;
        return delay(judge(finalText, answer), `grade ${finalText}`);
      },
    },
    log: null,
  };
  return { ports, asked };
}

export const BROKEN_SAMPLER = fail("sampler", "server_error", "HTTP 503 after 4 tries");
export const BROKEN_SANDBOX = fail("sandbox", "sandbox_error", "The worker died");

function judgeBySuffix(finalText: string, answer: string): Grade {
  const kind = finalText.endsWith(answer) ? "equal" : "different";
  return { kind, answer: finalText, by: "suffix" };
}
