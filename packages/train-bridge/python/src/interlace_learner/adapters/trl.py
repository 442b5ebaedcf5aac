"""In: a micro-batch. Out: what TRL's `GRPOTrainer` makes its loss of, as arrays; `torch.from_numpy` makes them tensors:

    class FromDatums(GRPOTrainer):
        def _prepare_inputs(self, generation_batch):
            arrays = to_trl(next(self.micro_batches), accumulation_steps=self.args.gradient_accumulation_steps)
            return {name: torch.from_numpy(array).to(self.accelerator.device) for name, array in arrays.items()}

[datums, longest prompt]: `prompt_ids`, `prompt_mask`, padded on the left. [datums, longest response]: `completion_ids`,
`completion_mask` (1 = a token), `tool_mask` (1 = sampled), `old_per_token_logps`, `advantages`. TRL learns where both
masks are 1, from exp(logps − old) clipped at 1 − epsilon and 1 + epsilon_high.

Ours, mean over a sample's tokens, then over all N scored samples: `GRPOConfig(loss_type="grpo", epsilon=0.2,
epsilon_high=0.28, beta=0.0, use_vllm=False)`, `temperature` = what the file's `logprob_kind` asks for (1.0 for raw),
`delta` = our `dual_clip`. Its "grpo" is the mean over the micro-batch's samples, divided by the accumulation steps; so
advantages carry `sample_weight` × `accumulation_steps`. One optimizer step is one training step when
`gradient_accumulation_steps` is that step's number of micro-batches.
Ours with `token_mean`: `loss_type="dapo"` and `step_loss_tokens`, by which TRL divides; advantages are then unscaled.

Tried with TRL 1.16.0 on the policy in the box: loss and gradient are the reference learner's for both, and so are the
weights after `train()`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reader import MicroBatch
from .prompt_response import split_prompts


def to_trl(
    batch: MicroBatch,
    pad_id: int = 0,
    accumulation_steps: int = 1,
    step_loss_tokens: int | None = None,
) -> dict[str, NDArray[Any]]:
    """`step_loss_tokens`: Σ `loss_tokens` of the step's micro-batches, for "dapo"; None = for "grpo"."""
    split = split_prompts([batch], pad_id)
    scale = 1.0 if step_loss_tokens is not None else float(batch.sample_weight) * accumulation_steps
    return {
        "prompt_ids": split.prompts,
        "prompt_mask": split.prompt_mask,
        "completion_ids": split.responses,
        "completion_mask": split.response_tokens,
        "tool_mask": split.loss_mask,
        "old_per_token_logps": split.old_logprobs,
        "advantages": (split.advantages * scale).astype(np.float32),
        "num_items_in_batch": np.array(step_loss_tokens or batch.loss_tokens),
    }
