/** A key that was put where its variable's name belongs is refused, and shown nowhere. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { resolveConfig } from "../../src/config/resolve.ts";
import { newFolder, runCli } from "../support/cli.ts";

// Spawned processes share two cores with everything else.
setDefaultTimeout(60_000);

const SECTIONS = {
  "sampler.api_key_env": "sampler: api_key_env",
  "sandbox.token_env": "sandbox: token_env",
  "grading.judge.api_key_env": "grading.judge: api_key_env",
};
const EXPECTED =
  "expected the NAME of an environment variable, like VLLM_API_KEY; got something else, which is not shown in case it is the key itself";

test.each(Object.entries(SECTIONS))("%s takes a name only", async (name, place) => {
  const folder = newFolder();
  const variable = `INTERLACE_${name.replaceAll(".", "_").toUpperCase()}`;
  const file = join(folder, "run.toml");
  const [, section = "", key = ""] = /^(.*)\.(\w+)$/.exec(name) ?? [];
  writeFileSync(file, `[${section}]\n${key} = "sk-verysecret-123"\n`);
  for (const command of [["rollout"], ["rollout", "--json"], ["rollout", "--print-config"]]) {
    const byFile = await runCli([...command, "--config", file], folder);
    const byVariable = await runCli(command, folder, { [variable]: "sk-verysecret-123" });
    for (const { code, stdout, stderr } of [byFile, byVariable]) {
      expect(code).toBe(2);
      expect(stderr).toBe(`interlace: ${place}: ${EXPECTED}\n`);
      expect(stdout).not.toContain("verysecret");
    }
  }
  expect(existsSync(join(folder, "runs"))).toBe(false);
});

test.each(["VLLM_API_KEY", "_k1", "lower_case"])("%s is a name", async (text) => {
  const flags = Object.keys(SECTIONS).map((name) => [name, "a flag", text] as const);
  const resolved = await resolveConfig({ flags, env: {}, file: undefined, preset: undefined });
  expect(resolved.config.sampler.apiKeyEnv).toBe(text);
  expect(resolved.config.sandbox.tokenEnv).toBe(text);
  expect(resolved.config.grading.judge.apiKeyEnv).toBe(text);
});
