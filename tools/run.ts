/**
 * Starts a program of this checkout that is no command of `interlace`: benchmarks, tests against real servers.
 *
 * In: a file with its arguments, or a folder: all the programs in it, or the one that is named next, each
 * with the arguments that follow. Out: what they print; exit code 1 when one of them ends badly. Installs what is
 * missing first; knows no program.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { commandEnvironment, installWorkspace, requirePinnedBun } from "./workspace.ts";
import { ROOT, say, SetupError } from "./workspace.ts";

async function main([target, ...rest]: readonly string[]): Promise<number> {
  requirePinnedBun();
  if (target === undefined || !existsSync(join(ROOT, target))) {
    throw new SetupError(
      `Expected a file or folder of the checkout, got ${JSON.stringify(target)}`,
    );
  }
  const isFolder = statSync(join(ROOT, target)).isDirectory();
  // `bun run bench --check`: flags without a name are for all of them.
  const named = isFolder && rest[0] !== undefined && !rest[0].startsWith("-") ? rest[0] : undefined;
  const programs = isFolder ? choose(target, named) : [target];
  const args = named === undefined ? rest : rest.slice(1);
  await installWorkspace("all");
  let worst = 0;
  for (const program of programs) {
    if (programs.length > 1) console.log(`\n# ${basename(program, ".ts")}`);
    const child = Bun.spawn([process.execPath, join(ROOT, program), ...args], {
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

function choose(folder: string, name: string | undefined): readonly string[] {
  const known = readdirSync(join(ROOT, folder))
    .filter((file) => file.endsWith(".ts"))
    .map((file) => basename(file, ".ts"))
    .toSorted();
  if (name !== undefined && !known.includes(name)) {
    throw new SetupError(`Expected one of ${known.join(", ")}, got ${JSON.stringify(name)}`);
  }
  return (name === undefined ? known : [name]).map((each) => `${folder}/${each}.ts`);
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  say(error.message);
  process.exitCode = 2;
}
