/** Named sets of values. Each lists everything that it overrides; what it does not list keeps its default. */
import type { Layer } from "./layers.ts";

export const PRESET_NAMES = ["embedded", "retool-small", "retool-paper"] as const;
export type PresetName = (typeof PRESET_NAMES)[number];

const PRESETS: Readonly<Record<PresetName, Readonly<Record<string, unknown>>>> = {
  /** What no arguments mean: the policy in the box, which reads 512 tokens and was taught this prompt. */
  embedded: {
    "sampler.kind": "embedded",
    // More prefixes at once than its cache holds would be computed again every turn.
    "run.max_open_groups": 16,
    // The policy in the box writes arithmetic: the best level that the machine gives is enough.
    "sandbox.require": "none",
    "protocol.system_prompt": String.raw`Use the tool. End with \boxed{}.`,
    "data.questions_per_batch": 16,
    "rollout.group_size": 8,
    "rollout.max_code_calls": 2,
    "rollout.max_assistant_turns": 4,
    "rollout.max_trajectory_tokens": 512,
    "rollout.max_assistant_tokens": 96,
    "rollout.max_tool_response_tokens": 64,
    // At 120 one seed of three ends at 0.89; the rate has reached its floor, so what follows is steady.
    "train.max_steps": 140,
    "train.learning_rate": 1.2e-3,
    "train.warmup_steps": 3,
    "train.decay_from": 50,
    "train.decay_to": 110,
    "train.gradient_clip": 1,
    "train.evaluate_every": 10,
    // So small a policy learns with all of its weights.
    "train.lora_rank": 0,
  },
  /** The described run. */
  "retool-small": {
    "data.questions_per_batch": 8,
    "rollout.group_size": 8,
    "rollout.max_code_calls": 4,
    "rollout.max_assistant_turns": 6,
    "rollout.max_trajectory_tokens": 8192,
    "rollout.max_assistant_tokens": 1024,
    "rollout.max_tool_response_tokens": 512,
    "train.max_steps": 200,
  },
  /** The paper's scale. */
  "retool-paper": {
    "data.questions_per_batch": 512,
    "rollout.group_size": 16,
    "rollout.max_assistant_turns": 8,
    "rollout.max_trajectory_tokens": 16_384,
    "train.learning_rate": 1e-6,
    "train.lora_rank": 0,
  },
};

export function layerOfPreset(name: PresetName): Layer {
  const origin = `preset ${name}`;
  return new Map(
    Object.entries(PRESETS[name]).map(([setting, value]) => [setting, { value, origin }]),
  );
}
