/** Environments are made for real, but hold nothing: what pip installs would need a network. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmod, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { ensurePythonEnv, type PythonEnvOptions } from "../../src/index.ts";

/** Processes are started: on a busy machine that takes its time. */
setDefaultTimeout(300_000);

const scratch = await mkdtemp(join(tmpdir(), "interlace-python-env-"));
afterAll(() => rm(scratch, { recursive: true }));

const NOTHING = "# no packages\n";
let made = 0;

function optionsFor(extra: Partial<PythonEnvOptions> = {}): PythonEnvOptions & { told: string[] } {
  const told: string[] = [];
  const folder = join(scratch, String(++made));
  return {
    folder,
    name: "judge",
    requirements: NOTHING,
    tell: (line) => told.push(line),
    told,
    ...extra,
  };
}

/** A finished environment to start from, made once, beside what other builders left. */
let whole: PythonEnvOptions & { told: string[] };
let place: string;
const uuid = crypto.randomUUID();
const ofDead = `judge-${Bun.spawnSync(["true"]).pid}-${uuid}.part`;
const ofLiving = `judge-${process.pid}-${uuid}.part`;
beforeAll(async () => {
  whole = optionsFor();
  for (const name of [ofDead, ofLiving, "judge-of-someone"]) {
    await mkdir(join(whole.folder, name), { recursive: true });
  }
  const env = await ensurePythonEnv(whole);
  if (!env.ok) throw new Error(env.detail);
  place = join(env.python, "../..");
});

const entries = async (folder: string) => (await readdir(folder)).toSorted();

test("an environment is told in one line, made once, and found from then on", async () => {
  expect(whole.told).toEqual([
    expect.stringMatching(/^Making a Python 3\.\d+ environment \(judge\) in .*, once$/),
  ]);
  const again = await ensurePythonEnv(whole);
  expect(again).toEqual({ ok: true, python: join(place, "bin/python"), made: false });
  expect(whole.told).toHaveLength(1);
  // It runs where it was moved to, and sees its own packages only.
  const prefix = Bun.spawnSync([join(place, "bin/python"), "-c", "import sys; print(sys.prefix)"]);
  expect(prefix.stdout.toString().trim()).toBe(place);
});

test("parts of a dead builder are cleared away, those of a living one and strangers stay", async () => {
  expect(await entries(whole.folder)).toEqual(
    [basename(place), ofLiving, "judge-of-someone"].toSorted(),
  );
});

test("two that build at once end with the same environment and leave nothing else", async () => {
  const options = optionsFor();
  const both = await Promise.all([ensurePythonEnv(options), ensurePythonEnv(options)]);
  const [first, second] = both;
  expect(first?.ok).toBe(true);
  expect(second).toEqual(first);
  expect(await entries(options.folder)).toHaveLength(1);
});

test("a half-made one, with no stamp, is made anew", async () => {
  const options = optionsFor();
  const name = basename(place);
  await mkdir(join(options.folder, name, "bin"), { recursive: true });
  await Bun.write(join(options.folder, name, "bin/python"), "half");
  expect(await ensurePythonEnv(options)).toMatchObject({ ok: true, made: true });
  expect(await entries(options.folder)).toEqual([name]);
});

describe("where none can be had, the reason is the answer and nothing stays", () => {
  test("no Python", async () => {
    const options = optionsFor({ python: "python-of-nowhere" });
    expect(await ensurePythonEnv(options)).toMatchObject({ ok: false, reason: "no_python" });
  });

  test("a package that cannot be installed – and another list is never served by what is there", async () => {
    const { folder } = whole;
    const options = optionsFor({ folder, requirements: "./no-such-package-here\n" });
    const before = await entries(whole.folder);
    expect(await ensurePythonEnv(options)).toEqual({
      ok: false,
      reason: "install_failed",
      detail: expect.stringMatching(/^pip install: exit code 1: .*no-such-package-here/s),
    });
    expect(await entries(whole.folder)).toEqual(before);
  });

  test("a Python without venv", async () => {
    const python = join(scratch, "no-venv");
    await Bun.write(
      python,
      `#!/bin/sh\n[ "$1" = -c ] && echo '["${python}", 3, 11]' && exit\necho 'No module named venv' >&2\nexit 1\n`,
    );
    await chmod(python, 0o755);
    const options = optionsFor({ python });
    expect(await ensurePythonEnv(options)).toEqual({
      ok: false,
      reason: "venv_failed",
      detail: `${python} -m venv: exit code 1: No module named venv; on Debian and Ubuntu the package python3-venv is needed`,
    });
    expect(await entries(options.folder)).toEqual([]);
  });

  test("a builder that takes too long is ended", async () => {
    const python = join(scratch, "slow");
    await Bun.write(
      python,
      `#!/bin/sh\n[ "$1" = -c ] && echo '["${python}", 3, 11]' && exit\nsleep 600\n`,
    );
    await chmod(python, 0o755);
    expect(await ensurePythonEnv(optionsFor({ python, timeoutSeconds: 0.2 }))).toMatchObject({
      ok: false,
      reason: "venv_failed",
      detail: expect.stringContaining("took too long"),
    });
  });

  test("a folder that is none", async () => {
    const folder = join(scratch, "a-file");
    await Bun.write(folder, "");
    expect(await ensurePythonEnv(optionsFor({ folder }))).toMatchObject({
      ok: false,
      reason: "folder_failed",
    });
  });
});

test("the judge's own list pins every release", async () => {
  const list = await Bun.file(new URL("../../python/requirements.txt", import.meta.url)).text();
  const packages = list.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  expect(packages).toHaveLength(5);
  for (const line of packages) expect(line).toMatch(/^[\w-]+==[\d.]+$/);
});
