/** What the packages promise to those who install them, and what the checkout promises to itself. */
import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../workspace.ts";
import { readBlocks } from "../readme-blocks.ts";
import { manifest, read, trackedFiles, workspaceFolders } from "./sources.ts";

/** Names that others import. Taking one away, or pointing it elsewhere, is a decision. */
const EXPORTS: Readonly<Record<string, unknown>> = {
  "@interlace/core": { ".": "./src/index.ts" },
  "@interlace/graders": { ".": "./src/index.ts" },
  "@interlace/sampler-clients": { ".": "./src/index.ts", "./testing": "./src/testing/index.ts" },
  "@interlace/sandbox": { ".": "./src/index.ts" },
  "@interlace/train-bridge": { ".": "./src/index.ts" },
  "@interlace/cli": { ".": "./src/main.ts" },
};

const folders = [".", ...workspaceFolders];
const pin = /^bun@(\d+\.\d+\.\d+)$/.exec(manifest(".").packageManager ?? "")?.[1] ?? "";

test("every package is exported as it was promised, and the promised files exist", () => {
  const seen = Object.fromEntries(
    workspaceFolders.map((folder) => [manifest(folder).name, manifest(folder).exports]),
  );
  expect(seen).toEqual(EXPORTS);
  const targets = workspaceFolders.flatMap((folder) =>
    Object.values(manifest(folder).exports ?? {}).map((target) => join(folder, String(target))),
  );
  expect(targets.filter((target) => !existsSync(join(ROOT, target)))).toEqual([]);
});

describe.each(folders)("%s/package.json", (folder) => {
  const own = manifest(folder);

  test("is an ES module under the licence of the whole", () => {
    expect({ license: own.license, type: own.type }).toEqual({
      license: "Apache-2.0",
      type: "module",
    });
  });

  test("pins every dependency to one release", () => {
    const { dependencies, devDependencies, optionalDependencies, peerDependencies } = own;
    const all = {
      ...dependencies,
      ...devDependencies,
      ...optionalDependencies,
      ...peerDependencies,
    };
    const loose = Object.entries(all).filter(
      ([, version]) => version !== "workspace:*" && !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version),
    );
    expect(loose).toEqual([]);
  });
});

test("Python requirements name one release each, and the same one everywhere", () => {
  const files = trackedFiles.filter((path) => /(^|\/)requirements[\w-]*\.txt$/.test(path));
  const lines = files.flatMap((path) =>
    read(path)
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"))
      .map((line) => ({ path, line })),
  );
  expect(lines.filter(({ line }) => !/^[\w-]+==[\w.]+$/.test(line))).toEqual([]);
  const releases = new Map<string, Set<string>>();
  for (const { line } of lines) {
    const [name = "", release = ""] = line.toLowerCase().replaceAll("_", "-").split("==");
    releases.set(name, (releases.get(name) ?? new Set()).add(release));
  }
  expect([...releases].filter(([, each]) => each.size > 1)).toEqual([]);
});

test("every script starts what is there", () => {
  const wrong = Object.entries(manifest(".").scripts ?? {}).filter(([, script]) => {
    const [program, ...paths] = script
      .split(" ")
      .filter((word, i) => i > 0 && !/^[a-z]+$/.test(word));
    return [program, ...paths].some((path) => path === undefined || !existsSync(join(ROOT, path)));
  });
  expect(wrong).toEqual([]);
});

test("one Bun is named everywhere", () => {
  expect(pin).not.toBe("");
  const named = trackedFiles
    .filter((path) => /\.(md|json|yml|yaml)$|^\.ci\//.test(path) && !path.includes("/assets/"))
    .flatMap((path) =>
      [...read(path).matchAll(/\bbun@(\d[\w.-]*)/g)].map(([, seen]) => ({ path, seen })),
    );
  expect(named.filter(({ seen }) => seen !== pin)).toEqual([]);
  expect(named.some(({ path }) => path === ".ci/run")).toBe(true);
});

test("CI runs the README's test command and nothing else", () => {
  const command = `npx -y bun@${pin} run test`;
  const steps = read(".ci/run")
    .split("\n")
    .filter((line) => line !== "" && !/^(#|set |cd )/.test(line));
  expect(steps).toEqual([`exec ${command} </dev/null`]);
  expect(read("README.md")).toContain(`\n${command}`);
});

describe.each(workspaceFolders.filter((folder) => folder.startsWith("packages/")))(
  "%s",
  (folder) => {
    test("has a README with a block that is run", () => {
      const blocks = readBlocks(read(join(folder, "README.md")));
      const run = blocks.filter(({ language, fate }) => language === "ts" && fate.kind === "run");
      expect(run.length).toBeGreaterThan(0);
      expect(run.some(({ code }) => code.includes(`"${manifest(folder).name}`))).toBe(true);
    });

    test("has tests", () => {
      const own = trackedFiles.filter((path) => path.startsWith(`${folder}/test/`));
      expect(own.some((path) => path.endsWith(".test.ts"))).toBe(true);
    });
  },
);
