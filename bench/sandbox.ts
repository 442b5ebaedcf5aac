/**
 * What a run of code costs in the sandbox, beside one plain process of the same interpreter per call.
 *
 *   bun run bench:sandbox [--rounds N] [--python PATH] [--check]
 *
 * Contenders take turns within a round, in a rotated order, and a ratio is taken within its round: load on
 * the machine falls on all of them. Medians of the rounds are shown; only ratios mean anything elsewhere.
 * `--check` exits 1 where a goal is missed.
 */
import { availableParallelism, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { openContenders } from "./sandbox/contenders.ts";
import { MEASURES, type Measured } from "./sandbox/measures.ts";

const { values: flags } = parseArgs({
  options: {
    rounds: { type: "string", default: "7" },
    python: { type: "string" },
    check: { type: "boolean", default: false },
  },
});

const load = () =>
  loadavg()
    .map((each) => each.toFixed(1))
    .join(" ");
const rounds = Number(flags.rounds);
await using contenders = await openContenders(flags.python);
console.log(`${contenders.python}, ${availableParallelism()} cores, load ${load()}`);
console.log(`pool: ${contenders.described}\n`);

let missed = 0;
for (const measure of MEASURES) {
  const all: Measured[] = [];
  for (let round = 0; round < rounds; round += 1) all.push(await measure.run(contenders, round));
  const ratio = median(all.map((each) => each.ratio));
  const fine = measure.atLeast ? ratio >= measure.goal : ratio <= measure.goal;
  if (!fine) missed += 1;
  const goal = `${measure.atLeast ? "≥" : "≤"} ${measure.goal}`;
  const detail = Object.keys(all[0]!.shown)
    .map((name) => `${name} ${median(all.map((each) => each.shown[name]!)).toFixed(1)}`)
    .join(", ");
  console.log(
    `${fine ? "ok  " : "MISS"} ${ratio.toFixed(2).padStart(6)} × (goal ${goal})  ${measure.name}\n       ${detail}`,
  );
}
console.log(`\n${rounds} rounds, load now ${load()}`);
if (flags.check && missed > 0) process.exitCode = 1;

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
