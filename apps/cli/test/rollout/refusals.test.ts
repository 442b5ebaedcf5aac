/** What cannot work is refused in one clear message, before any work, and leaves nothing behind. */
import { afterAll, beforeAll, describe, expect, test, setDefaultTimeout } from "bun:test";
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { embeddedPolicyFolder } from "@interlace/sampler-clients";
import { newFolder, runCli } from "../support/cli.ts";

// Spawned processes share two cores with everything else.
setDefaultTimeout(120_000);

let folder = "";
beforeAll(() => {
  folder = newFolder();
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs in an empty folder, expects nothing to appear in it, and returns what was said. */
async function refusal(
  code: number,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const cwd = join(folder, crypto.randomUUID());
  mkdirSync(cwd);
  const ended = await runCli(args, cwd, env);
  expect(ended).toMatchObject({ code, stdout: "" });
  expect(readdirSync(cwd)).toEqual([]);
  expect(ended.stderr).not.toMatch(/^ +at /m);
  return ended.stderr;
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** The policy's folder with one file replaced. */
function policyWith(name: string, change: (text: string) => string): string {
  const copy = join(folder, crypto.randomUUID());
  cpSync(embeddedPolicyFolder, copy, { recursive: true });
  const path = join(copy, name);
  const text = new TextDecoder().decode(Bun.mmap(path));
  writeFileSync(path, change(text));
  return copy;
}

describe("configuration", () => {
  test("a bad value", async () => {
    expect(await refusal(2, ["rollout", "--group-size", "0"])).toBe(
      "interlace: rollout.group_size (trajectories per problem) is 0, from --group-size: expected an integer of at least 1\n",
    );
  });

  test("an unknown key of the file", async () => {
    const path = file("bad.toml", "[rollout]\ngroup_sizes = 3\n");
    expect(await refusal(2, ["rollout", "--config", path])).toBe(
      `interlace: Unknown setting rollout.group_sizes in ${path}: the nearest is rollout.group_size\n`,
    );
  });

  test("an unknown flag and an unknown command", async () => {
    expect(await refusal(2, ["rollout", "--grup-size", "3"])).toBe(
      "interlace: Unknown flag --grup-size; the nearest is --group-size\n",
    );
    expect(await refusal(2, ["rolout"])).toContain("Unknown command rolout");
  });

  test("more tokens than the model's context holds", async () => {
    const stderr = await refusal(2, ["rollout"], {
      INTERLACE_ROLLOUT_MAX_TRAJECTORY_TOKENS: "513",
    });
    expect(stderr).toContain("rollout.max_trajectory_tokens is 513");
    expect(stderr).toContain("context holds 512 tokens");
  });

  test("a first prompt that leaves no token, where that shall stop everything", async () => {
    const long = "Add up all of them: ".repeat(60);
    const path = file(
      "long.jsonl",
      `{"id":"short","question":"1+1?","answer":"2"}\n{"id":"long","question":"${long}","answer":"3"}\n`,
    );
    const stderr = await refusal(2, ["rollout", "--data", path], {
      INTERLACE_RUN_OVER_LONG_PROMPTS: "refuse",
    });
    expect(stderr).toContain(
      "1 of 2 first prompts leave no token of rollout.max_trajectory_tokens = 512 (problem long: ",
    );
  });

  test("two numbers for rollout and learner", async () => {
    const stderr = await refusal(2, ["rollout"], { INTERLACE_LEARNER_MAX_CONTEXT_TOKENS: "400" });
    expect(stderr).toContain("make them one number");
  });

  test("a server without its address, its tokenizer, or anyone listening", async () => {
    const tokenizer = ["--tokenizer", embeddedPolicyFolder];
    expect(await refusal(2, ["rollout", "--sampler", "vllm"])).toContain("--tokenizer");
    expect(await refusal(2, ["rollout", "--sampler", "vllm", ...tokenizer])).toContain("--url");
    const dead = ["--sampler", "vllm", "--url", "http://127.0.0.1:9", ...tokenizer];
    const stderr = await refusal(1, ["rollout", ...dead], {
      INTERLACE_SAMPLER_RETRY_ATTEMPTS: "1",
      INTERLACE_SANDBOX_REQUIRE: "none",
    });
    expect(stderr).toContain("http://127.0.0.1:9 cannot be used: reachable");
  });
});

describe("data", () => {
  test("every bad line is named with file, number and reason", async () => {
    const path = file("bad.jsonl", '{"question":"1+1?","answer":"2"}\n\n{"question":"?"}\n{oops\n');
    const lines = (await refusal(2, ["rollout", "--data", path])).trimEnd().split("\n");
    expect(lines).toHaveLength(2);
    expect(lines[0]).toBe(`interlace: ${path}, line 3: Expected an answer in answer, got nothing`);
    expect(lines[1]).toStartWith(`${path}, line 4: Expected one JSON value, got "{oops"`);
  });

  test("an empty file, a missing file, a format that is none", async () => {
    const empty = file("empty.jsonl", "\n");
    expect(await refusal(2, ["rollout", "--data", empty])).toContain("holds no problem");
    expect(await refusal(2, ["rollout", "--data", "nope.jsonl"])).toContain("does not exist");
    const other = file("data.xml", "<a/>");
    expect(await refusal(2, ["rollout", "--data", other])).toContain(
      "ends in .xml: expected .jsonl",
    );
    const garbage = file("data.parquet", "not parquet at all");
    expect(await refusal(2, ["rollout", "--data", garbage])).toContain(`Cannot read ${garbage}`);
  });

  test("columns that nobody knows", async () => {
    const path = file("other.jsonl", '{"q":"1+1?","a":"2"}\n');
    expect(await refusal(2, ["rollout", "--data", path])).toContain("name the columns");
    expect(
      await refusal(2, ["rollout", "--data", path, "--columns", "questoin=q,answer=a"]),
    ).toContain("the nearest is question");
  });
});

describe("language", () => {
  test("an unreadable tokenizer", async () => {
    const broken = policyWith("tokenizer.json", (text) => text.slice(0, 100));
    const stderr = await refusal(2, ["rollout", "--tokenizer", broken]);
    expect(stderr).toContain(`Cannot read ${join(broken, "tokenizer.json")}`);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  test("a template that cannot be continued", async () => {
    const silent = policyWith("tokenizer_config.json", (text) => {
      const config = JSON.parse(text) as Record<string, unknown>;
      const template = "{% for m in messages if m.role != 'tool' %}{{ m.content }}\n{% endfor %}";
      return JSON.stringify({ ...config, chat_template: template });
    });
    const stderr = await refusal(2, ["rollout", "--tokenizer", silent]);
    expect(stderr).toContain("cannot be continued");
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });
});

describe("machine", () => {
  test("no Python: what it is for and how to get it, in one line", async () => {
    const stderr = await refusal(1, ["rollout"], { PATH: "/nonexistent" });
    expect(stderr).toContain("to run the model's code");
    expect(stderr).toContain("install");
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  test("less isolation than required", async () => {
    const stderr = await refusal(1, ["rollout"], {
      INTERLACE_SANDBOX_REQUIRE: "strict",
      INTERLACE_SANDBOX_BACKEND: "process",
    });
    expect(stderr).toContain('Expected isolation "strict"');
  });

  test("a folder that cannot be made", async () => {
    const stderr = await refusal(1, ["rollout", "--out", "/dev/null/runs"]);
    expect(stderr).toContain("Cannot make /dev/null/runs");
    expect(stderr.trimEnd().split("\n").at(-1)).toStartWith("interlace: ");
  });

  test("a run that is not there", async () => {
    expect(await refusal(2, ["rollout", "--resume", "nothing"])).toContain("There is no run at");
    expect(await refusal(2, ["rollout", "--retry-failed"])).toContain("--resume");
  });
});

test("with --json an error is JSON too, and --debug shows where it came from", async () => {
  const cwd = newFolder();
  const args = ["rollout", "--group-size", "0", "--json", "--debug"];
  const { code, stdout, stderr } = await runCli(args, cwd);
  expect(code).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({ error: { exit_code: 2 } });
  expect(stderr).toMatch(/^ +at /m);
  rmSync(cwd, { recursive: true });
});
