"""Ragged micro-batch → padded rectangle, right-padded: [datums, longest].

Padding carries no signal: token 0, logprob 0, advantage 0, mask 0. A causal model never looks at it from the left.
Arrays keep the types of the file: 17 bytes a token to copy, and to send to a GPU. Torch takes int32 ids for embeddings;
for an index that must be int64, cast there.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .reader import MicroBatch

BYTES_PER_TOKEN = 4 + 4 + 4 + 4 + 1


@dataclass(frozen=True, slots=True)
class PaddedBatch:
    """All arrays [datums, width]."""

    input_tokens: NDArray[np.int32]
    target_tokens: NDArray[np.int32]
    old_logprobs: NDArray[np.float32]
    advantages: NDArray[np.float32]
    """Unscaled."""
    loss_mask: NDArray[np.uint8]
    """0 or 1."""
    sample_weight: float


def pad(batch: MicroBatch, pad_id: int = 0, multiple: int = 1) -> PaddedBatch:
    """`multiple`: the width is rounded up to it, for kernels and compilers that like few shapes."""
    if multiple < 1:
        raise ValueError(f"Expected multiple to be at least 1, got {multiple}")
    lengths, offsets = batch.lengths, batch.offsets.tolist()
    width = -(-int(lengths.max(initial=0)) // multiple) * multiple
    shortest = int(lengths.min(initial=width))
    cells = len(batch) * width
    columns = {
        "input_tokens": pad_id,
        "target_tokens": pad_id,
        "old_logprobs": 0,
        "advantages": 0,
        "loss_mask": 0,
    }
    # One block for all: an allocator gives small ones back to the system and takes them anew, page by page.
    block = np.empty(cells * BYTES_PER_TOKEN, np.uint8)
    arrays: dict[str, NDArray[Any]] = {}
    target, at = block.data, 0
    for name, filler in columns.items():
        values = getattr(batch, name)
        size = values.itemsize
        out = block[at : at + cells * size].view(values.dtype).reshape(len(batch), width)
        # Wherever a row may end; then each is copied over it, as bytes: to begin an assignment NumPy needs as long as
        # to copy some thousand bytes, and asking of every position whether it is real takes several times longer.
        out[:, shortest:] = filler
        source = values.view(np.uint8).data
        for start, end in pairwise(offsets):
            target[at : at + (end - start) * size] = source[start * size : end * size]
            at += width * size
        arrays[name] = out
    return PaddedBatch(**arrays, sample_weight=float(batch.sample_weight))
