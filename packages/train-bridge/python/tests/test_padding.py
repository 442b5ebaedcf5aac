from __future__ import annotations

import numpy as np
import pytest
from support import ROW, as_stream, make_table

from interlace_learner import MicroBatch, open_datums, pad

SHORT = ROW.but(
    input_tokens=[7],
    target_tokens=[8],
    old_logprobs=[-1],
    advantages=[-0.5],
    loss_mask=[1],
)


def batch_of_two() -> MicroBatch:
    with open_datums(as_stream(*make_table([[ROW, SHORT]], scored=2))) as step:
        return next(step.micro_batches())


def test_rows_are_padded_on_the_right_without_any_signal() -> None:
    padded = pad(batch_of_two(), pad_id=505)
    assert padded.input_tokens.tolist() == [[10, 20, 30], [7, 505, 505]]
    assert padded.target_tokens.tolist() == [[20, 30, 40], [8, 505, 505]]
    assert padded.old_logprobs.tolist() == [[-0.5, 0, -2], [-1, 0, 0]]
    assert padded.advantages.tolist() == [[1.5, 0, 1.5], [-0.5, 0, 0]]
    assert padded.loss_mask.tolist() == [[1, 0, 1], [1, 0, 0]]
    assert padded.sample_weight == 1.0
    assert padded.input_tokens.dtype == np.int64


def test_the_width_can_be_rounded_up() -> None:
    padded = pad(batch_of_two(), multiple=8)
    assert padded.input_tokens.shape == (2, 8)
    assert padded.loss_mask[:, 3:].sum() == 0
    with pytest.raises(ValueError, match="at least 1, got 0"):
        pad(batch_of_two(), multiple=0)
