"""Advantage estimators over one batch: rewards and group labels in, one advantage per trajectory out.

`rewards` [n] float, NaN = unscored: stays NaN and takes no part in its group. `groups` [n]: any labels.
A group whose scored rewards are all equal (also one scored member) has no signal: exactly 0, decided on the
rewards, because a mean of equal values can miss them by one ulp.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float64Array = NDArray[np.float64]


def group_centred(rewards: ArrayLike, groups: ArrayLike) -> Float64Array:
    """A_i = R_i − mean(R). What Interlace writes unless told otherwise."""
    return _per_group(rewards, groups, lambda scored: scored - scored.mean())


def dr_grpo(rewards: ArrayLike, groups: ArrayLike) -> Float64Array:
    """Dr. GRPO (Liu et al. 2025): no deviation. Its other half, a constant length norm, is the loss's."""
    return group_centred(rewards, groups)


def grpo_std(rewards: ArrayLike, groups: ArrayLike, epsilon: float = 1e-6) -> Float64Array:
    """GRPO (Shao et al. 2024): (R_i − mean) / (std + ε), std with Bessel's correction."""
    return _per_group(
        rewards, groups, lambda scored: (scored - scored.mean()) / (scored.std(ddof=1) + epsilon)
    )


def rloo(rewards: ArrayLike, groups: ArrayLike) -> Float64Array:
    """RLOO (Ahmadian et al. 2024): each reward minus the mean of the group's other scored members."""
    return _per_group(
        rewards, groups, lambda scored: scored - (scored.sum() - scored) / (len(scored) - 1)
    )


def reinforce_plus_plus(
    rewards: ArrayLike, groups: ArrayLike, epsilon: float = 1e-8
) -> Float64Array:
    """REINFORCE++ with group baseline (Hu et al. 2025): centred in the group, divided by the spread of the batch.

    Per sequence: centred rewards have mean 0 already, so a group without a signal stays at exactly 0.
    """
    centred = group_centred(rewards, groups)
    known = centred[~np.isnan(centred)]
    if len(known) < 2:
        return centred
    spread = float(np.sqrt((known**2).sum() / (len(known) - 1)))
    return centred / (spread + epsilon)


def _per_group(
    rewards: ArrayLike, groups: ArrayLike, estimate: Callable[[Float64Array], Float64Array]
) -> Float64Array:
    values, labels = np.asarray(rewards, np.float64), np.asarray(groups)
    if values.ndim != 1 or values.shape != labels.shape:
        raise ValueError(
            f"Expected one group label per reward, got shapes {values.shape} and {labels.shape}"
        )
    out = np.full_like(values, np.nan)
    for label in np.unique(labels):
        chosen = (labels == label) & ~np.isnan(values)
        scored = values[chosen]
        if len(scored):
            out[chosen] = 0.0 if np.all(scored == scored[0]) else estimate(scored)
    return out
