/**
 * Kills a run again and again at random moments and lets it go on each time. In: how large the run is, how many kills
 * it may take. Out: what was found wrong, in sentences; empty = nothing was lost, nothing was done twice.
 * Reads the logs with its own eyes: whole lines of JSON, no reader of the product.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onlyRun } from "../support/cli.ts";
import { readStep } from "../support/read-step.ts";
import type { Life } from "./victim.ts";

const VICTIM = join(import.meta.dir, "victim.ts");

export type Trial = Pick<Life, "seed" | "steps" | "problems" | "groupSize" | "slowMs"> & {
  /** An empty folder. */
  readonly folder: string;
  readonly maxKills: number;
  /** A process is killed after it has asked so often at most; one in ten, while it still starts. */
  readonly maxAsked: number;
  readonly random: () => number;
};

export type Survival = {
  readonly kills: number;
  /** Kills that hit a process which had already asked for something. */
  readonly hits: number;
  readonly tornLines: number;
  readonly answers: number;
  readonly wrong: readonly string[];
};

export async function survive(trial: Trial): Promise<Survival> {
  const { folder, maxKills } = trial;
  const out = join(folder, "killed");
  const asked = join(folder, "asked");
  const wrong: string[] = [];
  let kills = 0;
  let hits = 0;
  let tornLines = 0;
  for (;;) {
    const run = existsSync(out) ? findRun(out) : null;
    const before = run === null ? NOTHING : readLogs(run);
    const askedBefore = linesOf(asked).length;
    const life: Life = {
      ...pickLife(trial),
      out,
      resume: run,
      asked,
    };
    const kill = kills < maxKills ? pickKill(trial) : null;
    const { code, stderr } = await live(life, kill);
    const askedNow = linesOf(asked).slice(askedBefore);
    for (const name of askedNow) {
      if (before.answers.has(name)) wrong.push(`${name} was recorded and is asked again`);
    }
    if (code === 0) break;
    if (code !== null) {
      wrong.push(`life ${kills} ended by itself with ${code}: ${stderr.slice(-400)}`);
      break;
    }
    kills += 1;
    if (askedNow.length > 0) hits += 1;
    if (run !== null) tornLines += readLogs(run).torn;
  }
  const run = findRun(out);
  if (run === null)
    return { kills, hits, tornLines, answers: 0, wrong: [...wrong, "no run is left"] };
  const logs = readLogs(run);
  wrong.push(...logs.doubles.map((name) => `${name} is recorded twice`));
  wrong.push(...(await compare(trial, run)));
  return { kills, hits, tornLines, answers: logs.answers.size, wrong };
}

function pickLife({ seed, steps, problems, groupSize, slowMs }: Trial) {
  return { seed, steps, problems, groupSize, slowMs };
}

/** A process that was killed before its run.json was whole has left nothing that could go on. */
function findRun(out: string): string | null {
  if (!existsSync(out)) return null;
  const runs = readdirSync(out).filter((name) => existsSync(join(out, name, "run.json")));
  if (runs.length > 1) throw new Error(`Expected one run in ${out}, seen ${runs.join(", ")}`);
  return runs[0] === undefined ? null : join(out, runs[0]);
}

type Kill = { readonly asked: number; readonly afterMs: number };

/** Most kills are near a request; some come so late that they hit the writing of files. */
function pickKill({ random, maxAsked }: Trial): Kill {
  const asked = random() < 0.1 ? 0 : 1 + Math.floor(random() * maxAsked);
  return { asked, afterMs: random() * (random() < 0.3 ? 40 : 4) };
}

/** Ends by itself, or by SIGKILL so long after it has asked so often; then `code` is null. */
async function live(
  life: Life,
  kill: Kill | null,
): Promise<{ readonly code: number | null; readonly stderr: string }> {
  const child = Bun.spawn([process.execPath, VICTIM, JSON.stringify(life)], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const stderr = new Response(child.stderr).text();
  if (kill === null) await new Response(child.stdout).text();
  else {
    await waitForAsked(child.stdout, kill.asked);
    await Promise.race([Bun.sleep(kill.afterMs), child.exited]);
    child.kill("SIGKILL");
  }
  await child.exited;
  return { code: child.signalCode === "SIGKILL" ? null : child.exitCode, stderr: await stderr };
}

/** Resolves when the process has said `alive`, and `asked` so often, or has ended. */
async function waitForAsked(stream: ReadableStream<Uint8Array>, count: number): Promise<void> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let said = "";
  while (!said.includes("alive") || said.split("asked\n").length - 1 < count) {
    const { done, value } = await reader.read();
    if (done) return;
    said += decoder.decode(value, { stream: true });
  }
  void (async () => {
    while (!(await reader.read()).done);
  })();
}

type Logs = {
  readonly answers: ReadonlySet<string>;
  readonly doubles: readonly string[];
  readonly torn: number;
};

const NOTHING: Logs = { answers: new Set(), doubles: [], torn: 0 };

function readLogs(run: string): Logs {
  const answers = new Set<string>();
  const doubles: string[] = [];
  let torn = 0;
  for (const step of readdirSync(run).filter((name) => name.startsWith("step-"))) {
    const path = join(run, step, "events.jsonl");
    if (!existsSync(path)) continue;
    const text = readFileSync(path, "utf8");
    const lines = text.split("\n");
    if (lines.pop() !== "") torn += 1;
    for (const line of lines) {
      const { type, key } = JSON.parse(line) as {
        type: string;
        key?: Record<string, number | null>;
      };
      if (key === undefined) continue;
      const place = `${key["step"]}/${key["question"]}/${key["group"] ?? "-"}/${key["turn"]}`;
      const call = `${key["step"]} code-${key["question"]}-${key["group"]}-${key["turn"]}`;
      const name = `${type} ${type === "executed" ? call : place}`;
      if (answers.has(name)) doubles.push(name);
      answers.add(name);
    }
  }
  return { answers, doubles, torn };
}

function linesOf(path: string): readonly string[] {
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
}

/** The killed run against one that nobody disturbed, column by column, as pyarrow sees them. */
async function compare(trial: Trial, killed: string): Promise<readonly string[]> {
  const quiet = join(trial.folder, "quiet");
  mkdirSync(quiet);
  const life = {
    ...pickLife(trial),
    out: quiet,
    resume: null,
    asked: join(trial.folder, "quiet-asked"),
  };
  const { code, stderr } = await live({ ...life, slowMs: 0 }, null);
  if (code !== 0) return [`the undisturbed run ended with ${code}: ${stderr}`];
  const wrong: string[] = [];
  for (let step = 0; step < trial.steps; step++) {
    const [seen, expected] = await Promise.all([
      readStep(killed, step),
      readStep(onlyRun(quiet), step),
    ]);
    for (const name of ["datums", "trajectories", "ledger"] as const) {
      if (!Bun.deepEquals(seen[name], expected[name])) wrong.push(`step ${step}: ${name} differ`);
    }
    const places = new Set(
      seen.trajectories.map((row) => JSON.stringify([row["question_index"], row["group_index"]])),
    );
    const asked = trial.problems * trial.groupSize;
    if (places.size !== asked || seen.trajectories.length !== asked) {
      wrong.push(
        `step ${step}: ${seen.trajectories.length} rows of ${places.size} places, asked ${asked}`,
      );
    }
  }
  return wrong;
}
