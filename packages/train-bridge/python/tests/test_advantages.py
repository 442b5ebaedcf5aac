from __future__ import annotations

import numpy as np
import pytest

from interlace_learner import dr_grpo, group_centred, grpo_std, reinforce_plus_plus, rloo

NAN = float("nan")
# Two right of eight; the second group is unanimous; the third has one unscored member.
REWARDS = [1, 1, -1, -1, -1, -1, -1, -1, 1, 1, 1, -1, NAN]
GROUPS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 2]


def test_group_centred_is_the_worked_example() -> None:
    seen = group_centred(REWARDS, GROUPS)
    np.testing.assert_array_equal(seen, [1.5, 1.5, *[-0.5] * 6, 0, 0, 1, -1, NAN])
    np.testing.assert_array_equal(dr_grpo(REWARDS, GROUPS), seen)


def test_grpo_divides_by_the_deviation_with_bessels_correction() -> None:
    # Group 0: mean −0.5, squares 2·1.5² + 6·0.5² = 6, std √(6/7).
    std = np.sqrt(6 / 7) + 1e-6
    pair = np.sqrt(2) + 1e-6
    expected = [1.5 / std, 1.5 / std, *[-0.5 / std] * 6, 0, 0, 1 / pair, -1 / pair, NAN]
    np.testing.assert_allclose(grpo_std(REWARDS, GROUPS), expected, rtol=1e-12)


def test_rloo_leaves_each_one_out() -> None:
    # Group 0, right: 1 − (1 − 6)/7; wrong: −1 − (2 − 5)/7.
    expected = [1 + 5 / 7, 1 + 5 / 7, *[-1 + 3 / 7] * 6, 0, 0, 2, -2, NAN]
    np.testing.assert_allclose(rloo(REWARDS, GROUPS), expected, rtol=1e-12)


def test_reinforce_plus_plus_divides_by_the_spread_of_the_batch() -> None:
    # Centred squares: 6 + 0 + 2 over 12 scored.
    spread = np.sqrt(8 / 11) + 1e-8
    expected = np.array([1.5, 1.5, *[-0.5] * 6, 0, 0, 1, -1, NAN]) / spread
    np.testing.assert_allclose(reinforce_plus_plus(REWARDS, GROUPS), expected, rtol=1e-12)


@pytest.mark.parametrize("estimate", [group_centred, grpo_std, rloo, reinforce_plus_plus])
class TestEveryEstimator:
    def test_a_group_without_a_signal_gets_exactly_0(self, estimate: object) -> None:
        assert callable(estimate)
        # Three times 0.1 has a mean that is not 0.1.
        assert estimate([0.1, 0.1, 0.1, 5.0], [0, 0, 0, 1]).tolist() == [0, 0, 0, 0]

    def test_labels_need_no_order(self, estimate: object) -> None:
        assert callable(estimate)
        together = estimate([1, -1, -1, 1, 1, -1], ["a", "a", "a", "b", "b", "b"])
        apart = estimate([1, 1, -1, 1, -1, -1], ["a", "b", "a", "b", "a", "b"])
        np.testing.assert_array_equal(apart, together[[0, 3, 1, 4, 2, 5]])

    def test_unscored_members_change_nothing(self, estimate: object) -> None:
        assert callable(estimate)
        plain = estimate([1, -1, -1], [0, 0, 0])
        np.testing.assert_array_equal(estimate([1, NAN, -1, -1], [0, 0, 0, 0])[[0, 2, 3]], plain)

    def test_shapes_must_agree(self, estimate: object) -> None:
        assert callable(estimate)
        with pytest.raises(ValueError, match="one group label per reward"):
            estimate([1, 2], [0])
