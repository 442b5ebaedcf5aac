import { describe, expect, test } from "bun:test";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomic, writeJson } from "../../src/index.ts";
import { writeAll } from "../../src/write-atomic.ts";
import { temporaryFolder } from "../support/temporary.ts";

const BYTES = new TextEncoder().encode("whole");

async function* failing(): AsyncGenerator<readonly Uint8Array[]> {
  yield [BYTES];
  await Promise.resolve();
  throw new Error("no more");
}

function failureOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "no failure",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

describe("a file is whole or not there", () => {
  test("pieces become one file, nothing else stays in the folder", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "a.arrow");
    // More pieces than one system call takes.
    const many = Array.from({ length: 3000 }, (_, i) => Uint8Array.of(i & 255));
    expect(await writeAtomic(path, [[BYTES, new Uint8Array(0)], many])).toBe(3005);
    const written = await Bun.file(path).bytes();
    expect([...written]).toEqual([...BYTES, ...many.map((piece) => piece[0] ?? -1)]);
    expect(await readdir(folder.path)).toEqual(["a.arrow"]);
  });

  test("a call that takes fewer bytes than it was given is followed by others", async () => {
    const written: number[] = [];
    // Takes at most 3 bytes a call, as a signal or a full pipe makes a system do.
    const writev = (pieces: readonly Uint8Array[]) => {
      const taken = pieces.flatMap((piece) => [...piece]).slice(0, 3);
      written.push(...taken);
      return Promise.resolve({ bytesWritten: taken.length });
    };
    const pieces = [[1, 2], [], [3, 4, 5, 6, 7, 8, 9], [10]].map((piece) => Uint8Array.from(piece));
    expect(await writeAll({ writev }, pieces)).toBe(10);
    expect(written).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  test("a JSON value is one line, or indented, with a line break behind it", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "a.json");
    expect(await writeJson(path, { é: [1] })).toBe(Buffer.byteLength('{"é":[1]}\n'));
    expect(await Bun.file(path).text()).toBe('{"é":[1]}\n');
    await writeJson(path, { a: 1 }, 2);
    expect(await Bun.file(path).text()).toBe('{\n  "a": 1\n}\n');
  });

  test("no call is given more than a megabyte", async () => {
    const given: number[] = [];
    const writev = (pieces: readonly Uint8Array[]) => {
      const bytesWritten = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
      given.push(bytesWritten);
      return Promise.resolve({ bytesWritten });
    };
    const sizes = [100, 2 ** 20, 2.5 * 2 ** 20, 7];
    const pieces = sizes.map((size) => new Uint8Array(size));
    expect(await writeAll({ writev }, pieces)).toBe(3.5 * 2 ** 20 + 107);
    expect(given).toEqual([2 ** 20, 2 ** 20, 2 ** 20, 2 ** 19 + 107]);
  });

  test("an error in the middle leaves what was there before", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "a.arrow");
    await writeAtomic(path, [[BYTES]]);
    expect(await failureOf(writeAtomic(path, failing()))).toBe("no more");
    expect(await failureOf(writeAtomic(join(folder.path, "b.arrow"), failing()))).toBe("no more");
    expect(await Bun.file(path).text()).toBe("whole");
    expect(await readdir(folder.path)).toEqual(["a.arrow"]);
  });

  test("a missing folder is told", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "none", "a.arrow");
    expect(await failureOf(writeAtomic(path, [[BYTES]]))).toBe(
      `Could not write ${path}: the folder does not exist; make it first (ENOENT)`,
    );
  });

  test("two writers of one path: one of the two files, whole", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "a.arrow");
    const [one, two] = [new Uint8Array(100_000).fill(1), new Uint8Array(90_000).fill(2)];
    await Promise.all([writeAtomic(path, [[one]]), writeAtomic(path, [[two]])]);
    const written = await Bun.file(path).bytes();
    expect(written.length === one.length ? one : two).toEqual(written);
    expect(await readdir(folder.path)).toEqual(["a.arrow"]);
  });
});

/** In a child of its own: writes one part, says so, and waits for the rest for ever. */
const HALF = `
import { writeAtomic } from ${JSON.stringify(join(import.meta.dir, "../../src/index.ts"))};
async function* half() {
  yield [new Uint8Array(100_000).fill(9)];
  console.log("half");
  await new Promise((resolve) => setTimeout(resolve, 2 ** 30));
}
await writeAtomic(process.argv.at(-1), half());`;

test("a process that is killed in the middle leaves the old file, and none of the name where there was none", async () => {
  await using folder = await temporaryFolder();
  const old = join(folder.path, "old.arrow");
  const fresh = join(folder.path, "fresh.arrow");
  await writeAtomic(old, [[BYTES]]);
  for (const path of [old, fresh]) {
    const child = Bun.spawn([process.execPath, "-e", HALF, path], { stdout: "pipe" });
    const { value } = await child.stdout.getReader().read();
    expect(new TextDecoder().decode(value)).toBe("half\n");
    child.kill("SIGKILL");
    await child.exited;
  }
  const names = await readdir(folder.path);
  expect(names.filter((name) => !name.startsWith("."))).toEqual(["old.arrow"]);
  // What is left behind is hidden and named for what it is.
  expect(names.filter((name) => /^\.(old|fresh)\.arrow\..*\.tmp$/.test(name)).length).toBe(2);
  expect(await Bun.file(old).text()).toBe("whole");
});

/** A file system of its own, gone with the child. False where this user may not mount. */
const MAY_MOUNT =
  Bun.spawnSync(["unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=64k tmpfs /mnt"])
    .exitCode === 0;

async function writeInMount(setUp: string, folder: string, bytes: number): Promise<string> {
  const script = `
import { readdirSync } from "node:fs";
import { writeAtomic } from ${JSON.stringify(join(import.meta.dir, "../../src/index.ts"))};
const [folder, size] = process.argv.slice(-2);
const result = await writeAtomic(folder + "/a.arrow", [[new Uint8Array(Number(size))]])
  .catch((error) => error.message);
console.log(String(result) + " | " + readdirSync(folder).join(" "));`;
  await mkdir(folder, { recursive: true });
  const child = Bun.spawn(
    [
      "unshare",
      "-rm",
      "sh",
      "-c",
      `${setUp} && exec "$@"`,
      "sh",
      process.execPath,
      "-e",
      script,
      folder,
      String(bytes),
    ],
    { stdout: "pipe", stderr: "inherit" },
  );
  return (await new Response(child.stdout).text()).trim();
}

describe.skipIf(!MAY_MOUNT)("a file system that will not", () => {
  test("a full disk is told, and nothing is left", async () => {
    await using folder = await temporaryFolder();
    const mount = join(folder.path, "small");
    const setUp = `mount -t tmpfs -o size=64k tmpfs ${mount}`;
    expect(await writeInMount(setUp, mount, 40_000)).toBe("40000 | a.arrow");
    expect(await writeInMount(setUp, mount, 400_000)).toBe(
      `Could not write ${mount}/a.arrow: the disk is full; free some space or choose another folder (ENOSPC) |`,
    );
  });

  test("a read-only folder is told", async () => {
    await using folder = await temporaryFolder();
    const mount = join(folder.path, "fixed");
    const setUp = `mount -t tmpfs -o ro tmpfs ${mount}`;
    expect(await writeInMount(setUp, mount, 10)).toBe(
      `Could not write ${mount}/a.arrow: the file system is read-only; choose another folder (EROFS) |`,
    );
  });
});
