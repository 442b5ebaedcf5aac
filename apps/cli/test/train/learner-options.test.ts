/** What the settings become in Python: the learner itself reads them. */
import { describe, expect, test } from "bun:test";
import { learnerSource } from "@interlace/train-bridge";
import { resolveConfig } from "../../src/config/resolve.ts";
import { PRESET_NAMES } from "../../src/config/presets.ts";
import { learnerOptions } from "../../src/train/learner-options.ts";
import { PYTHON } from "../support/cli.ts";

const READ = `
import json, sys
from dataclasses import asdict
from interlace_learner.reference import LearnerConfig
print(json.dumps([asdict(LearnerConfig.from_json(each)) for each in json.load(sys.stdin)]))
`;

type Read = Readonly<Record<string, unknown>>;

async function optionsOf(preset: string, env: Record<string, string>): Promise<Read> {
  return learnerOptions((await resolveConfig({ flags: [], env, file: undefined, preset })).config);
}

/** One process: the learner imports PyTorch. */
async function readByLearner(options: readonly Read[]): Promise<readonly Read[]> {
  const child = Bun.spawn([PYTHON, "-c", READ], {
    env: { ...process.env, PYTHONPATH: learnerSource },
    stdin: new Blob([JSON.stringify(options)]),
    stderr: "inherit",
  });
  return (await new Response(child.stdout).json()) as readonly Read[];
}

const adapter = {
  INTERLACE_TRAIN_LORA_RANK: "8",
  INTERLACE_TRAIN_LORA_ALPHA: "16",
  INTERLACE_TRAIN_LORA_TARGETS: "q_proj,v_proj",
  INTERLACE_ROLLOUT_SEED: "7",
};
const [own, ...presets] = await readByLearner([
  await optionsOf("embedded", adapter),
  ...(await Promise.all(PRESET_NAMES.map((name) => optionsOf(name, {})))),
]);

describe("the learner takes the settings", () => {
  test("of every preset: an adapter in the described run, all weights in the others", () => {
    const ranks = PRESET_NAMES.map((name, i) => [name, presets[i]?.["lora_rank"]]);
    expect(ranks).toEqual([
      ["embedded", null],
      ["retool-small", 32],
      ["retool-paper", null],
    ]);
  });

  test("of an adapter of one's own, drawn from the run's seed", () => {
    expect(own).toMatchObject({
      lora_rank: 8,
      lora_alpha: 16,
      lora_targets: ["q_proj", "v_proj"],
      seed: 7,
      learning_rate: 1.2e-3,
    });
  });
});
