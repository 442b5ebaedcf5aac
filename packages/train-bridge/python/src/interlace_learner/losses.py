"""Losses as small pure functions over [samples, positions] tensors; none of them knows a model or an optimizer.

A loss is put together from three parts:

    per_token = clip_objective(logprobs, old, advantages, mask)   what each token costs
    per_token = per_token * truncated_importance(...)             optional, for a sampler that differs
    loss      = reduce_per_sample(per_token, mask)                one number for the micro-batch

`advantages` are scaled by the caller (`advantages * sample_weight`), so that the sum of the losses of all
micro-batches is the mean over the N scored samples of the step, whatever the packing. All bounds on the
ratio are absolute: 0.8 and 1.28 are ε_low 0.2 and ε_high 0.28.

Masked positions cost exactly 0 and get exactly no gradient: they are replaced before any exponential, so
that an infinity there can never become NaN.
"""

from __future__ import annotations

import torch
from torch import Tensor

RATIO_LOW, RATIO_HIGH = 0.8, 1.28


def clip_objective(
    logprobs: Tensor,
    old_logprobs: Tensor,
    advantages: Tensor,
    mask: Tensor,
    low: float = RATIO_LOW,
    high: float = RATIO_HIGH,
    dual: float | None = None,
) -> Tensor:
    """−min(r·A, clip(r, low, high)·A) per token (Schulman et al. 2017, bounds apart as in DAPO).

    `dual` (Ye et al. 2020; 10 is usual): where A < 0 the cost is at most `−dual·A`, so that a ratio that ran away on
    a bad token cannot dominate the batch. None = off.
    """
    _check_bounds(low, high)
    ratio = _ratio(logprobs, old_logprobs, mask)
    objective = torch.minimum(ratio * advantages, ratio.clamp(low, high) * advantages)
    if dual is not None:
        if dual <= 1:
            raise ValueError(f"Expected dual to be greater than 1, got {dual}")
        bounded = torch.maximum(objective, dual * advantages)
        objective = torch.where(advantages < 0, bounded, objective)
    return -objective * mask


def gspo_objective(
    logprobs: Tensor,
    old_logprobs: Tensor,
    advantages: Tensor,
    mask: Tensor,
    low: float = 1 - 3e-4,
    high: float = 1 + 4e-4,
) -> Tensor:
    """GSPO (Zheng et al. 2025): one ratio per sequence, the geometric mean of its tokens' ratios.

    Per token so that the reductions are the same: every action token of a sequence carries the sequence's cost, and
    the mean over them is −min(s·A, clip(s, low, high)·A). The bounds are the paper's; they are tight because s is.
    """
    _check_bounds(low, high)
    log_ratio = torch.where(mask > 0, logprobs - old_logprobs, 0.0)
    tokens = mask.sum(-1, keepdim=True).clamp(min=1)
    ratio = (log_ratio.sum(-1, keepdim=True) / tokens).exp()
    objective = torch.minimum(ratio * advantages, ratio.clamp(low, high) * advantages)
    return -objective * mask


def cispo_objective(
    logprobs: Tensor,
    old_logprobs: Tensor,
    advantages: Tensor,
    mask: Tensor,
    low: float = 0.0,
    high: float = RATIO_HIGH,
) -> Tensor:
    """CISPO (MiniMax-M1, 2025): −sg(clip(r, low, high))·A·log p. Clipped tokens keep their gradient; `low` 0 = off."""
    _check_bounds(low, high)
    weight = _ratio(logprobs, old_logprobs, mask).clamp(low, high).detach()
    return -weight * advantages * torch.where(mask > 0, logprobs, 0.0)


def truncated_importance(
    learner_logprobs: Tensor, sampler_logprobs: Tensor, mask: Tensor, cap: float = 2.0
) -> Tensor:
    """min(p_learner / p_sampler, cap) per token, without gradient; 1 where the mask is 0.

    For a sampler whose numbers differ from the learner's (Yao et al. 2025): the ratio of the loss is then taken
    against the learner's own logprobs under the old weights, and each token is multiplied by this.
    """
    if cap <= 0:
        raise ValueError(f"Expected cap to be positive, got {cap}")
    return _ratio(learner_logprobs, sampler_logprobs, mask).clamp(max=cap).detach()


def kl_k1(logprobs: Tensor, reference: Tensor, mask: Tensor) -> Tensor:
    """log p − log q per token: unbiased, may be negative (Schulman 2020, for samples of p)."""
    return _log_ratio(logprobs, reference, mask)


def kl_k2(logprobs: Tensor, reference: Tensor, mask: Tensor) -> Tensor:
    """(log p − log q)² / 2 per token: biased, never negative; its gradient is that of the KL."""
    return _log_ratio(logprobs, reference, mask).square() / 2


def kl_k3(logprobs: Tensor, reference: Tensor, mask: Tensor) -> Tensor:
    """q/p − 1 − log(q/p) per token: unbiased, never negative, low variance."""
    back = -_log_ratio(logprobs, reference, mask)
    return back.exp() - 1 - back


def reduce_per_sample(per_token: Tensor, mask: Tensor) -> Tensor:
    """Mean over a sample's action tokens, then mean over the samples of the batch. The default."""
    tokens = mask.sum(-1)
    _check_tokens(tokens)
    return ((per_token * mask).sum(-1) / tokens).mean()


def reduce_token_sum(per_token: Tensor, mask: Tensor) -> Tensor:
    """Sum over a sample's action tokens, then mean over the samples: long answers weigh more."""
    return (per_token * mask).sum(-1).mean()


def reduce_token_mean(
    per_token: Tensor, mask: Tensor, step_loss_tokens: int, scored_samples: int
) -> Tensor:
    """Mean over all action tokens of the **step** (DAPO): every token weighs the same.

    The advantages carry n_k/N from `sample_weight`; n_k is taken out again here, so that the sum over micro-batches is
    Σ / step_loss_tokens for every packing.
    """
    if step_loss_tokens < 1:
        raise ValueError(f"Expected at least one loss token in the step, got {step_loss_tokens}")
    scale = scored_samples / (step_loss_tokens * per_token.shape[0])
    return (per_token * mask).sum() * scale


def _log_ratio(logprobs: Tensor, other: Tensor, mask: Tensor) -> Tensor:
    return torch.where(mask > 0, logprobs - other, 0.0)


def _ratio(logprobs: Tensor, other: Tensor, mask: Tensor) -> Tensor:
    return _log_ratio(logprobs, other, mask).exp()


def _check_bounds(low: float, high: float) -> None:
    if not 0 <= low <= 1 <= high:
        raise ValueError(f"Expected bounds on the ratio with low ≤ 1 ≤ high, got {low} and {high}")


def _check_tokens(tokens: Tensor) -> None:
    if bool((tokens == 0).any()):
        raise ValueError("Expected an action token in every sample, got a sample without")
