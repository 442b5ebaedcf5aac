/**
 * Feeds every reader with random and damaged bytes.
 *
 *   bun run fuzz [INPUTS=1000000] [--only NAME] [--seed N] [--no-growth]
 *   bun run fuzz --show NAME INDEX [--seed N]     the input itself, as a Python literal would show it
 *
 * In: how many inputs in total. Out: a line per reader: inputs, how many were refused, the slowest, whether time grows no
 * faster than the input – and every finding with what makes it again. Exit code 1 on an error that is no refusal, or on an
 * input that takes longer than a minute, for which the reader's process is ended.
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../workspace.ts";
import { allTargets } from "./targets.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: "string" },
    seed: { type: "string", default: "1" },
    show: { type: "string" },
    /** Times mean little on a machine that does other things. */
    "no-growth": { type: "boolean", default: false },
  },
});
const HANG_MS = 60_000;
const folder = mkdtempSync(join(tmpdir(), "interlace-fuzz-"));
const made = Bun.spawnSync(
  [
    process.execPath,
    join(ROOT, "apps/cli/src/main.ts"),
    "rollout",
    "--problems",
    "3",
    "--group-size",
    "4",
    "--seed",
    "5",
    "--out",
    join(folder, "runs"),
  ],
  { stdout: "ignore", stderr: "pipe" },
);
if (!made.success) throw new Error(`Cannot make a run to damage: ${made.stderr.toString()}`);
const run = join(folder, "runs", readdirSync(join(folder, "runs"))[0] as string);

const feeder = (name: string, ...args: string[]): string[] => [
  process.execPath,
  join(import.meta.dir, "feed.ts"),
  name,
  run,
  folder,
  values.seed,
  ...args,
];

if (values.show !== undefined) {
  const child = Bun.spawnSync(feeder(values.show, "show", positionals[0] ?? "0"), {
    stdout: "inherit",
  });
  process.exitCode = child.exitCode;
} else {
  const total = Number(positionals[0] ?? 1_000_000);
  const targets = allTargets(run, folder).filter(
    ({ name }) => values.only === undefined || name === values.only,
  );
  if (targets.length === 0) throw new Error(`Expected a reader's name, got ${values.only}`);
  const shares = targets.reduce((sum, { share }) => sum + share, 0);
  let fed = 0;
  let findings = 0;
  for (const { name, share } of targets) {
    const count = Math.max(1, Math.ceil((total * share) / shares));
    const ended = await feed(name, count);
    fed += ended.fed;
    findings += ended.findings;
  }
  console.log(`${fed} inputs, ${findings} findings`);
  process.exitCode = findings === 0 && fed > 0 ? 0 : 1;
}
rmSync(folder, { recursive: true });

/** One reader in a process of its own, which says how far it is. */
async function feed(
  name: string,
  count: number,
): Promise<{ readonly fed: number; readonly findings: number }> {
  const growth = values["no-growth"] ? [] : ["growth"];
  const child = Bun.spawn(feeder(name, String(count), ...growth), {
    stdout: "pipe",
    stderr: "inherit",
  });
  let heard = performance.now();
  let at = 0;
  let findings = 0;
  let hung = false;
  const watch = setInterval(() => {
    if (performance.now() - heard < HANG_MS) return;
    hung = true;
    child.kill("SIGKILL");
  }, 1000);
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    heard = performance.now();
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const progress = /^at (\d+)$/.exec(line);
      if (progress !== null) at = Number(progress[1]);
      else {
        if (line.startsWith("FINDING")) findings += 1;
        console.log(line);
      }
    }
  }
  clearInterval(watch);
  const code = await child.exited;
  if (hung) console.log(`FINDING  ${name}: hangs at an input from ${at} on (seed ${values.seed})`);
  else if (code !== 0)
    console.log(`FINDING  ${name}: its process ended with ${code} after input ${at}`);
  return {
    fed: hung || code !== 0 ? at : count,
    findings: findings + (hung || code !== 0 ? 1 : 0),
  };
}
