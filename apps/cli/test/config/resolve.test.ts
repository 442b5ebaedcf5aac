import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embeddedSystemPrompt } from "@interlace/sampler-clients";
import { settingsCatalogue, valuesOf } from "../../src/config/catalogue.ts";
import { toVariable } from "../../src/config/names.ts";
import { listSettings, printConfig } from "../../src/config/print.ts";
import { resolveConfig, type ConfigSources } from "../../src/config/resolve.ts";
import { findWarnings } from "../../src/config/warnings.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "interlace-config-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function toml(text: string): string {
  const path = join(folder, `${crypto.randomUUID()}.toml`);
  writeFileSync(path, text);
  return path;
}

const NOTHING: ConfigSources = { flags: [], env: {}, file: undefined, preset: undefined };
const resolve = (sources: Partial<ConfigSources>) => resolveConfig({ ...NOTHING, ...sources });
const groupSize = (value: string) => ["rollout.group_size", "--group-size", value] as const;

describe("precedence", () => {
  const file = () => toml("[rollout]\ngroup_size = 3\n");
  const env = { INTERLACE_ROLLOUT_GROUP_SIZE: "4" };

  test("flag over environment over file over preset over default", async () => {
    const seen = [
      await resolve({ preset: "retool-paper" }),
      await resolve({ preset: "retool-paper", file: file() }),
      await resolve({ preset: "retool-paper", file: file(), env }),
      await resolve({ preset: "retool-paper", file: file(), env, flags: [groupSize("5")] }),
    ];
    expect(seen.map(({ config }) => config.rollout.groupSize)).toEqual([16, 3, 4, 5]);
    const origin = "rollout.group_size";
    expect(seen[0]?.origins.get(origin)).toBe("preset retool-paper");
    expect(seen[1]?.origins.get(origin)).toEndWith(".toml");
    expect(seen[2]?.origins.get(origin)).toBe("INTERLACE_ROLLOUT_GROUP_SIZE");
    expect(seen[3]?.origins.get(origin)).toBe("--group-size");
  });

  test("what nobody names has its default, which --print-config says", async () => {
    const resolved = await resolve({ preset: "retool-small" });
    expect(resolved.config.rollout.temperature).toBe(1);
    expect(listSettings(resolved).get("rollout.temperature")).toEqual({
      value: 1,
      origin: "default",
    });
  });

  test("--print-config is TOML that means the same", async () => {
    const first = await resolve({ flags: [groupSize("5")] });
    const again = await resolve({ file: toml(printConfig(first)), preset: "retool-small" });
    expect(valuesOf(again.config)).toEqual(valuesOf(first.config));
  });
});

describe("presets", () => {
  test("embedded is what no arguments mean", async () => {
    const { preset, config } = await resolve({});
    expect(preset).toBe("embedded");
    expect(config.data.questionsPerBatch).toBe(16);
    expect(config.rollout).toMatchObject({
      groupSize: 8,
      maxCodeCalls: 2,
      maxAssistantTurns: 4,
      maxTrajectoryTokens: 512,
      maxAssistantTokens: 96,
      maxToolResponseTokens: 64,
    });
    expect(config.protocol.systemPrompt).toBe(String.raw`Use the tool. End with \boxed{}.`);
    expect(config.protocol.systemPrompt).toBe(embeddedSystemPrompt);
  });

  test("a named server means no preset, and the described defaults", async () => {
    const { preset, config } = await resolve({ env: { INTERLACE_SAMPLER_KIND: "vllm" } });
    expect(preset).toBeNull();
    expect(config.data.questionsPerBatch).toBe(8);
    expect(config.rollout).toMatchObject({ groupSize: 8, maxTrajectoryTokens: 8192 });
    expect(config.protocol.systemPrompt).toBeNull();
    // Other people's models get no sandbox that is less than standard, unless somebody says so.
    expect(config.sandbox.require).toBe("standard");
    expect((await resolve({})).config.sandbox.require).toBe("none");
  });

  test("retool-paper is the paper's scale", async () => {
    const { config } = await resolve({ preset: "retool-paper" });
    expect(config.data.questionsPerBatch).toBe(512);
    expect(config.rollout).toMatchObject({
      groupSize: 16,
      maxTrajectoryTokens: 16_384,
      maxAssistantTurns: 8,
    });
  });
});

describe("refusals", () => {
  const refusal = async (sources: Partial<ConfigSources>): Promise<string> => {
    const error: unknown = await resolve(sources).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: "PersonError", exitCode: 2 });
    return (error as Error).message;
  };

  test("an unknown key names the nearest one", async () => {
    expect(await refusal({ file: toml("[rollout]\ngroupsize = 3\n") })).toContain(
      "Unknown setting rollout.groupsize",
    );
    expect(await refusal({ file: toml("[rollout]\ngroupsize = 3\n") })).toEndWith(
      "the nearest is rollout.group_size",
    );
    expect(await refusal({ file: toml("[rollut]\ngroup_size = 3\n") })).toEndWith(
      "the nearest is rollout",
    );
    expect(await refusal({ file: toml("[rollout]\nmaxCodeCalls = 3\n") })).toEndWith(
      "the nearest is rollout.max_code_calls",
    );
    expect(await refusal({ env: { INTERLACE_ROLOUT_SEED: "3" } })).toBe(
      "Unknown setting INTERLACE_ROLOUT_SEED in the environment: the nearest is INTERLACE_ROLLOUT_SEED",
    );
    expect(await refusal({ preset: "embeded" })).toEndWith("the nearest is embedded");
  });

  test("a bad value names the field, the value, where it stands and what is allowed", async () => {
    expect(await refusal({ flags: [groupSize("0")] })).toBe(
      "rollout.group_size (trajectories per problem) is 0, from --group-size: expected an integer of at least 1",
    );
    expect(await refusal({ flags: [groupSize("many")] })).toContain('is "many", from --group-size');
    expect(await refusal({ env: { INTERLACE_ROLLOUT_TOP_P: "1.5" } })).toBe(
      "rollout.top_p (nucleus sampling, 1 = off) is 1.5, from INTERLACE_ROLLOUT_TOP_P: expected a number above 0 and of at most 1",
    );
    expect(await refusal({ file: toml('[run]\nschedule = "fast"\n') })).toEndWith(
      "expected one of continuous, rounds",
    );
    expect(await refusal({ env: { INTERLACE_SAMPLER_URL: "localhost:8000" } })).toContain(
      'is ["localhost:8000"], from INTERLACE_SAMPLER_URL: expected a URL like http://localhost:8000',
    );
  });

  test("every bad value is named at once", async () => {
    const message = await refusal({
      flags: [groupSize("0")],
      env: { INTERLACE_ROLLOUT_SEED: "-1" },
    });
    expect(message.split("\n")).toHaveLength(2);
  });

  test("a file that is no TOML is refused by name", async () => {
    const path = toml("[rollout\n");
    expect(await refusal({ file: path })).toContain(`${path} is not valid TOML`);
    expect(await refusal({ file: join(folder, "none.toml") })).toContain("none.toml");
  });
});

describe("values from text", () => {
  test("are read as the setting's type", async () => {
    const { config } = await resolve({
      env: {
        INTERLACE_ROLLOUT_TOP_K: "off",
        INTERLACE_ROLLOUT_STRICT_TEXT: "true",
        INTERLACE_SAMPLER_URL: "http://a:1,http://b:2",
        INTERLACE_DATA_COLUMNS_QUESTION: "problem",
        INTERLACE_SAMPLER_HEADERS: '{"x-team":"rl"}',
        INTERLACE_SANDBOX_TIMEOUT_SECONDS: "1.5",
      },
    });
    expect(config.rollout.topK).toBeNull();
    expect(config.rollout.strictText).toBe(true);
    expect(config.sampler.url).toEqual(["http://a:1", "http://b:2"]);
    expect(config.data.columns.question).toBe("problem");
    expect(config.sampler.headers).toEqual({ "x-team": "rl" });
    expect(config.sandbox.timeoutSeconds).toBe(1.5);
  });

  test("no two settings share a variable", () => {
    const names = [...settingsCatalogue().keys()];
    expect(new Set(names.map(toVariable)).size).toBe(names.length);
  });

  test("every setting has a help text", () => {
    const silent = [...settingsCatalogue().values()].filter(
      ({ description }) => description === "",
    );
    expect(silent.map(({ name }) => name)).toEqual([]);
  });
});

test("legal but pointless values warn, one sentence each", async () => {
  const pointless = await resolve({
    env: {
      INTERLACE_ROLLOUT_GROUP_SIZE: "1",
      INTERLACE_ROLLOUT_MAX_ASSISTANT_TURNS: "1",
      INTERLACE_ROLLOUT_TOP_P: "0.7",
    },
  });
  expect(findWarnings(pointless.config).map((text) => text.split(" ")[0])).toEqual([
    "rollout.group_size",
    "rollout.max_assistant_turns",
    "rollout.top_p",
  ]);
  expect(findWarnings((await resolve({})).config)).toEqual([]);
});
