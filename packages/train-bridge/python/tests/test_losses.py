from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from interlace_learner.losses import (
    cispo_objective,
    clip_objective,
    gspo_objective,
    kl_k1,
    kl_k2,
    kl_k3,
    reduce_per_sample,
    reduce_token_mean,
    reduce_token_sum,
    truncated_importance,
)

OLD = torch.tensor([[-1.0, -1.0, -1.0, -1.0]], dtype=torch.float64)
MASK = torch.tensor([[1.0, 1.0, 1.0, 0.0]], dtype=torch.float64)


def at_ratios(*ratios: float) -> Tensor:
    return (OLD + torch.tensor([ratios], dtype=torch.float64).log()).requires_grad_()


def advantages(value: float) -> Tensor:
    return torch.full((1, 4), value, dtype=torch.float64) * MASK


def gradient(loss: Tensor, of: Tensor) -> list[float]:
    (found,) = torch.autograd.grad(loss.sum(), of)
    return found[0].tolist()


class TestClip:
    def test_a_good_token_is_cut_above_only(self) -> None:
        logprobs = at_ratios(0.5, 1.1, 2.0, 7.0)
        loss = clip_objective(logprobs, OLD, advantages(2), MASK)
        # −min(r·2, clip(r)·2)
        assert loss[0].tolist() == pytest.approx([-1.0, -2.2, -2.56, 0.0])
        # d/dlogp of −r·A is −r·A; a cut token has none.
        assert gradient(loss, logprobs) == pytest.approx([-1.0, -2.2, 0.0, 0.0])

    def test_a_bad_token_is_cut_below_only(self) -> None:
        logprobs = at_ratios(0.5, 1.1, 2.0, 7.0)
        loss = clip_objective(logprobs, OLD, advantages(-2), MASK)
        assert loss[0].tolist() == pytest.approx([1.6, 2.2, 4.0, 0.0])
        assert gradient(loss, logprobs) == pytest.approx([0.0, 2.2, 4.0, 0.0])

    def test_dual_bounds_what_a_bad_token_can_cost(self) -> None:
        logprobs = at_ratios(9.0, 10.5, 1.0, 1.0)
        loss = clip_objective(logprobs, OLD, advantages(-1), MASK, dual=10)
        assert loss[0].tolist() == pytest.approx([9.0, 10.0, 1.0, 0.0])
        assert gradient(loss, logprobs) == pytest.approx([9.0, 0.0, 1.0, 0.0])
        good = clip_objective(at_ratios(20.0, 1, 1, 1), OLD, advantages(1), MASK, dual=10)
        assert good[0].tolist() == pytest.approx([-1.28, -1.0, -1.0, 0.0])
        with pytest.raises(ValueError, match="dual to be greater than 1"):
            clip_objective(OLD, OLD, advantages(1), MASK, dual=1)

    def test_the_first_update_has_ratio_1_and_the_policy_gradient(self) -> None:
        logprobs = OLD.clone().requires_grad_()
        loss = clip_objective(logprobs, OLD, advantages(1.5), MASK)
        assert loss[0].tolist() == [-1.5, -1.5, -1.5, 0.0]
        assert gradient(loss, logprobs) == [-1.5, -1.5, -1.5, 0.0]

    def test_bounds_must_hold_1(self) -> None:
        for low, high in [(1.1, 1.2), (0.8, 0.9), (-0.1, 1.2)]:
            with pytest.raises(ValueError, match="low ≤ 1 ≤ high"):
                clip_objective(OLD, OLD, advantages(1), MASK, low, high)


class TestOtherObjectives:
    def test_gspo_has_one_ratio_per_sequence(self) -> None:
        # Geometric mean of 2, 4, 1: 2.
        logprobs = at_ratios(2.0, 4.0, 1.0, 9.0)
        loss = gspo_objective(logprobs, OLD, advantages(1), MASK, low=0.5, high=3)
        assert loss[0].tolist() == pytest.approx([-2.0, -2.0, -2.0, 0.0])
        # Mean over the sequence: s·A / |y| for each of its tokens.
        each = reduce_per_sample(loss, MASK)
        assert gradient(each, logprobs) == pytest.approx([-2 / 3, -2 / 3, -2 / 3, 0.0])
        cut = gspo_objective(at_ratios(2.0, 4.0, 1.0, 9.0), OLD, advantages(1), MASK)
        assert cut[0].tolist() == pytest.approx([-1.0004] * 3 + [0.0])

    def test_cispo_keeps_the_gradient_of_cut_tokens(self) -> None:
        logprobs = at_ratios(0.5, 1.0, 4.0, 9.0)
        loss = cispo_objective(logprobs, OLD, advantages(2), MASK)
        assert gradient(loss, logprobs) == pytest.approx([-1.0, -2.0, -2.56, 0.0])
        expected = [-1.0 * (-1 + math.log(0.5)), 2.0, -2.56 * (-1 + math.log(4)), 0.0]
        assert loss[0].tolist() == pytest.approx(expected)

    def test_truncated_importance_is_a_weight_without_gradient(self) -> None:
        learner = at_ratios(0.5, 1.0, 4.0, 9.0)
        weight = truncated_importance(learner, OLD, MASK, cap=2)
        assert weight[0].tolist() == pytest.approx([0.5, 1.0, 2.0, 1.0])
        assert not weight.requires_grad
        with pytest.raises(ValueError, match="cap to be positive"):
            truncated_importance(learner, OLD, MASK, cap=0)

    def test_kl_estimates(self) -> None:
        logprobs = at_ratios(2.0, 1.0, 0.5, 9.0)
        log2 = math.log(2)
        assert kl_k1(logprobs, OLD, MASK)[0].tolist() == pytest.approx([log2, 0, -log2, 0])
        k2 = kl_k2(logprobs, OLD, MASK)
        assert k2[0].tolist() == pytest.approx([log2**2 / 2, 0, log2**2 / 2, 0])
        # q/p − 1 − log(q/p)
        k3 = kl_k3(logprobs, OLD, MASK)
        assert k3[0].tolist() == pytest.approx([0.5 - 1 + log2, 0, 2 - 1 - log2, 0])
        assert gradient(k3, logprobs) == pytest.approx([0.5, 0, -1, 0])

    def test_kl_estimates_agree_with_the_divergence(self) -> None:
        p = torch.tensor([0.7, 0.2, 0.1], dtype=torch.float64)
        q = torch.tensor([0.5, 0.25, 0.25], dtype=torch.float64)
        exact = float((p * (p / q).log()).sum())
        ones = torch.ones(3, dtype=torch.float64)
        # The expectation over p of each unbiased estimate is the divergence itself.
        for estimate in (kl_k1, kl_k3):
            assert float((p * estimate(p.log(), q.log(), ones)).sum()) == pytest.approx(exact)


class TestMaskedPositions:
    @pytest.mark.parametrize("objective", [clip_objective, gspo_objective, cispo_objective])
    @pytest.mark.parametrize("junk", [0.0, -5.0, -math.inf, 50.0])
    def test_cost_nothing_and_get_exactly_no_gradient(self, objective: object, junk: float) -> None:
        assert callable(objective)
        logprobs = torch.tensor([[-1.2, -0.9, -1.0, junk]], dtype=torch.float64, requires_grad=True)
        unmasked_junk = torch.tensor([[1.0, 1.0, 1.0, 3.0]], dtype=torch.float64)
        loss = objective(logprobs, OLD, unmasked_junk, MASK)
        found = gradient(reduce_per_sample(loss, MASK), logprobs)
        assert loss[0, 3] == 0
        assert found[3] == 0
        assert all(math.isfinite(value) and value != 0 for value in found[:3])


class TestReductions:
    per_token = torch.tensor([[1.0, 2.0, 3.0], [4.0, 9.0, 9.0]])
    mask = torch.tensor([[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]])

    def test_values(self) -> None:
        assert float(reduce_per_sample(self.per_token, self.mask)) == pytest.approx((2 + 4) / 2)
        assert float(reduce_token_sum(self.per_token, self.mask)) == pytest.approx((6 + 4) / 2)
        # Advantages of this batch carry 2/8; the step has 10 loss tokens and 8 scored samples.
        scaled = self.per_token * 2 / 8
        assert float(reduce_token_mean(scaled, self.mask, 10, 8)) == pytest.approx((6 + 4) / 10)

    def test_a_sample_without_action_tokens_is_refused(self) -> None:
        with pytest.raises(ValueError, match="an action token in every sample"):
            reduce_per_sample(self.per_token, torch.zeros(2, 3))
        with pytest.raises(ValueError, match="at least one loss token"):
            reduce_token_mean(self.per_token, self.mask, 0, 8)
