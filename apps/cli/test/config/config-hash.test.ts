import { expect, test } from "bun:test";
import { settingsCatalogue } from "../../src/config/catalogue.ts";
import { hashConfig, hasNoEffect } from "../../src/config/config-hash.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { markOf } from "../../src/config/showing.ts";

const resolve = async (env: Record<string, string>) =>
  (await resolveConfig({ flags: [], env, file: undefined, preset: undefined })).config;

test("the hash changes with what is computed, and not with how long, how fast or where", async () => {
  const hash = hashConfig(await resolve({}), { data: "a" });
  const same = await resolve({
    INTERLACE_RUN_STEPS: "9",
    INTERLACE_RUN_SCHEDULE: "rounds",
    INTERLACE_RUN_OUT: "elsewhere",
    INTERLACE_SANDBOX_WORKERS: "3",
  });
  expect(hashConfig(same, { data: "a" })).toBe(hash);
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  expect(hashConfig(await resolve({ INTERLACE_ROLLOUT_SEED: "43" }), { data: "a" })).not.toBe(hash);
  expect(hashConfig(await resolve({}), { data: "b" })).not.toBe(hash);
});

test("every name without effect is a setting", () => {
  const known = [...settingsCatalogue().keys()].filter(hasNoEffect);
  expect(known).toContain("run.schedule");
  expect(known).toContain("sampler.tls.ca_file");
  expect(known).not.toContain("rollout.seed");
});

test("what may be a key is never hashed, for what is hashed stands in the files of evaluations", () => {
  const settings = [...settingsCatalogue().values()];
  const marked = settings.filter(({ schema }) => markOf(schema) !== null);
  expect(marked.length).toBeGreaterThan(3);
  expect(marked.map(({ name }) => name).filter((name) => !hasNoEffect(name))).toEqual([]);
});
