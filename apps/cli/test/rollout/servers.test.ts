/** Whole rollouts against servers: each kind's fake over the policy in the box, on loopback, with and without faults. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { embeddedPolicyFolder } from "@interlace/sampler-clients";
import {
  createFakeLlamacpp,
  createFakeSglang,
  createFakeTgi,
  createFakeTinker,
  createFakeVllm,
  serveFake,
  type FakeServer,
} from "@interlace/sampler-clients/testing";
import { newFolder, onlyRun, runCli } from "../support/cli.ts";
import { readStep } from "../support/read-step.ts";

// Spawned processes share two cores with everything else.
setDefaultTimeout(120_000);

let folder = "";
beforeAll(() => {
  folder = newFolder();
});
afterAll(() => rmSync(folder, { recursive: true }));

const KINDS: Readonly<Record<string, () => Promise<FakeServer>>> = {
  vllm: () => createFakeVllm(),
  sglang: () => createFakeSglang(),
  llamacpp: () => createFakeLlamacpp(),
  tgi: () => createFakeTgi(),
  tinker: () => createFakeTinker(),
};

/** The embedded preset's budgets fit the policy, whoever serves it. */
function against(
  kind: string,
  url: string,
  out: string,
  tokenizer = embeddedPolicyFolder,
): readonly string[] {
  const server = ["--sampler", kind, "--url", url, "--tokenizer", tokenizer];
  const size = ["--problems", "3", "--group-size", "4", "--require", "none", "--out", out];
  return ["rollout", "--preset", "embedded", ...server, ...size];
}

describe.each(Object.entries(KINDS))("%s", (kind, open) => {
  test("a whole rollout: handshake, tool calls, files that verify", async () => {
    const fake = await open();
    await using served = await serveFake(fake.app);
    const out = join(folder, kind);
    const { code, stderr } = await runCli(against(kind, served.url, out), folder);
    expect(stderr).toContain(`sampler  ${kind}: `);
    expect(stderr).toContain(`server   ${served.url}`);
    expect(code).toBe(0);
    expect(fake.complaints).toEqual([]);

    const run = onlyRun(out);
    const { ledger, trajectories } = await readStep(run);
    expect(ledger.trajectories.total).toBe(12);
    const calls = trajectories.flatMap((row) => row["tool_calls"] as readonly unknown[]);
    expect(calls.length).toBeGreaterThan(0);
    const verified = await runCli(["verify", run], folder);
    expect(verified).toMatchObject({ code: 0 });
  });
});

describe("what cannot work", () => {
  /** Each begins while the others are on their way: the one that is told is the first of this order. */
  const BROKEN = {
    language: { tokenizer: "{", python: "/no/such/python", port: 9 },
    sandbox: { tokenizer: null, python: "/no/such/python", port: 9 },
    server: { tokenizer: null, python: null, port: 9 },
  } as const;
  const TOLD = {
    language: "Cannot read ",
    sandbox: "Cannot run the model's code: ",
    server: "http://127.0.0.1:9 cannot be used: reachable",
  } as const;

  for (const [name, { tokenizer, python, port }] of Object.entries(BROKEN)) {
    test(`without a ${name} that is what is told, alone, and nothing is left`, async () => {
      const cwd = join(folder, `no-${name}`);
      cpSync(embeddedPolicyFolder, cwd, { recursive: true });
      if (tokenizer !== null) writeFileSync(join(cwd, "tokenizer.json"), tokenizer);
      const before = readdirSync(cwd).toSorted();
      const args = against("vllm", `http://127.0.0.1:${port}`, "runs", cwd);
      const env = python === null ? {} : { INTERLACE_SANDBOX_PYTHON: python };
      const ended = await runCli(args, cwd, env);
      expect(ended).toMatchObject({ code: name === "language" ? 2 : 1, stdout: "" });
      expect(ended.stderr).toStartWith(`interlace: ${TOLD[name as keyof typeof TOLD]}`);
      expect(ended.stderr.trimEnd().split("\n")).toHaveLength(1);
      expect(readdirSync(cwd).toSorted()).toEqual(before);
    });
  }

  test("a tokenizer that cannot be used is told before the server samples anything", async () => {
    const fake = await createFakeVllm();
    await using served = await serveFake(fake.app);
    const cwd = join(folder, "other-language");
    cpSync(embeddedPolicyFolder, cwd, { recursive: true });
    writeFileSync(join(cwd, "tokenizer_config.json"), "{}");
    const args = against("vllm", served.url, "runs", cwd);
    const ended = await runCli(args, cwd);
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toContain("it has no chat template");
    // Who it is may have been asked, for which a request without anything to sample is sent.
    expect(fake.seen.filter(({ body }) => JSON.stringify(body) !== "{}")).toEqual([]);
  });
});

describe("faults", () => {
  /** Refuses later turns while `broken`; a 400 is never tried again. */
  const breakable = async () => {
    const state = { broken: true };
    const refused = { type: "status", status: 400, body: '{"error":{"message":"no"}}' } as const;
    const server = await createFakeVllm({
      faults: ({ body }) => (state.broken && isLaterTurn(body) ? refused : null),
    });
    return { state, server };
  };

  /** Probes of the handshake are short; a first request asks for the whole group. */
  function isLaterTurn(body: unknown): boolean {
    const { sampling_params: sampling, token_ids: ids = [] } = body as {
      readonly sampling_params?: { readonly n?: number; readonly max_tokens?: number };
      readonly token_ids?: readonly number[];
    };
    return sampling?.n === 1 && (sampling.max_tokens ?? 0) > 16 && ids.length > 80;
  }

  test("a failing request costs its trajectory, which is unscored, not wrong; siblings go on", async () => {
    const { server } = await breakable();
    await using served = await serveFake(server.app);
    const out = join(folder, "fault");
    const env = { INTERLACE_RUN_MAX_FAILED_FRACTION: "1" };
    const { code, stdout } = await runCli(against("vllm", served.url, out), folder, env);
    expect(code).toBe(0);
    expect(stdout).toMatch(/ends .*sampler_failed \d/);
    const { ledger, trajectories } = await readStep(onlyRun(out));
    const lost = trajectories.filter((row) => row["termination"] === "sampler_failed");
    expect(lost.length).toBeGreaterThan(0);
    expect(lost.length).toBeLessThan(12);
    for (const row of lost) expect(row).toMatchObject({ reward: null, advantage: null });
    const dropped = Object.entries(ledger.trajectories.dropped);
    const unscored = dropped.filter(([cause]) => cause.startsWith("unscored:sampler_failed:"));
    expect(unscored.reduce((sum, [, count]) => sum + count, 0)).toBe(lost.length);
  });

  test("a batch that lost too much fails, and --retry-failed makes it what it would have been", async () => {
    const { state, server } = await breakable();
    await using served = await serveFake(server.app);
    const out = join(folder, "retry");
    const env = { INTERLACE_RUN_MAX_FAILED_FRACTION: "0" };
    const failed = await runCli(against("vllm", served.url, out), folder, env);
    expect(failed).toMatchObject({ code: 1, stdout: "" });
    expect(failed.stderr).toContain("more than run.max_failed_fraction allows");
    expect(failed.stderr).toContain("--retry-failed");

    state.broken = false;
    const run = onlyRun(out);
    const retried = await runCli(["rollout", "--resume", run, "--retry-failed"], folder);
    expect(retried.stderr).toMatch(/asking \d+ answers? again/);
    expect(retried.code).toBe(0);
    const healthy = join(folder, "healthy");
    await runCli(against("vllm", served.url, healthy), folder);
    expect(await readStep(run)).toEqual(await readStep(onlyRun(healthy)));
  });
});
