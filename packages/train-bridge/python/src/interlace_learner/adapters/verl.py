"""In: all micro-batches of a step. Out: the fields of verl's `DataProto` that its actor is updated from, as arrays:

    data = DataProto.from_dict({name: torch.from_numpy(array) for name, array in to_verl(batches).items()})

[datums, longest prompt]: `prompts`, padded on the left. [datums, longest response]: `responses`, `response_mask` (1 =
sampled), `old_log_probs` and `rollout_log_probs` (both the sampler's), `advantages`. [datums, both]: `input_ids`,
`attention_mask`, `position_ids`. verl cuts mini- and micro-batches itself, and takes out the padding.

Ours, mean over a sample's tokens, then over all N scored samples: in `actor_rollout_ref.actor` `loss_agg_mode =
"seq-mean-token-mean"`, `clip_ratio_low = 0.2`, `clip_ratio_high = 0.28`, `use_kl_loss = false`, `entropy_coeff = 0`,
`ppo_epochs = 1`; one mini-batch a step: `ppo_mini_batch_size × rollout.n` = number of datums. verl divides by that, so
advantages carry datums / N. `rollout_correction.bypass_mode = true` keeps `old_log_probs`, which verl computes again
otherwise. Its dual clip is always on: `clip_ratio_c` = our `dual_clip`, or very large for none.
Ours with `token_mean`: `loss_agg_mode = "token-mean"` and `to_verl(batches, scale=1)`.

Tried with the types and the losses of verl 0.9.1 (`DataProto`, `left_right_2_no_padding`, "vanilla"), not with its
workers, which need a GPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reader import MicroBatch
from .prompt_response import split_prompts


def to_verl(
    batches: Sequence[MicroBatch], pad_id: int = 0, scale: float | None = None
) -> dict[str, NDArray[Any]]:
    """One row per datum. `scale`: what advantages are multiplied by; None = number of datums / N.

    Raise ValueError on a step without datums, which is no update.
    """
    if not batches:
        raise ValueError("Expected a step with datums, got none; make no update for it")
    split = split_prompts(batches, pad_id)
    if scale is None:
        # n_k / N of each, summed over the step.
        scale = float(sum(np.float64(batch.sample_weight) for batch in batches))
    attention_mask = np.concatenate([split.prompt_mask, split.response_tokens], axis=1)
    return {
        "prompts": split.prompts,
        "responses": split.responses,
        "response_mask": split.loss_mask,
        "input_ids": np.concatenate([split.prompts, split.responses], axis=1),
        "attention_mask": attention_mask,
        "position_ids": np.maximum(attention_mask.cumsum(axis=1) - 1, 0),
        "old_log_probs": split.old_logprobs,
        "rollout_log_probs": split.old_logprobs,
        "advantages": (split.advantages * scale).astype(np.float32),
    }
