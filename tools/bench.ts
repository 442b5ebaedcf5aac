/**
 * `bun run bench`: the programs of `bench/`, one after another, or the one that is named.
 *
 * In: a name of a file in `bench/` and its arguments, or nothing for all. Out: what they print; exit
 * code 1 when one of them ends badly. Measures nothing itself.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { commandEnvironment, installWorkspace, requirePinnedBun } from "./workspace.ts";
import { ROOT, say, SetupError } from "./workspace.ts";

async function main([name, ...args]: readonly string[]): Promise<number> {
  requirePinnedBun();
  const known = readdirSync(join(ROOT, "bench"))
    .filter((file) => file.endsWith(".ts"))
    .map((file) => file.slice(0, -".ts".length))
    .toSorted();
  if (name !== undefined && !known.includes(name)) {
    throw new SetupError(
      `Expected a name in bench/ (${known.join(", ")}), got ${JSON.stringify(name)}`,
    );
  }
  await installWorkspace("all");
  let worst = 0;
  for (const each of name === undefined ? known : [name]) {
    if (name === undefined) console.log(`\n# ${each}`);
    const child = Bun.spawn([process.execPath, join(ROOT, `bench/${each}.ts`), ...args], {
      cwd: ROOT,
      env: commandEnvironment(),
      stdin: "inherit",
      stdout: "inherit",
      stderr: "inherit",
    });
    if ((await child.exited) !== 0) worst = 1;
  }
  return worst;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  say(error.message);
  process.exitCode = 2;
}
