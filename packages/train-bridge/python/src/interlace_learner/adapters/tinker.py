"""In: a micro-batch. Out: what Tinker's `Datum`s are made of, as plain data:

    tinker.Datum(
        model_input=tinker.ModelInput.from_ints(plain["tokens"]),
        loss_fn_inputs={k: tinker.TensorData(**v) for k, v in plain["loss_fn_inputs"].items()},
    )

For `forward_backward(…, loss_fn="ppo" | "importance_sampling")`, which **sum** over tokens. So advantages are scaled to
A / (|mask_i| · N): summed over a step's datums, the loss is the mean over a sample's action tokens, then over all N
scored samples, as ours. Positions without a signal have advantage 0, which is all the mask that Tinker takes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..reader import MicroBatch


def to_tinker(batch: MicroBatch) -> list[dict[str, Any]]:
    """One entry per datum, in order."""
    return [_datum(batch, row) for row in range(len(batch))]


def _datum(batch: MicroBatch, row: int) -> dict[str, Any]:
    own = slice(int(batch.offsets[row]), int(batch.offsets[row + 1]))
    # sample_weight is n_k / N: what is left of it per sample is 1 / N.
    share = float(batch.sample_weight) / len(batch) / int(np.count_nonzero(batch.loss_mask[own]))
    advantages = batch.advantages[own].astype(np.float64) * share

    def tensor(values: Any, dtype: str) -> dict[str, Any]:
        return {"data": values.tolist(), "dtype": dtype, "shape": [len(values)]}

    return {
        "tokens": batch.input_tokens[own].tolist(),
        "loss_fn_inputs": {
            "target_tokens": tensor(batch.target_tokens[own], "int64"),
            "logprobs": tensor(batch.old_logprobs[own], "float32"),
            "advantages": tensor(advantages, "float32"),
        },
    }
