/**
 * 10,000 trajectories with twelve kinds of injected faults, each hitting one in a hundred.
 *
 *   bun run soak faults [PROBLEMS=1250] [RATE=0.01]
 *
 * Out: what was hit and what became of it, as pyarrow reads the files; exit code 1 when a trajectory that was not hit
 * failed or changed, one that was hit did not fail, or the ledger does not balance in trajectories or in tokens.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { strike } from "../../apps/cli/test/faults/strike.ts";

const problems = Number(process.argv[2] ?? 1250);
const rate = Number(process.argv[3] ?? 0.01);
const folder = mkdtempSync(join(tmpdir(), "interlace-faults-"));
const began = performance.now();
const { wrong, ...seen } = await strike({ folder, problems, groupSize: 8, seed: 7, rate });
console.log(JSON.stringify(seen, null, 2));
for (const line of wrong) console.log(`WRONG  ${line}`);
const seconds = Math.round((performance.now() - began) / 1000);
console.log(`${seen.trajectories} trajectories, ${wrong.length} wrong, ${seconds} s`);
if (wrong.length === 0) rmSync(folder, { recursive: true });
else console.log(`kept: ${folder}`);
process.exitCode = wrong.length === 0 ? 0 : 1;
