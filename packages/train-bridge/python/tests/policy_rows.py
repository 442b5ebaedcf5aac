"""Datums of the shipped policy: random trajectories with the policy's own logprobs, so the first ratio is 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from support import Row

from interlace_learner.reference import Llama


def draw_rows(model: Llama, count: int, seed: int = 0, drift: float = 0.0) -> list[Row]:
    """`drift`: how far, at most, the old logprobs are from the policy's, as if other weights had sampled."""
    draw = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        length = int(draw.integers(4, 60))
        full = draw.integers(0, 505, length + 1)
        # A prompt, then turns and observations by turns.
        mask = np.zeros(length, np.uint8)
        at = int(draw.integers(0, length - 1))
        while at < length:
            end = min(length, at + int(draw.integers(1, 12)))
            mask[at:end] = 1
            at = end + int(draw.integers(1, 8))
        with torch.no_grad():
            exact = model.logprobs(
                torch.from_numpy(full[None, :-1]),
                torch.from_numpy(full[None, 1:]),
                torch.from_numpy(mask[None].astype(np.float32)),
            )[0].numpy()
        old = (exact + draw.uniform(-drift, drift, length) * mask).astype(np.float32)
        advantage = float(draw.choice([1.5, -0.5, 0.25, -1.75]))
        rows.append(
            Row(
                input_tokens=full[:-1].tolist(),
                target_tokens=full[1:].tolist(),
                old_logprobs=old.tolist(),
                advantages=(mask * np.float32(advantage)).tolist(),
                loss_mask=mask.tolist(),
            )
        )
    return rows


def split(rows: Sequence[Row], sizes: Sequence[int]) -> list[list[Row]]:
    """Consecutive micro-batches of the given sizes."""
    ends = np.cumsum(sizes)
    assert ends[-1] == len(rows)
    return [list(rows[end - size : end]) for end, size in zip(ends, sizes, strict=True)]
