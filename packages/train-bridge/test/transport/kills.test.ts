/** Who dies finds its steps again: the Python learner, the engine, both, at every point between two steps. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { readAcknowledged, serveDatums, writeDatums } from "../../src/index.ts";
import { linesOf, startTestLearner } from "../support/learner.ts";
import { HAS_PYTHON } from "../support/python.ts";
import { CONTEXT, drawnStep } from "../support/sample-step.ts";
import { temporaryFolder } from "../support/temporary.ts";

// A busy machine takes seconds to start a Python.
setDefaultTimeout(60_000);

async function writeSteps(path: string, count: number) {
  const fileOf = (step: number) => join(path, `${step}.arrow`);
  const targets: number[][] = [];
  for (let step = 0; step < count; step++) {
    const drawn = drawnStep(8, step + 1);
    await writeDatums(fileOf(step), drawn, { ...CONTEXT, step });
    targets.push(
      drawn.microBatches.flatMap((batch) =>
        batch.items.flatMap((item) => {
          const { member } = drawn.datums[item] ?? {};
          return [...(member?.tokens.segments ?? [])].flatMap(({ ids }) => [...ids]).slice(1);
        }),
      ),
    );
  }
  return {
    targets,
    options: {
      socket: join(path, "learner.sock"),
      fileOf,
      acknowledgements: join(path, "acknowledged.json"),
      offered: count,
    },
  };
}

async function startServer(path: string, steps: number) {
  const script = join(import.meta.dir, "../support/datum-server.ts");
  const child = Bun.spawn([process.execPath, script, path, String(steps)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const first = await linesOf(child.stdout).next();
  expect(first.value).toBe("serving");
  return {
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
    async kill() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

describe.skipIf(!HAS_PYTHON)("a learner in Python", () => {
  test("gets every step's tokens in order, and the end", async () => {
    await using folder = await temporaryFolder();
    const { options, targets } = await writeSteps(folder.path, 3);
    await using server = await serveDatums(options);
    server.finish();
    const { learner, hello } = await startTestLearner(options.socket);
    await using _ = learner;
    expect(hello).toEqual(["connected", 0]);
    for (const [step, tokens] of targets.entries()) {
      expect(await learner.tell("take")).toEqual(["step", step]);
      expect(await learner.tell("read")).toEqual(["read", tokens]);
      expect(await learner.tell("acknowledge")).toEqual(["acknowledged", step]);
    }
    expect(await learner.tell("take")).toEqual(["end"]);
  });

  test("a step that was only begun is skipped to its end: the next line is found", async () => {
    await using folder = await temporaryFolder();
    const { options, targets } = await writeSteps(folder.path, 2);
    await using stack = new AsyncDisposableStack();
    stack.use(await serveDatums(options));
    const { learner } = await startTestLearner(options.socket);
    await using _ = learner;
    await learner.tell("take");
    await learner.tell("begin");
    expect(await learner.tell("acknowledge")).toEqual(["acknowledged", 0]);
    expect(await learner.tell("take")).toEqual(["step", 1]);
    expect(await learner.tell("read")).toEqual(["read", targets[1] ?? []]);
  });

  const points = ["begin", "read", null] as const;
  test.each(points)("killed after it took a step and %p, it gets it again", async (order) => {
    await using folder = await temporaryFolder();
    const { options, targets } = await writeSteps(folder.path, 2);
    await using server = await serveDatums(options);
    const { learner: first } = await startTestLearner(options.socket);
    await first.tell("take");
    if (order !== null) await first.tell(order);
    await first.kill();
    const { learner, hello } = await startTestLearner(options.socket);
    await using _ = learner;
    expect(hello).toEqual(["connected", 0]);
    expect(await learner.tell("take")).toEqual(["step", 0]);
    expect(await learner.tell("read")).toEqual(["read", targets[0] ?? []]);
    expect(server.acknowledged()).toBe(0);
  });

  test("killed after it acknowledged, it gets the next one; killed while it waits, nothing is lost", async () => {
    await using folder = await temporaryFolder();
    const { options } = await writeSteps(folder.path, 2);
    await using server = await serveDatums({ ...options, offered: 1 });
    const { learner: first } = await startTestLearner(options.socket);
    await first.tell("take");
    await first.tell("acknowledge");
    first.order("take");
    await first.kill();
    const { learner, hello } = await startTestLearner(options.socket);
    await using _ = learner;
    expect(hello).toEqual(["connected", 1]);
    server.offer(2);
    expect(await learner.tell("take")).toEqual(["step", 1]);
  });

  test("killed between its checkpoint and its word, it trains on nothing twice", async () => {
    await using folder = await temporaryFolder();
    const { options } = await writeSteps(folder.path, 2);
    await using server = await serveDatums(options);
    const { learner: first } = await startTestLearner(options.socket);
    await first.tell("take");
    await first.tell("read");
    await first.kill();
    // Its checkpoint holds one step.
    const { learner, hello } = await startTestLearner(options.socket, 1);
    await using _ = learner;
    expect(hello).toEqual(["connected", 1]);
    expect(server.acknowledged()).toBe(1);
    expect(await learner.tell("take")).toEqual(["step", 1]);
  });

  test("back from an older checkpoint, it gets steps again that it had acknowledged", async () => {
    await using folder = await temporaryFolder();
    const { options, targets } = await writeSteps(folder.path, 2);
    await using server = await serveDatums(options);
    const { learner: first } = await startTestLearner(options.socket);
    for (const order of ["take", "acknowledge", "take", "acknowledge"] as const) {
      await first.tell(order);
    }
    await first.kill();
    expect(server.acknowledged()).toBe(2);
    const { learner } = await startTestLearner(options.socket, 0);
    await using _ = learner;
    expect(await learner.tell("take")).toEqual(["step", 0]);
    expect(await learner.tell("read")).toEqual(["read", targets[0] ?? []]);
    expect(await learner.tell("acknowledge")).toEqual(["acknowledged", 0]);
    expect(server.acknowledged()).toBe(2);
  });

  test("a second one takes over; the first is told why", async () => {
    await using folder = await temporaryFolder();
    const { options } = await writeSteps(folder.path, 1);
    await using stack = new AsyncDisposableStack();
    stack.use(await serveDatums(options));
    const { learner: first } = await startTestLearner(options.socket);
    stack.use(first);
    await first.tell("take");
    const { learner } = await startTestLearner(options.socket);
    await using _ = learner;
    expect(await first.tell("acknowledge")).toEqual([
      "TransportError",
      expect.stringContaining("Another learner has come"),
    ]);
    expect(await learner.tell("take")).toEqual(["step", 0]);
  });
});

describe.skipIf(!HAS_PYTHON)("an engine that is killed", () => {
  test("is noticed by the learner, and comes back with what was acknowledged", async () => {
    await using folder = await temporaryFolder();
    const { options, targets } = await writeSteps(folder.path, 2);
    const engine = await startServer(folder.path, 2);
    const { learner: first } = await startTestLearner(options.socket);
    await using stack = new AsyncDisposableStack();
    stack.use(first);
    await first.tell("take");
    await first.tell("acknowledge");
    expect(await first.tell("take")).toEqual(["step", 1]);
    await engine.kill();
    expect(await first.tell("acknowledge")).toEqual([
      "EngineLost",
      expect.stringContaining("The engine is gone"),
    ]);
    expect(await readAcknowledged(options.acknowledgements)).toBe(1);
    stack.use(await startServer(folder.path, 2));
    const { learner, hello } = await startTestLearner(options.socket);
    await using _ = learner;
    expect(hello).toEqual(["connected", 1]);
    expect(await learner.tell("take")).toEqual(["step", 1]);
    expect(await learner.tell("read")).toEqual(["read", targets[1] ?? []]);
    expect(await learner.tell("acknowledge")).toEqual(["acknowledged", 1]);
    expect(await learner.tell("take")).toEqual(["end"]);
  });

  test("while a learner waits for a step: it does not wait for ever", async () => {
    await using folder = await temporaryFolder();
    const { options } = await writeSteps(folder.path, 0);
    await using server = await serveDatums(options);
    const { learner } = await startTestLearner(options.socket);
    await using _ = learner;
    learner.order("take");
    await server[Symbol.asyncDispose]();
    expect(await learner.answer()).toEqual([
      "TransportError",
      expect.stringContaining("The engine is closing"),
    ]);
  });
});
