/** Literal events of every kind, for the tests of the log. */
import { captured, fail, weightVersion, type Event } from "@interlace/core";

export const SAMPLED: Event = {
  type: "sampled",
  key: { step: 0, question: 3, group: null, turn: 0 },
  prompt: { length: 68, hash: 4_054_078_138 },
  sequences: [
    {
      ok: true,
      ids: new Int32Array([1, -1, 2_147_483_647]),
      logprobs: new Float32Array([-0, -0.1, -3.4e38]),
      finish: "stop",
      seed: 2 ** 31 - 1,
      versions: [
        { version: weightVersion("sha256-1"), start: 0, end: 2 },
        { version: null, start: 2, end: 3 },
      ],
      serverText: "a\u2028b\n\ud800",
    },
    {
      ok: true,
      ids: new Int32Array(0),
      logprobs: new Float32Array(0),
      finish: "length",
      seed: 0,
      versions: [],
      serverText: null,
    },
    fail("sampler", "server_error", "Expected 200, got 503"),
  ],
};

export const EXECUTED: Event = {
  type: "executed",
  key: { step: 0, question: 3, group: 1, turn: 1 },
  result: {
    ok: true,
    status: "killed",
    exitCode: null,
    signal: "SIGSEGV",
    limit: null,
    stdout: { head: "é\u0085", tail: "end", omittedBytes: 9, totalBytes: 15 },
    stderr: captured(""),
    usage: { queuedSeconds: 0, wallSeconds: 0.25, cpuSeconds: null, peakMemoryBytes: 4096 },
  },
};

export const BROKEN: Event = {
  type: "executed",
  key: { step: 0, question: 3, group: 2, turn: 1 },
  result: fail("sandbox", "sandbox_error", "The worker went away"),
};

export const GRADES: readonly Event[] = (
  [
    { kind: "equal", answer: "42", by: "native" },
    { kind: "different", answer: null, by: "format" },
    { kind: "unscored", reason: "timeout", detail: "10 s" },
  ] as const
).map((grade, group) => ({
  type: "graded",
  key: { step: 0, question: 3, group, turn: 2 },
  grade,
}));

export const ALL: readonly Event[] = [SAMPLED, EXECUTED, BROKEN, ...GRADES];
