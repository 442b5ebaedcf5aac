/**
 * Carries one command out through its port. In: a command. Out: the event that answers it.
 * A port that throws although nobody aborted is a failure of that port, charged to the one trajectory.
 */
import type { Event, EventLog } from "../ports/event-log.ts";
import { fail, type Failure } from "../ports/failure.ts";
import type { Grader } from "../ports/grader.ts";
import type { Sampler } from "../ports/sampler.ts";
import type { Sandbox } from "../ports/sandbox.ts";
import type { Command } from "../rollout/command.ts";
import { checkAnswer } from "./check-answer.ts";

export type Ports = {
  readonly sampler: Sampler;
  readonly sandbox: Sandbox;
  readonly grader: Grader;
  /** null = nothing is recorded, so nothing can be resumed. */
  readonly log: EventLog | null;
};

/** Rejects only when `signal` is aborted. */
export async function issue(
  command: Command,
  ports: Ports,
  vocabSize: number,
  signal: AbortSignal,
): Promise<Event> {
  const { key } = command;
  switch (command.type) {
    case "sample": {
      const { request } = command;
      const answer = await attempt("sampler", signal, () => ports.sampler.sample(request, signal));
      const sequences =
        "boundary" in answer ? Array.from({ length: request.samples }, () => answer) : answer;
      const prompt = { length: request.prompt.length, hash: request.prompt.hash };
      return {
        type: "sampled",
        key,
        prompt,
        sequences: checkAnswer(request, sequences, { vocabSize }),
      };
    }
    case "execute": {
      const result = await attempt("sandbox", signal, () =>
        ports.sandbox.run(command.request, signal),
      );
      return { type: "executed", key, result };
    }
    case "grade": {
      const { finalText, answer } = command;
      const grade = await attempt("grader", signal, () =>
        ports.grader.grade(finalText, answer, signal),
      );
      if (!("boundary" in grade)) return { type: "graded", key, grade };
      return {
        type: "graded",
        key,
        grade: { kind: "unscored", reason: grade.cause, detail: grade.detail },
      };
    }
  }
}

async function attempt<T>(
  boundary: Failure["boundary"],
  signal: AbortSignal,
  call: () => Promise<T>,
): Promise<T | Failure> {
  try {
    return await call();
  } catch (error) {
    if (signal.aborted) throw error;
    return fail(boundary, "port_threw", error instanceof Error ? error.message : String(error));
  }
}
