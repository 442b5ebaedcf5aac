/**
 * A learner in Python as its own process, which does one thing per line that it is told, so that a test can kill it
 * at any point of its life. It is given `connect`'s connection as `learner`.
 */
import { join } from "node:path";
import { PYTHON } from "./python.ts";

const SOURCE = join(import.meta.dir, "../../python/src");

const BODY = `
import json, sys
from interlace_learner import connect
first = json.loads(sys.argv[2])
with connect(sys.argv[1], first_step=first, wait_seconds=30) as connection:
    steps = iter(connection)
    step = None
    print(json.dumps(["connected", connection.next_step]), flush=True)
    for line in sys.stdin:
        order = line.strip()
        try:
            if order == "take":
                step = next(steps, None)
                reply = ["end"] if step is None else ["step", step.index]
            elif order == "read":
                reply = ["read", [int(x) for batch in step.micro_batches() for x in batch.target_tokens]]
            elif order == "begin":
                batch = next(iter(step.micro_batches()))
                reply = ["begun", len(batch)]
            elif order == "acknowledge":
                step.acknowledge()
                reply = ["acknowledged", step.index]
        except (OSError, ValueError) as error:
            reply = [type(error).__name__, str(error)]
        print(json.dumps(reply), flush=True)
`;

export type TestLearner = AsyncDisposable & {
  readonly tell: (order: "take" | "read" | "begin" | "acknowledge") => Promise<unknown>;
  /** Sends the order and does not wait. */
  readonly order: (order: "take" | "read" | "begin" | "acknowledge") => void;
  /** The answer to an order before. */
  readonly answer: () => Promise<unknown>;
  readonly kill: () => Promise<void>;
};

/** Resolves with what it says when it is connected. */
export async function startTestLearner(
  socket: string,
  firstStep: number | null = null,
): Promise<{ readonly learner: TestLearner; readonly hello: unknown }> {
  const child = Bun.spawn([PYTHON, "-c", BODY, socket, JSON.stringify(firstStep)], {
    env: { ...process.env, PYTHONPATH: SOURCE },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  const lines = linesOf(child.stdout);
  async function answer(): Promise<unknown> {
    const next = await lines.next();
    if (next.done === true) {
      throw new Error(`The learner ended: ${await new Response(child.stderr).text()}`);
    }
    return JSON.parse(next.value);
  }
  function order(text: string): void {
    void child.stdin.write(`${text}\n`);
    void child.stdin.flush();
  }
  async function kill(): Promise<void> {
    child.kill("SIGKILL");
    await child.exited;
  }
  const learner: TestLearner = {
    order,
    answer,
    kill,
    tell(text) {
      order(text);
      return answer();
    },
    [Symbol.asyncDispose]: kill,
  };
  try {
    return { learner, hello: await answer() };
  } catch (error) {
    await kill();
    throw error;
  }
}

export async function* linesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
}
