"""In: a micro-batch. Out: what prime-rl's `TrainingSample`s are made of, as plain data: `TrainingSample(**plain)`.

One list per field, each as long as the datum's tokens, the first one included: `token_ids`, `mask` (sampled),
`logprobs` and `advantages` of the token at that position (0 for the first, which nothing predicts), `temperatures`,
`rl_weights`. `prepare_batch` packs them into its `MicroBatch`es.

prime-rl sums what each token costs times its `rl_weights`, over all tokens of the step, and divides by their number T
(positions with mask and a weight). Ours, mean over a sample's tokens, then over all N scored samples, is `rl_weights` =
T / (N · |mask_i|) and our clip as its loss, `type = "custom"`, `import_path = "your_module.clip_loss"`:

    def clip_loss(inputs, low=0.8, high=1.28):
        each = clip_objective(inputs.trainer_logprobs, inputs.inference_logprobs, inputs.advantages, inputs.loss_mask,
                              low, high)
        return LossOutputs(loss=(each * inputs.loss_weights).sum(), metrics={})

(Its own default masks by the difference of probabilities and adds a KL: another objective, with the same weights.)

prime-rl 0.8.0 is on no package index and needs Python 3.12 and a GPU. Tried with its own `types.py`, `batch.py` and
`loss.py` of commit 559b447, alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..reader import MicroBatch


def to_prime_rl(
    batch: MicroBatch,
    step_loss_tokens: int,
    temperature: float = 1.0,
    env_name: str = "interlace",
) -> list[dict[str, Any]]:
    """One entry per datum, in order. `step_loss_tokens`: T = Σ `loss_tokens` of the step's micro-batches.

    `temperature`: divides the trainer's logits; 1 where the file's `logprob_kind` is raw.
    """
    return [
        _sample(batch, row, step_loss_tokens, temperature, env_name) for row in range(len(batch))
    ]


def _sample(
    batch: MicroBatch, row: int, step_loss_tokens: int, temperature: float, env_name: str
) -> dict[str, Any]:
    own = slice(int(batch.offsets[row]), int(batch.offsets[row + 1]))
    mask = batch.loss_mask[own].astype(bool)
    # sample_weight is n_k / N: what is left of it per sample is 1 / N.
    share = float(batch.sample_weight) / len(batch) / int(np.count_nonzero(mask))
    return {
        "token_ids": [int(batch.input_tokens[own][0]), *batch.target_tokens[own].tolist()],
        "mask": [False, *mask.tolist()],
        "logprobs": [0.0, *batch.old_logprobs[own].tolist()],
        "temperatures": [temperature] * (len(mask) + 1),
        "env_name": env_name,
        "rl_weights": [0.0, *(mask * share * step_loss_tokens).tolist()],
        "advantages": [0.0, *batch.advantages[own].tolist()],
    }
