/**
 * Runs that are killed with SIGKILL at random moments, each kill followed by `--resume`, until all kills are spent.
 *
 *   bun run soak kills [KILLS=1000] [FOLDER]
 *
 * In: how many kills. Out: a line per run, and exit code 1 when a trajectory was lost or came twice, a recorded turn was
 * asked again, or a run's files are not those of a run that nobody disturbed (as pyarrow reads them).
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { survive } from "../../apps/cli/test/kill/survive.ts";

const wanted = Number(process.argv[2] ?? 1000);
const root = process.argv[3] ?? tmpdir();
const began = performance.now();
let kills = 0;
let hits = 0;
let runs = 0;
let trajectories = 0;
let answers = 0;
const wrong: string[] = [];

while (kills < wanted && wrong.length === 0) {
  const size = { steps: 3, problems: 8, groupSize: 8 };
  const folder = mkdtempSync(join(root, "interlace-soak-"));
  const survival = await survive({
    ...size,
    folder,
    seed: 1000 + runs,
    slowMs: 6,
    maxKills: Math.min(60, wanted - kills),
    maxAsked: 16,
    random: Math.random,
  });
  kills += survival.kills;
  hits += survival.hits;
  runs += 1;
  trajectories += size.steps * size.problems * size.groupSize;
  answers += survival.answers;
  wrong.push(...survival.wrong.map((line) => `run with seed ${999 + runs}: ${line}`));
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(
    `${String(kills).padStart(6)} kills (${hits} while at work), ${runs} runs, ${trajectories} trajectories, ` +
      `${answers} answers recorded, ${wrong.length} wrong, ${seconds} s`,
  );
  if (survival.wrong.length === 0) rmSync(folder, { recursive: true });
  else console.log(`kept: ${folder}`);
}
for (const line of wrong) console.log(`WRONG  ${line}`);
process.exitCode = wrong.length === 0 && kills > 0 ? 0 : 1;
