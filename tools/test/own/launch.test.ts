/** The launcher, in a small checkout of its own whose command tells what reached it. */
import { afterAll, expect, test } from "bun:test";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../workspace.ts";

/** Says what it was given, then each signal that reaches it, until it is asked to end. */
const COMMAND = `
  const { BUN_CONFIG_MAX_HTTP_REQUESTS: http } = process.env;
  const args = process.argv.slice(2);
  process.on("SIGINT", () => console.log("SIGINT"));
  process.on("SIGTERM", () => { console.log("SIGTERM"); process.exit(3); });
  console.log(JSON.stringify({ args, http }));
  if (args.includes("wait")) setInterval(() => {}, 1000);
  else process.exit(7);
`;

const checkout = mkdtempSync(join(tmpdir(), "inter lace "));
afterAll(() => rmSync(checkout, { recursive: true }));

for (const folder of ["tools", "apps/cli/src", "packages/core"]) {
  mkdirSync(join(checkout, folder), { recursive: true });
}
for (const file of ["launch.ts", "workspace.ts"]) {
  cpSync(join(ROOT, "tools", file), join(checkout, "tools", file));
}
write("package.json", {
  name: "small",
  packageManager: "bun@1.0.0",
  workspaces: ["packages/*", "apps/*"],
  scripts: { rollout: "bun tools/launch.ts rollout" },
});
write("packages/core/package.json", { name: "core", version: "0.1.0" });
write("apps/cli/package.json", { name: "cli", dependencies: { core: "workspace:*" } });
writeFileSync(join(checkout, "apps/cli/src/main.ts"), COMMAND);
expect(Bun.spawnSync([process.execPath, "install"], { cwd: checkout }).success).toBe(true);
rmSync(join(checkout, "node_modules"), { recursive: true });

const LAUNCH = [process.execPath, join(checkout, "tools/launch.ts")];

function write(path: string, content: object): void {
  writeFileSync(join(checkout, path), JSON.stringify(content));
}

test("arguments, the exit code and the HTTP limit go through", () => {
  const limited = { ...withoutLimit(), BUN_CONFIG_MAX_HTTP_REQUESTS: "9" };
  const first = launch(["a b", "--c"], withoutLimit());
  const second = launch([], limited);
  expect(first).toMatchObject({ code: 7, said: { args: ["a b", "--c"], http: "65535" } });
  expect(second).toMatchObject({ code: 7, said: { args: [], http: "9" } });
});

test("what is missing or outdated is installed, which is said once, on stderr", () => {
  launch([]);
  expect(launch([]).stderr).toBe("");
  for (const gone of ["node_modules", ".interlace"]) {
    rmSync(join(checkout, gone), { recursive: true });
    expect(launch([]).stderr).toBe("interlace: installing packages from bun.lock (once)\n");
    expect(launch([]).stderr).toBe("");
  }
  appendFileSync(join(checkout, "bun.lock"), "\n");
  expect(launch([]).stderr).toContain("installing");
  expect(existsSync(join(checkout, "node_modules"))).toBe(true);
});

test("without a terminal the command stands in the launcher's place: signals reach it once", async () => {
  // A session of its own has no terminal, whoever runs this test.
  const child = Bun.spawn([...LAUNCH, "wait"], { cwd: checkout, stdout: "pipe", detached: true });
  const heard = transcript();
  const reading = child.stdout.pipeTo(new WritableStream({ write: heard.add }));
  await heard.until("args");
  child.kill("SIGINT");
  await heard.until("SIGINT");
  child.kill("SIGTERM");
  expect(await child.exited).toBe(3);
  await reading;
  expect(heard.text().match(/SIG\w+/g)).toEqual(["SIGINT", "SIGTERM"]);
});

test("at a terminal Ctrl-C reaches the command once, though bun run passes on its own too", async () => {
  const heard = transcript();
  const child = Bun.spawn([process.execPath, "run", "rollout", "wait"], {
    cwd: checkout,
    terminal: { data: (_, data) => heard.add(data) },
  });
  await heard.until("args");
  child.terminal?.write("\u0003");
  await heard.until("SIGINT");
  // Passed on after the Ctrl-C by the same processes: what they made of that has arrived before.
  child.kill("SIGTERM");
  await child.exited;
  await heard.until("SIGTERM");
  expect(heard.text().match(/SIG\w+/g)).toEqual(["SIGINT", "SIGTERM"]);
});

type Launched = { readonly code: number; readonly said: unknown; readonly stderr: string };

function launch(args: readonly string[], env: Env = process.env): Launched {
  const done = Bun.spawnSync([...LAUNCH, ...args], { cwd: checkout, env, stderr: "pipe" });
  const said: unknown = JSON.parse(done.stdout.toString());
  return { code: done.exitCode, said, stderr: done.stderr.toString() };
}

type Env = Readonly<Record<string, string | undefined>>;

function withoutLimit(): Env {
  return { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: undefined };
}

type Transcript = {
  readonly add: (bytes: Uint8Array) => void;
  readonly text: () => string;
  /** Resolves when the text holds `part`. */
  readonly until: (part: string) => Promise<void>;
};

function transcript(): Transcript {
  let text = "";
  let news = Promise.withResolvers<void>();
  return {
    add(bytes) {
      text += new TextDecoder().decode(bytes);
      news.resolve();
      news = Promise.withResolvers();
    },
    text: () => text,
    async until(part) {
      while (!text.includes(part)) await news.promise;
    },
  };
}
