/**
 * The checkout as a place to work in: its root, its pinned Bun, its installed packages.
 *
 * In: nothing but the files of the checkout. Out: a workspace in which `@interlace/…` imports
 * resolve. Runs before any install, so it imports nothing from npm; knows no command and no test.
 */
import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";

export const ROOT = dirname(import.meta.dir);

/** Everything that set-up makes lives here; deleting the folder makes it again. */
export const STATE = join(ROOT, ".interlace");

/** `run` is what `apps/cli` needs (29 MB); `all` adds the tools and oracles of the tests (0.9 GB). */
export type InstallScope = "run" | "all";

/** A mistake that a person can mend: shown as one line, without a stack. */
export class SetupError extends Error {}

/** Says one line on stderr, before what it tells of happens: stdout belongs to results. */
export function say(line: string): void {
  writeSync(2, `interlace: ${line}\n`);
}

/** Refuses a Bun older than the pin: it reads neither our lockfile nor all of our syntax. */
export function requirePinnedBun(seen: string = Bun.version): void {
  const manifest = readFileSync(join(ROOT, "package.json"), "utf8");
  const pin = /"packageManager":\s*"bun@([^"+]+)/.exec(manifest)?.[1];
  if (pin === undefined) {
    throw new SetupError(`${join(ROOT, "package.json")} names no "packageManager": "bun@…"`);
  }
  if (Bun.semver.order(seen, pin) < 0) {
    throw new SetupError(
      `Expected Bun ${pin} or newer, this is ${seen}; start it as: npx -y bun@${pin} run …`,
    );
  }
}

/**
 * Runs `work` while no other process holds the lock `name`; waits for as long as it takes.
 * SQLite's file lock ends with the process that holds it, however that ends: no stale locks.
 */
export async function withLock<T>(name: string, work: () => Promise<T>): Promise<T> {
  mkdirSync(STATE, { recursive: true });
  using lock = new Database(join(STATE, `${name}.lock`));
  lock.run("PRAGMA busy_timeout = 3600000");
  lock.run("BEGIN EXCLUSIVE");
  return await work();
}

/** Runs a part of set-up at the root. Shows what it printed only when it fails. */
export async function runQuietly(
  command: readonly string[],
  failure: string,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const child = Bun.spawn([...command], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  if (code === 0) return;
  writeSync(2, out + err);
  throw new SetupError(`${failure}; its own words stand above`);
}

/** Installs from the lockfile what is missing; one read and one hash when nothing is. */
export async function installWorkspace(scope: InstallScope): Promise<void> {
  if (isInstalled(scope)) return;
  await withLock("install", async () => {
    if (isInstalled(scope)) return; // another process did it while this one waited
    say(
      scope === "run"
        ? "installing packages from bun.lock (once)"
        : "installing packages and test tools from bun.lock (once)",
    );
    // What is installed is unknown until this has ended well.
    for (const stamp of [stampPath("run"), stampPath("all")]) rmSync(stamp, { force: true });
    const only = scope === "run" ? ["--production"] : [];
    await runQuietly(
      [process.execPath, "install", "--frozen-lockfile", ...only],
      "bun install could not install from bun.lock, for which it needs the npm registry once; " +
        "if package.json was edited, run bun install",
    );
    writeFileSync(stampPath(scope), installedState());
  });
}

/**
 * Bun carries out at most this many HTTP requests at once, 256 unless told; the rest wait in
 * line, which would starve a batch of 512 × 16 trajectories. It is read when Bun starts, as a
 * 16-bit number: 65536 would mean 256 again. How many run is the sampler's own limit.
 */
const MAX_HTTP_REQUESTS = "65535";

/** The environment in which our programs run; what its user has set goes before. */
export function commandEnvironment(): Record<string, string | undefined> {
  return { BUN_CONFIG_MAX_HTTP_REQUESTS: MAX_HTTP_REQUESTS, ...process.env };
}

function isInstalled(scope: InstallScope): boolean {
  if (!existsSync(join(ROOT, "node_modules")) || !existsSync(join(ROOT, "apps/cli/node_modules"))) {
    return false;
  }
  const scopes: readonly InstallScope[] = scope === "run" ? ["all", "run"] : ["all"];
  const state = installedState();
  return scopes.some(
    (s) => existsSync(stampPath(s)) && readFileSync(stampPath(s), "utf8") === state,
  );
}

function stampPath(scope: InstallScope): string {
  return join(STATE, `installed-${scope}`);
}

function installedState(): string {
  const lockfile = readFileSync(join(ROOT, "bun.lock"));
  return `${Bun.version} ${new Bun.CryptoHasher("sha256").update(lockfile).digest("hex")}\n`;
}
