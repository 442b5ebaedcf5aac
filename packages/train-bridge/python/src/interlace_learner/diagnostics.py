"""How far the learner is from the policy that sampled, over action tokens only. NumPy in, plain numbers out."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray


def describe_ratios(
    logprobs: ArrayLike,
    old_logprobs: ArrayLike,
    advantages: ArrayLike,
    mask: ArrayLike,
    low: float = 0.8,
    high: float = 1.28,
) -> dict[str, float]:
    """Arrays of one shape. On the first update of a step every ratio should be 1 up to rounding.

    `clip_fraction_low`/`_high`: tokens whose gradient the clip removes, not merely those outside the bounds.
    `effective_samples`: (Σr)² / (n·Σr²), 1 when all ratios are equal.
    """
    chosen = np.asarray(mask) > 0
    new, old, advantage = (
        np.asarray(values, np.float64)[chosen] for values in (logprobs, old_logprobs, advantages)
    )
    if len(new) == 0:
        raise ValueError("Expected at least one action token, got none")
    difference = new - old
    ratio = np.exp(difference)
    return {
        "tokens": float(len(new)),
        "ratio_mean": float(ratio.mean()),
        "ratio_max": float(ratio.max()),
        "ratio_min": float(ratio.min()),
        "clip_fraction_low": float(np.mean((ratio < low) & (advantage < 0))),
        "clip_fraction_high": float(np.mean((ratio > high) & (advantage > 0))),
        "kl_k1": float(-difference.mean()),
        "kl_k3": float((ratio - 1 - difference).mean()),
        "logprob_difference_max": float(np.abs(difference).max()),
        "negative_logprob_mean": float(-old.mean()),
        "effective_samples": float(ratio.sum() ** 2 / (len(ratio) * np.square(ratio).sum())),
    }


def merge_descriptions(batches: Iterable[dict[str, float]]) -> dict[str, float]:
    """One description of a step from those of its micro-batches: means by tokens, extremes of extremes."""
    known = list(batches)
    if not known:
        return {}
    weights: NDArray[np.float64] = np.array([batch["tokens"] for batch in known])
    merged: dict[str, float] = {}
    for name in known[0]:
        values = np.array([batch[name] for batch in known])
        if name == "tokens":
            merged[name] = float(values.sum())
        elif name.endswith("_max"):
            merged[name] = float(values.max())
        elif name.endswith("_min"):
            merged[name] = float(values.min())
        else:
            merged[name] = float((values * weights).sum() / weights.sum())
    return merged
