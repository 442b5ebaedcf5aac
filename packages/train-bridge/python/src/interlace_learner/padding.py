"""Ragged micro-batch → padded rectangle, right-padded: [datums, longest].

Padding carries no signal: token 0, logprob 0, advantage 0, mask 0. A causal model never looks at it from the left.
Arrays keep the types of the file: 17 bytes a token to copy, and to send to a GPU. Torch takes int32 ids for embeddings;
for an index that must be int64, cast there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
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


def pad(
    batch: MicroBatch, pad_id: int = 0, multiple: int = 1, rows: Sequence[int] | None = None
) -> PaddedBatch:
    """`multiple`: the width is rounded up to it, for kernels and compilers that like few shapes.

    `rows`: only these datums, in this order (`slices` gives such). None = all of them.
    """
    if multiple < 1:
        raise ValueError(f"Expected multiple to be at least 1, got {multiple}")
    starts, ends = batch.offsets[:-1], batch.offsets[1:]
    if rows is not None:
        starts, ends = starts[rows], ends[rows]
    lengths = ends - starts
    width = -(-int(lengths.max(initial=0)) // multiple) * multiple
    shortest = int(lengths.min(initial=width))
    cells = len(lengths) * width
    spans = list(zip(starts.tolist(), ends.tolist(), strict=True))
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
        out = block[at : at + cells * size].view(values.dtype).reshape(len(lengths), width)
        # Wherever a row may end; then each is copied over it, as bytes: to begin an assignment NumPy needs as long as
        # to copy some thousand bytes, and asking of every position whether it is real takes several times longer.
        out[:, shortest:] = filler
        source = values.view(np.uint8).data
        for start, end in spans:
            target[at : at + (end - start) * size] = source[start * size : end * size]
            at += width * size
        arrays[name] = out
    return PaddedBatch(**arrays, sample_weight=float(batch.sample_weight))


def slices(batch: MicroBatch, tokens: int) -> Iterator[list[int]]:
    """Every datum's row once, long ones first, so many together that they hold at most `tokens` when padded.

    Rows of one slice are of like length: hardly anything of it is padding. A longer datum is a slice of its own.
    """
    lengths = batch.lengths
    order = np.argsort(-lengths, kind="stable").tolist()
    at = 0
    while at < len(order):
        count = max(1, tokens // int(lengths[order[at]]))
        yield order[at : at + count]
        at += count
