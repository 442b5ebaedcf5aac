/** `rollout --learner`: a trainer of the user's own takes every step before the next one is rolled out. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { askPython, newFolder, onlyRun, runCli, spawnCli, waitForText } from "../support/cli.ts";

setDefaultTimeout(120_000);

const LEARNER = join(import.meta.dir, "../../../../packages/train-bridge/python/src");
const SMALL = ["--problems", "2", "--group-size", "4", "--seed", "7"];

const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

function freshFolder(): string {
  const folder = newFolder();
  folders.push(folder);
  return folder;
}

/** Trains for a while on each step; prints what it got, and whether a later step was there before it was done. */
const TRAINER = `
import json, pathlib, sys, time
sys.path.insert(0, ${JSON.stringify(LEARNER)})
from interlace_learner import connect, watch
how, run, count, ahead = sys.argv[1], pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
seen = []
def train(step, facts, batches):
    tokens = sum(batch.loss_tokens for batch in batches)
    time.sleep(0.4)
    early = (run / f"step-{step.index + 1 + ahead:06d}").exists()
    seen.append([step.index, facts.scored_samples, tokens > 0, early])
    step.acknowledge()
if how == "files":
    for step in watch(run, poll_seconds=0.02):
        with step.datums() as datums:
            train(step, datums.facts, datums.micro_batches())
else:
    with connect(str(run / "learner.sock"), wait_seconds=30) as steps:
        for step in steps:
            train(step, step.facts, step.micro_batches())
print(json.dumps(seen))
`;

function train(how: string, run: string, count: number, ahead = 0): Promise<unknown> {
  return askPython(TRAINER, [how, run, String(count), String(ahead)]);
}

const threeSteps = [0, 1, 2].map((step) => [step, 8, true, false]);

describe.each(["files", "socket"])("through %s", (how) => {
  test("every step is trained on before the next is rolled out", async () => {
    const cwd = freshFolder();
    const child = spawnCli(["rollout", ...SMALL, "--steps", "3", "--learner", how, "--json"], cwd);
    const json = new Response(child.stdout).text();
    await waitForText(child.stderr, "learner  interlace_learner.");
    expect(await train(how, onlyRun(join(cwd, "runs")), 3)).toEqual(threeSteps);
    expect(await child.exited).toBe(0);
    expect(JSON.parse(await json)).toMatchObject({ end: "complete", steps: [{}, {}, {}] });
  });

  test("interrupted while it trains, the run goes on where it was", async () => {
    const cwd = freshFolder();
    const child = spawnCli(["rollout", ...SMALL, "--steps", "2", "--learner", how, "--json"], cwd);
    const json = new Response(child.stdout).text();
    await waitForText(child.stderr, "learner  interlace_learner.");
    const run = onlyRun(join(cwd, "runs"));
    while (!existsSync(join(run, "metrics.jsonl"))) await Bun.sleep(20);
    await Bun.sleep(300);
    expect(existsSync(join(run, "step-000001"))).toBe(false);
    child.kill("SIGINT");
    expect(await child.exited).toBe(1);
    expect(JSON.parse(await json)).toMatchObject({ end: "interrupted", acknowledged_steps: 0 });

    const resumed = runCli(["rollout", "--resume", run], cwd);
    expect(await train(how, run, 2)).toEqual(threeSteps.slice(0, 2));
    expect(await resumed).toMatchObject({ code: 0 });
    expect(await runCli(["verify", run], cwd)).toMatchObject({ code: 0 });
  });
});

test("one step ahead, where that is allowed", async () => {
  const cwd = freshFolder();
  const env = { INTERLACE_LEARNER_MAX_AHEAD: "1" };
  const child = spawnCli(["rollout", ...SMALL, "--steps", "3", "--learner", "files"], cwd, env);
  await waitForText(child.stderr, "learner  interlace_learner.");
  const run = onlyRun(join(cwd, "runs"));
  while (!existsSync(join(run, "step-000001/datums.arrow"))) await Bun.sleep(20);
  expect(existsSync(join(run, "acknowledged.json"))).toBe(false);
  expect(await train("files", run, 3, 1)).toEqual(threeSteps);
  expect(await child.exited).toBe(0);
});

describe("a place that cannot be a socket is refused before anything is sampled", () => {
  async function refused(socket: string, cwd: string): Promise<string> {
    const env = { INTERLACE_LEARNER_SOCKET: socket };
    const { code, stderr } = await runCli(["rollout", ...SMALL, "--learner", "socket"], cwd, env);
    expect(code).toBe(1);
    return stderr;
  }

  test("a path that is too long for one", async () => {
    const cwd = freshFolder();
    expect(await refused(join(cwd, "x".repeat(90)), cwd)).toMatch(
      /Cannot serve steps at .*: Expected a path of at most 10\d bytes for a socket, got 1\d\d; learner\.socket names another/,
    );
  });

  test("a file of somebody's, which stays", async () => {
    const cwd = freshFolder();
    const precious = join(cwd, "precious.txt");
    await Bun.write(precious, "precious");
    expect(await refused(precious, cwd)).toContain(`a socket at ${precious}, which is a file`);
    expect(await Bun.file(precious).text()).toBe("precious");
  });
});

test("acknowledgements that say nothing are told as what they are", async () => {
  const cwd = freshFolder();
  const child = spawnCli(["rollout", ...SMALL, "--steps", "2", "--learner", "files"], cwd);
  const stderr = new Response(child.stderr).text();
  while (new Bun.Glob("runs/*/run.json").scanSync({ cwd }).next().done === true) {
    await Bun.sleep(20);
  }
  await Bun.write(join(onlyRun(join(cwd, "runs")), "acknowledged.json"), "hello\n");
  expect(await child.exited).toBe(1);
  expect(await stderr).toMatch(
    /^interlace: Expected .*acknowledged\.json to hold .*, got hello; write/m,
  );
  expect(await stderr).not.toContain("bug of Interlace");
});

test("a run that was given more steps says so when it is interrupted", async () => {
  const cwd = freshFolder();
  expect((await runCli(["rollout", ...SMALL], cwd)).code).toBe(0);
  const run = onlyRun(join(cwd, "runs"));
  const child = spawnCli(["rollout", "--resume", run, "--steps", "3", "--learner", "files"], cwd);
  let stderr = "";
  for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) {
    stderr += chunk;
    if (stderr.includes("waiting for the learner")) child.kill("SIGINT");
  }
  expect(await child.exited).toBe(1);
  expect(stderr).toContain("it has acknowledged 0 steps");
  expect(stderr).toContain(`Go on with: bun run rollout --resume ${run} --steps 3`);
});
