/**
 * The Python learner as a process: one JSON object a line in, one out, one at a time (its protocol is described in
 * `interlace_learner/__main__.py`). A learner that dies is an error that says so, with the end of its stderr.
 */
import { messageOf, workFailed } from "../person-error.ts";

export type LearnerReply = { readonly type: string } & Readonly<Record<string, unknown>>;

export type LearnerProcess = AsyncDisposable & {
  readonly pid: number;
  /** Throws a PersonError when the learner answers with an error, or is gone. */
  readonly ask: (
    request: Readonly<Record<string, unknown>>,
    expected: string,
  ) => Promise<LearnerReply>;
};

export type LearnerCommand = {
  readonly python: string;
  /** Folder that holds the `interlace_learner` package. */
  readonly source: string;
};

/** What runs beside the engine, and how messages call it. */
export type LearnerRole = {
  readonly module: string;
  readonly name: string;
  /** Ends the message of one that died. */
  readonly advice: string;
};

const LEARNER: LearnerRole = {
  module: "interlace_learner",
  name: "learner",
  advice: "what was trained is kept, go on with --resume",
};

const KEPT_STDERR = 4_000;

export function startLearner(
  { python, source }: LearnerCommand,
  { module, name, advice }: LearnerRole = LEARNER,
): LearnerProcess {
  const path = [source, process.env["PYTHONPATH"]].filter(Boolean).join(":");
  const child = Bun.spawn([python, "-m", module], {
    // Two OpenMP threads on a busy machine wait for each other; the learner sets its own count.
    env: { ...process.env, PYTHONPATH: path, OMP_WAIT_POLICY: "passive", PYTHONUNBUFFERED: "1" },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
    // Its own group: Ctrl-C reaches the engine alone, which ends it in order.
    detached: true,
  });
  const lines = readLines(child.stdout);
  let said = "";
  void (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of child.stderr) {
      said = (said + decoder.decode(chunk, { stream: true })).slice(-KEPT_STDERR);
    }
  })();

  async function gone(): Promise<never> {
    const code = await child.exited;
    const tail = said.trim();
    throw workFailed(
      `The ${name} ended on its own (${child.signalCode ?? `exit code ${code}`})${tail === "" ? "" : `: ${tail}`}; ${advice}`,
    );
  }

  async function exchange(
    request: Readonly<Record<string, unknown>>,
    expected: string,
  ): Promise<LearnerReply> {
    try {
      void child.stdin.write(`${JSON.stringify(request)}\n`);
      await child.stdin.flush();
    } catch {
      return gone();
    }
    const next = await lines.next();
    if (next.done === true) return gone();
    const reply = parseReply(next.value, name);
    if (reply.type === expected) return reply;
    throw workFailed(
      `The ${name} could not ${String(request["type"])}: ${String(reply["message"])}`,
    );
  }

  // One request at a time: two steps may be under way, and replies carry no names.
  let last: Promise<unknown> = Promise.resolve();
  return {
    pid: child.pid,
    ask(request, expected) {
      const reply = last.then(() => exchange(request, expected));
      last = reply.catch(() => {});
      return reply;
    },
    async [Symbol.asyncDispose]() {
      await child.stdin.end();
      await child.exited;
    },
  };
}

function parseReply(line: string, name: string): LearnerReply {
  try {
    return JSON.parse(line) as LearnerReply;
  } catch (error) {
    throw workFailed(
      `The ${name} wrote a line that is no JSON: ${line.slice(0, 200)}: ${messageOf(error)}`,
    );
  }
}

async function* readLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
}
