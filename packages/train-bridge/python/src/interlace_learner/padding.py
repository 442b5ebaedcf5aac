"""Ragged micro-batch → padded rectangle, right-padded: [datums, longest].

Padding carries no signal: token 0, logprob 0, advantage 0, mask 0. A causal model never looks at it from the left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .reader import MicroBatch


@dataclass(frozen=True, slots=True)
class PaddedBatch:
    """All arrays [datums, width]."""

    input_tokens: NDArray[np.int64]
    target_tokens: NDArray[np.int64]
    old_logprobs: NDArray[np.float32]
    advantages: NDArray[np.float32]
    """Unscaled."""
    loss_mask: NDArray[np.float32]
    sample_weight: float


def pad(batch: MicroBatch, pad_id: int = 0, multiple: int = 1) -> PaddedBatch:
    """`multiple`: the width is rounded up to it, for kernels and compilers that like few shapes."""
    if multiple < 1:
        raise ValueError(f"Expected multiple to be at least 1, got {multiple}")
    longest = int(batch.lengths.max(initial=0))
    width = -(-longest // multiple) * multiple
    offsets = batch.offsets.tolist()

    def spread(values: NDArray[Any], dtype: Any, filler: float = 0) -> NDArray[Any]:
        # Row by row: plain copies are several times faster than one that asks of every position whether it is real.
        out = np.empty((len(batch), width), dtype)
        for row, start, end in zip(out, offsets, offsets[1:], strict=False):
            row[: end - start] = values[start:end]
            row[end - start :] = filler
        return out

    return PaddedBatch(
        input_tokens=spread(batch.input_tokens, np.int64, pad_id),
        target_tokens=spread(batch.target_tokens, np.int64, pad_id),
        old_logprobs=spread(batch.old_logprobs, np.float32),
        advantages=spread(batch.advantages, np.float32),
        loss_mask=spread(batch.loss_mask, np.float32),
        sample_weight=float(batch.sample_weight),
    )
