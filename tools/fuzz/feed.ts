/**
 * One reader, fed. In: its name, a good run, a folder to write in, a seed, how many inputs. Out: progress, findings, and
 * one line at the end. `show INDEX` prints one input instead.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { mutate, randomFrom } from "./mutate.ts";
import { allTargets, type Target } from "./targets.ts";

const [name = "", run = "", folder = "", seedText = "1", ...what] = process.argv.slice(2);
const seed = Number(seedText);
const scratch = join(folder, name.replaceAll(" ", "-"));
mkdirSync(scratch, { recursive: true });
const target = allTargets(run, scratch).find((each) => each.name === name);
if (target === undefined) throw new Error(`There is no reader ${name}`);

const inputAt = (index: number): Uint8Array =>
  mutate(target.examples, target.words, randomFrom(seed * 1_000_003 + index));

if (what[0] === "show") {
  console.log(JSON.stringify(new TextDecoder("latin1").decode(inputAt(Number(what[1])))));
} else {
  const count = Number(what[0]);
  /** Same kind of finding: told once, counted. */
  const told = new Map<string, number>();
  let refused = 0;
  let slowest = 0;
  let said = performance.now();
  for (let index = 0; index < count; index++) {
    const bytes = inputAt(index);
    const before = performance.now();
    try {
      await target.feed(bytes);
    } catch (error) {
      if (target.refuses(error)) refused += 1;
      else tell(error, index);
    }
    const now = performance.now();
    slowest = Math.max(slowest, now - before);
    if (now - said > 1000) {
      said = now;
      console.log(`at ${index + 1}`);
    }
  }
  const more = [...told.values()].reduce((sum, times) => sum + times - 1, 0);
  const growth =
    target.grow === null || what[1] !== "growth" ? "" : `, ${await measureGrowth(target)}`;
  console.log(
    `${name.padEnd(14)} ${String(count).padStart(8)} inputs, ${String(refused).padStart(7)} refused, slowest ${slowest.toFixed(0)} ms${growth}` +
      (more > 0 ? `, ${more} more findings of these kinds` : ""),
  );

  function tell(error: unknown, index: number): void {
    const kind =
      error instanceof Error ? `${error.name}: ${error.message.slice(0, 120)}` : String(error);
    const times = told.get(kind) ?? 0;
    told.set(kind, times + 1);
    if (times > 0 || told.size > 20) return;
    const stack =
      error instanceof Error ? (error.stack ?? "").split("\n").slice(1, 4).join(" | ") : "";
    console.log(
      `FINDING  ${name} ${index} (seed ${seed}): ${kind}  ${stack.replaceAll(/\s+/g, " ")}`,
    );
  }
}

/** Twice the input, about twice the processor time: the exponent between two sizes, the best of five tries each. */
async function measureGrowth(grown: Target): Promise<string> {
  const sizes = [4_000, 32_000];
  const costs: number[] = [];
  for (const size of sizes) {
    const bytes = new TextEncoder().encode(grown.grow?.(size) ?? "");
    let best = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 5; i++) {
      const before = process.cpuUsage();
      try {
        await grown.feed(bytes);
      } catch (error) {
        if (!grown.refuses(error)) throw error;
      }
      const { user, system } = process.cpuUsage(before);
      best = Math.min(best, user + system);
    }
    costs.push(Math.max(best, 100));
  }
  const [small = 1, large = 1] = costs;
  const exponent = Math.log(large / small) / Math.log(8);
  const verdict = exponent > 1.5 ? "FINDING" : "";
  if (verdict !== "")
    console.log(
      `FINDING  ${grown.name}: time grows as size^${exponent.toFixed(1)} (${small} µs, ${large} µs)`,
    );
  return `time as size^${exponent.toFixed(1)}`;
}
