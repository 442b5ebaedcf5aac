/** Flags of other tools and a file without a flag: what does it here is named, in one line. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { settingsCatalogue } from "../../src/config/catalogue.ts";
import { hintForArgument, hintForFlag, OTHER_WORDS } from "../../src/flag-hints.ts";
import { newFolder, runCli } from "../support/cli.ts";

// Spawned processes share two cores with everything else.
setDefaultTimeout(60_000);

let folder = "";
beforeAll(() => {
  folder = newFolder();
});
afterAll(() => rmSync(folder, { recursive: true }));

const TOP_P =
  'rollout.top_p is a setting: "top_p = …" under [rollout] of a --config file, or INTERLACE_ROLLOUT_TOP_P';

test.each<[args: string, said: string]>([
  ["rollout --top-p 0.9", `Unknown flag --top-p: ${TOP_P}`],
  ["rollout --dataset FILE", "Unknown flag --dataset: did you mean --data?"],
  [
    "rollout --api-key=sk-verysecret",
    'Unknown flag --api-key: a key is never an argument: export it, and name its variable: "api_key_env = …" ' +
      "under [sampler] of a --config file, or INTERLACE_SAMPLER_API_KEY_ENV",
  ],
  [
    "rollout problems.jsonl",
    'Unexpected argument "problems.jsonl": did you mean --data problems.jsonl?',
  ],
  ["eval Problems.CSV", 'Unexpected argument "Problems.CSV": did you mean --data Problems.CSV?'],
  ["eval -n 4", "Unknown flag -n: did you mean --val-n?"],
  ["rollout --n 4", "Unknown flag --n: did you mean --group-size?"],
  ["rollout --grup-size 4", "Unknown flag --grup-size; the nearest is --group-size"],
])("%s", async (args, said) => {
  const ended = await runCli(args.split(" "), folder);
  expect(ended).toEqual({ code: 2, stdout: "", stderr: `interlace: ${said}\n` });
});

test("what is hinted at works: the line under its section, and the variable", async () => {
  writeFileSync(join(folder, "top.toml"), "[rollout]\ntop_p = 0.9\n");
  const args = ["rollout", "--print-config", "--json"];
  const byFile = await runCli([...args, "--config", "top.toml"], folder);
  const byVariable = await runCli(args, folder, { INTERLACE_ROLLOUT_TOP_P: "0.9" });
  for (const { stdout } of [byFile, byVariable]) {
    expect(JSON.parse(stdout)).toMatchObject({ "rollout.top_p": { value: 0.9 } });
  }
});

test("an evaluation has its own sampling, and other commands' flags are told", () => {
  expect(hintForFlag("eval", "temperature")).toStartWith("eval.temperature is a setting: ");
  expect(hintForFlag("train", "temperature")).toStartWith("rollout.temperature is a setting: ");
  expect(hintForFlag("rollout", "lr")).toBe("interlace train has --learning-rate");
  expect(hintForFlag("rollout", "model")).toStartWith("sampler.model is a setting: ");
  expect(hintForFlag("rollout", "rollout.max-code-calls")).toStartWith("rollout.max_code_calls is");
  expect(hintForFlag("rollout", "dry-run")).toBeNull();
  expect(hintForFlag("verify", "temperature")).toBeNull();
});

test("an argument without a flag: a configuration, a server, a run", () => {
  mkdirSync(join(folder, "run"));
  writeFileSync(join(folder, "run", "run.json"), "{}");
  const run = join(folder, "run");
  expect(hintForArgument("rollout", "my.toml")).toBe("did you mean --config my.toml?");
  expect(hintForArgument("doctor", "http://a:1")).toBe("did you mean --url http://a:1?");
  expect(hintForArgument("train", run)).toBe(`did you mean --resume ${run}?`);
  expect(hintForArgument("eval", run)).toBe("interlace eval --help lists its flags");
});

test("every word of other tools leads to settings that exist", () => {
  const unknown = Object.values(OTHER_WORDS)
    .flat()
    .filter((name) => !settingsCatalogue().has(name));
  expect(unknown).toEqual([]);
});
