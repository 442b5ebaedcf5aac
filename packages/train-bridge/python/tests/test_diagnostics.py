from __future__ import annotations

import math

import pytest

from interlace_learner import describe_ratios, merge_descriptions

OLD = [-1.0, -1.0, -1.0, -1.0, -1.0]
NEW = [-1 + math.log(r) for r in (0.5, 0.5, 2.0, 2.0, 99.0)]
MASK = [1, 1, 1, 1, 0]


def test_counts_tokens_whose_gradient_the_clip_removes() -> None:
    seen = describe_ratios(NEW, OLD, [-1, 1, -1, 1, 0], MASK)
    assert seen["tokens"] == 4
    # Below the bound and bad; above it and good. The other two are outside but not cut.
    assert (seen["clip_fraction_low"], seen["clip_fraction_high"]) == (0.25, 0.25)
    assert (seen["ratio_min"], seen["ratio_max"]) == pytest.approx((0.5, 2.0))
    assert seen["ratio_mean"] == pytest.approx(1.25)
    assert seen["kl_k1"] == pytest.approx(0.0)
    assert seen["kl_k3"] == pytest.approx(1.25 - 1)
    assert seen["effective_samples"] == pytest.approx(5**2 / (4 * (0.25 * 2 + 4 * 2)))
    assert seen["logprob_difference_max"] == pytest.approx(math.log(2))
    assert seen["negative_logprob_mean"] == 1.0


def test_the_same_policy_has_ratio_1() -> None:
    seen = describe_ratios(OLD, OLD, [1] * 5, MASK)
    assert (seen["ratio_mean"], seen["ratio_max"], seen["effective_samples"]) == (1, 1, 1)
    assert (seen["kl_k1"], seen["kl_k3"], seen["clip_fraction_high"]) == (0, 0, 0)


def test_nothing_to_describe_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one action token"):
        describe_ratios(OLD, OLD, OLD, [0] * 5)


def test_a_step_is_its_tokens_not_its_batches() -> None:
    merged = merge_descriptions(
        [
            {"tokens": 1.0, "ratio_mean": 1.0, "ratio_max": 3.0, "ratio_min": 0.5},
            {"tokens": 3.0, "ratio_mean": 2.0, "ratio_max": 2.0, "ratio_min": 0.25},
        ]
    )
    assert merged == {"tokens": 4, "ratio_mean": 1.75, "ratio_max": 3, "ratio_min": 0.25}
    assert merge_descriptions([]) == {}
