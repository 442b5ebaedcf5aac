/** In: the flags of `train`. Out: the settings that they stand for, as text, and how each flag is called. */
import { TRAIN_FLAG_SETTINGS, type TrainFlags } from "../commands/train.ts";
import { flagSettings } from "../rollout/flag-settings.ts";

export function trainFlagSettings(flags: TrainFlags) {
  return flagSettings(flags, TRAIN_FLAG_SETTINGS);
}
