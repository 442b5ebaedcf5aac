/** The services as processes: they say where they listen, do their work for our own clients, and end when told. */
import { expect, test } from "bun:test";
import { embeddedPolicyFolder } from "@interlace/sampler-clients";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { newFolder, onlyRun, runCli, spawnCli } from "../support/cli.ts";

type Served = AsyncDisposable & { readonly url: string; stop(): Promise<number> };

async function serve(args: readonly string[], env: Record<string, string> = {}): Promise<Served> {
  const child = spawnCli(["serve", ...args, "--port", "0"], newFolder(), env);
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  const url = new TextDecoder().decode(value).trim();
  if (!url.startsWith("http://")) throw new Error(await new Response(child.stderr).text());
  const stop = (): Promise<number> => {
    child.kill("SIGINT");
    return child.exited;
  };
  return { url, stop, [Symbol.asyncDispose]: async () => void (await stop()) };
}

test("serve sandbox runs code for a client of SandboxFusion, and a rollout by the remote backend", async () => {
  await using sandbox = await serve(["sandbox", "--workers", "2"]);
  const response = await fetch(`${sandbox.url}/run_code`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code: "print(6 * 7)", language: "python" }),
  });
  expect(await response.json()).toMatchObject({
    status: "Success",
    run_result: { stdout: "42\n", return_code: 0 },
  });
  const cwd = newFolder();
  const config = join(cwd, "remote.toml");
  writeFileSync(config, `[sandbox]\nbackend = "remote"\nurl = "${sandbox.url}"\n`);
  const flags = ["--preset", "embedded", "--problems", "2", "--group-size", "4"];
  const { code } = await runCli(["rollout", ...flags, "--config", config, "--out", "runs"], cwd);
  expect(code).toBe(0);
  expect((await runCli(["verify", onlyRun(join(cwd, "runs"))], cwd)).code).toBe(0);
  expect(await sandbox.stop()).toBe(0);
});

test("serve sandbox asks for its token, and refuses an open address without one", async () => {
  await using sandbox = await serve(["sandbox", "--token-env", "SANDBOX_TOKEN"], {
    SANDBOX_TOKEN: "s3cret",
  });
  expect((await fetch(`${sandbox.url}/metrics`)).status).toBe(401);
  const headers = { authorization: "Bearer s3cret" };
  expect((await fetch(`${sandbox.url}/metrics`, { headers })).status).toBe(200);
  const open = await runCli(["serve", "sandbox", "--host", "0.0.0.0", "--port", "0"], "/");
  expect(open.code).toBe(1);
  expect(open.stderr).toContain("Expected a token to serve a sandbox on 0.0.0.0");
});

test.each(["vllm", "sglang", "llamacpp", "tgi", "tinker"])(
  "serve fake-%s carries a whole rollout",
  async (kind) => {
    await using fake = await serve([`fake-${kind}`]);
    const cwd = newFolder();
    const flags = `--preset embedded --sampler ${kind} --url ${fake.url} --problems 2 --group-size 4`;
    const args = [...flags.split(" "), "--tokenizer", embeddedPolicyFolder, "--out", "runs"];
    const { code, stderr } = await runCli(["rollout", ...args], cwd);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    expect((await runCli(["verify", onlyRun(join(cwd, "runs"))], cwd)).code).toBe(0);
    expect(await fake.stop()).toBe(0);
  },
);

test("a secret in a URL is refused before anything is printed or written", async () => {
  const cwd = newFolder();
  const args = ["--sampler", "vllm", "--url", "http://me:s3cret@localhost:1"];
  const { code, stderr, stdout } = await runCli(
    ["rollout", ...args, "--tokenizer", embeddedPolicyFolder],
    cwd,
  );
  expect(code).toBe(2);
  expect(stderr).toContain("api_key_env");
  expect(stderr + stdout).not.toContain("s3cret");
});
