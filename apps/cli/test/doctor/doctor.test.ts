/** `interlace doctor` as a person runs it: what is fine, what is not, and what to do about it. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NO_TOKENS, type Group, type Member, type Turn } from "@interlace/core";
import { embeddedPolicyFolder } from "@interlace/sampler-clients";
import { createFakeVllm, serveFake } from "@interlace/sampler-clients/testing";
import { judge } from "../../src/doctor/check-policy.ts";
import { reporterFor, type Finding } from "../../src/doctor/finding.ts";
import { newFolder, runCli } from "../support/cli.ts";

// Spawned processes share two cores with everything else.
setDefaultTimeout(120_000);

type Report = {
  readonly code: number;
  readonly ok: boolean;
  readonly findings: readonly Finding[];
};

async function doctor(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Report> {
  const cwd = newFolder();
  const { code, stdout, stderr } = await runCli(["doctor", "--json", ...args], cwd, env);
  if (stdout === "") throw new Error(stderr);
  expect(readdirSync(cwd)).toEqual([]);
  return { code, ...(JSON.parse(stdout) as { ok: boolean; findings: readonly Finding[] }) };
}

function find({ findings }: Report, area: string, name: string): Finding {
  const found = findings.find((finding) => finding.area === area && finding.name === name);
  if (found === undefined) throw new Error(`No finding ${area}, ${name}`);
  return found;
}

test("without arguments: machine, sandbox and the tokenizer in the box; nothing is written", async () => {
  const { code, stdout } = await runCli(["doctor"], newFolder());
  expect(code).toBe(0);
  expect(stdout).toMatch(/^machine\n[^]*\nsandbox\n[^]*\ntokenizer\n[^]*\nNothing is broken\n$/);
  expect(stdout).toMatch(/ok +runs code +.*6 \* 7 printed 42/);
});

test("--policy: the policy in the box is ready", async () => {
  const report = await doctor(["--policy"]);
  expect(report).toMatchObject({ code: 0, ok: true });
  expect(find(report, "policy", "trajectories").seen).toBe("16, none lost");
  expect(find(report, "policy", "signal").state).toBe("ok");
});

test("no Python: broken, with the way to get one", async () => {
  const report = await doctor([], { PATH: "/nonexistent" });
  expect(report).toMatchObject({ code: 1, ok: false });
  expect(find(report, "machine", "python")).toMatchObject({
    state: "broken",
    fix: "install Python 3.11 or later, or name one: sandbox.python",
  });
});

describe("a server", () => {
  const tokenizer = ["--tokenizer", embeddedPolicyFolder];

  test("that nobody runs is told at once", async () => {
    const report = await doctor(["--sampler", "vllm", "--url", "http://127.0.0.1:9", ...tokenizer]);
    expect(report.code).toBe(1);
    expect(find(report, "server", "reachable")).toMatchObject({
      state: "broken",
      fix: expect.stringContaining("start the vllm server"),
    });
  });

  test("that works shows its handshake; one whose context is too short, the fix", async () => {
    const fake = await createFakeVllm();
    await using served = await serveFake(fake.app);
    const server = ["--sampler", "vllm", "--url", served.url, ...tokenizer];
    const good = await doctor([...server, "--preset", "embedded", "--require", "none"]);
    expect(good).toMatchObject({ code: 0 });
    expect(find(good, "server", "logprobs").seen).toContain("raw");
    expect(find(good, "server", "seeds").seen).toBe("honoured");
    const long = await doctor([...server, "--preset", "retool-small", "--require", "none"]);
    expect(find(long, "server", "context")).toMatchObject({
      state: "broken",
      fix: "lower max_trajectory_tokens or give the server a longer context",
    });
  });
});

test("a template that loses tool results is broken", async () => {
  const folder = newFolder();
  cpSync(embeddedPolicyFolder, folder, { recursive: true });
  const path = join(folder, "tokenizer_config.json");
  const config = JSON.parse(readFileSync(path, "utf8")) as Record<string, unknown>;
  const template = "{% for m in messages if m.role != 'tool' %}{{ m.content }}\n{% endfor %}";
  writeFileSync(path, JSON.stringify({ ...config, chat_template: template }));
  const report = await doctor(["--tokenizer", folder]);
  expect(report.code).toBe(1);
  expect(find(report, "tokenizer", "tool results")).toMatchObject({
    state: "broken",
    fix: "use a template that writes tool messages",
  });
});

describe("the verdict on a policy", () => {
  const turn: Turn = {
    promptLength: 1,
    length: 1,
    finish: "stop",
    seed: 0,
    versions: [],
    parsed: "answer",
    invalidCause: null,
    opensCall: false,
    textMismatch: false,
  };
  const member = (index: number, isRight: boolean, turns: readonly Turn[]): Member => ({
    index,
    tokens: NO_TOKENS,
    turns,
    toolCalls: [],
    codeCalls: 0,
    phase: {
      type: "graded",
      termination: "answer",
      grade: { kind: isRight ? "equal" : "different", answer: "1", by: "made up" },
    },
    failure: null,
  });
  const problem = { id: "p", question: "?", answer: "1", dataSource: "made up" };
  const verdict = (groups: readonly (readonly Member[])[]): readonly Finding[] => {
    const findings: Finding[] = [];
    const made = groups.map((members, question): Group => ({ question, problem, members }));
    judge(made, reporterFor("policy", findings));
    return findings;
  };

  test("one that never calls, and answers all right: show it how, choose harder problems", () => {
    const seen = verdict([[member(0, true, [turn]), member(1, true, [turn])]]);
    expect(seen.map(({ name, state, fix }) => [name, state, fix?.slice(0, 24)])).toEqual([
      ["trajectories", "ok", undefined],
      ["calls", "note", "show it how: fine-tune o"],
      ["answers", "ok", undefined],
      ["signal", "note", "choose harder problems: "],
    ]);
  });

  test("one whose calls are cut: named with the cause", () => {
    const cut: Turn = {
      ...turn,
      opensCall: true,
      parsed: "invalid",
      invalidCause: "unclosed_call",
    };
    const seen = verdict([[member(0, true, [cut]), member(1, false, [cut])]]);
    expect(seen.find(({ name }) => name === "valid calls")).toMatchObject({
      state: "note",
      seen: "0% of the calls are well formed, unclosed_call for one",
    });
    expect(seen.find(({ name }) => name === "signal")?.state).toBe("ok");
  });
});
