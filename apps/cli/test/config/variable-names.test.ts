/** A key that was put where its variable's name belongs is refused, and shown nowhere: no message, log or file has it. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { settingsCatalogue } from "../../src/config/catalogue.ts";
import { readKey } from "../../src/config/read-key.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { markOf } from "../../src/config/showing.ts";
import { newFolder, onlyRun, runCli, type Ended } from "../support/cli.ts";

// Spawned processes share two cores with everything else.
setDefaultTimeout(120_000);

const SETTINGS = ["sampler.api_key_env", "sandbox.token_env", "grading.judge.api_key_env"];
/** No name at all; and one that could be, as many keys are. */
const KEY = "sk-verysecret-123";
const KEY_LIKE_A_NAME = "hf_verysecret123";

const variableOf = (name: string): string => `INTERLACE_${name.replaceAll(".", "_").toUpperCase()}`;

function toml(folder: string, name: string, written: string): string {
  const file = join(folder, `${crypto.randomUUID()}.toml`);
  const at = name.lastIndexOf(".");
  writeFileSync(file, `[${name.slice(0, at)}]\n${name.slice(at + 1)} = ${written}\n`);
  return file;
}

function expectUnsaid({ stdout, stderr }: Ended): void {
  expect(`${stdout}${stderr}`).not.toContain("verysecret");
}

test("every setting that ends in _env is marked, and so are headers", () => {
  const settings = [...settingsCatalogue().values()];
  const marked = settings.filter(({ schema }) => markOf(schema) === "variable_name");
  expect(marked.map(({ name }) => name)).toEqual(SETTINGS);
  expect(settings.map(({ name }) => name).filter((name) => name.endsWith("_env"))).toEqual(
    SETTINGS,
  );
  expect(markOf(settingsCatalogue().get("sampler.headers")!.schema)).toBe("secret");
});

test("a mark inside a list marks the list", () => {
  expect(markOf({ type: "array", items: { type: "string", holds: "secret" } })).toBe("secret");
});

describe.each(SETTINGS)("%s", (name) => {
  test("refuses what is no name, wherever it is written, and does not repeat it", async () => {
    const folder = newFolder();
    const file = toml(folder, name, `"${KEY}"`);
    for (const command of [["rollout"], ["rollout", "--json"], ["rollout", "--print-config"]]) {
      const byFile = await runCli([...command, "--config", file], folder);
      const byVariable = await runCli(command, folder, { [variableOf(name)]: KEY });
      for (const ended of [byFile, byVariable]) {
        expect(ended.code).toBe(2);
        expect(ended.stderr).toStartWith(`interlace: ${name} (`);
        expect(ended.stderr).toEndWith(
          ": expected the NAME of an environment variable (like VLLM_API_KEY) or null\n",
        );
        expectUnsaid(ended);
      }
      expect(byFile.stderr).toContain(`is (not shown, in case it is a key), from ${file}`);
    }
    expect(existsSync(join(folder, "runs"))).toBe(false);
  });

  test.each(["list", "table", "unquoted", "unquoted list"] as const)(
    "as a %s in TOML",
    async (shape) => {
      const written = {
        list: `["${KEY}"]`,
        table: `{ key = "${KEY}" }`,
        unquoted: KEY,
        "unquoted list": `[${KEY}]`,
      }[shape];
      const folder = newFolder();
      const file = toml(folder, name, written);
      const ended = await runCli(["rollout", "--debug", "--config", file], folder);
      expect(ended.code).toBe(2);
      expectUnsaid(ended);
      if (shape === "unquoted") {
        const column = (name.split(".").at(-1) ?? "").length + " = ".length + 1;
        expect(ended.stderr).toContain(
          `${file} is not valid TOML: line 2, column ${column}: invalid value; a text must be in quotes\n`,
        );
      }
    },
  );
});

test("what could be a key stands neither in --print-config nor in run.json", async () => {
  const folder = newFolder();
  const all = (text: string) =>
    Object.fromEntries(SETTINGS.map((name) => [variableOf(name), text]));
  const env = all(KEY_LIKE_A_NAME);
  const printed = await runCli(["rollout", "--print-config"], folder, env);
  expect(printed.code).toBe(0);
  expect(printed.stdout.match(/_env is set \(not shown, in case it is a key\)/g)).toHaveLength(3);
  expectUnsaid(printed);
  expectUnsaid(await runCli(["rollout", "--print-config", "--json"], folder, env));
  const size = ["--problems", "1", "--group-size", "1", "--json"];
  const rolled = await runCli(["rollout", ...size], folder, env);
  expect(rolled.code).toBe(0);
  expectUnsaid(rolled);
  const run = onlyRun(join(folder, "runs"));
  for (const file of readdirSync(run, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue;
    expect(readFileSync(join(file.parentPath, file.name), "latin1")).not.toContain("verysecret");
  }
  // A name beyond doubt is kept, so that a resumed run knows it.
  const set = { ...all("my_key"), my_key: "verysecret" };
  const named = await runCli(["rollout", ...size, "--out", "named"], folder, set);
  expect(named.code).toBe(0);
  expectUnsaid(named);
  const record = JSON.parse(
    readFileSync(join(onlyRun(join(folder, "named")), "run.json"), "utf8"),
  ) as { readonly config: Readonly<Record<string, unknown>> };
  expect(SETTINGS.map((name) => record.config[name])).toEqual(["my_key", "my_key", "my_key"]);
});

test("where a key is needed, the variable is named when it is one beyond doubt", async () => {
  const said = (text: string): string => {
    try {
      return readKey("sandbox.token_env", text, {});
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(said("TEAM_KEY")).toBe(
    "sandbox.token_env is TEAM_KEY, which is not set: put the key there",
  );
  for (const text of [KEY, KEY_LIKE_A_NAME, "AKIAVERYSECRETVERYSECRET"]) {
    expect(said(text)).toStartWith("sandbox.token_env: ");
    expect(said(text)).not.toContain(text);
  }
  const judge = { INTERLACE_GRADING_GRADER: "judge", INTERLACE_GRADING_JUDGE_MODEL: "m" };
  const remote = { INTERLACE_SANDBOX_BACKEND: "remote", INTERLACE_SANDBOX_URL: "http://a:9" };
  const cases = [
    ["sandbox.token_env", remote],
    ["grading.judge.api_key_env", { ...judge, INTERLACE_GRADING_JUDGE_URL: "http://a:9" }],
  ] as const;
  for (const [name, env] of cases) {
    const given = { ...env, [variableOf(name)]: KEY_LIKE_A_NAME };
    const ended = await runCli(["rollout", "--debug"], newFolder(), given);
    expect(ended.stderr).toContain(`${name}: the environment variable that it names is not set`);
    expectUnsaid(ended);
  }
});

test("serve sandbox --token-env takes a name, and repeats nothing else", async () => {
  const folder = newFolder();
  const serve = (...values: readonly string[]) =>
    runCli(["serve", "sandbox", ...values.flatMap((value) => ["--token-env", value])], folder);
  const named = await serve("SANDBOX_TOKEN");
  expect(named.stderr).toContain("--token-env is SANDBOX_TOKEN, which is not set");
  for (const values of [[KEY], [KEY_LIKE_A_NAME], [KEY, KEY]]) {
    const ended = await serve(...values);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toStartWith("interlace: ");
    expectUnsaid(ended);
  }
});

test("headers may hold a key: they are not printed and not quoted", async () => {
  const folder = newFolder();
  const env = { INTERLACE_SAMPLER_HEADERS: '{"authorization":"Bearer verysecret"}' };
  const printed = await runCli(["rollout", "--print-config"], folder, env);
  expect(printed.stdout).toContain("# headers is set (not shown, in case it is a key)");
  expectUnsaid(printed);
  const torn = { INTERLACE_SAMPLER_HEADERS: '{"authorization":"Bearer verysecret' };
  const refused = await runCli(["rollout"], folder, torn);
  expect(refused.code).toBe(2);
  expectUnsaid(refused);
});

test.each(["VLLM_API_KEY", "_k1", "lower_case"])("%s is a name", async (text) => {
  const flags = SETTINGS.map((name) => [name, "a flag", text] as const);
  const resolved = await resolveConfig({ flags, env: {}, file: undefined, preset: undefined });
  expect(resolved.config.sampler.apiKeyEnv).toBe(text);
  expect(resolved.config.sandbox.tokenEnv).toBe(text);
  expect(resolved.config.grading.judge.apiKeyEnv).toBe(text);
});
