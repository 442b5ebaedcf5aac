from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from support import ROW, as_stream, make_table

from interlace_learner import MicroBatch, open_datums, pad, read_micro_batch, slices

PER_TOKEN = ("input_tokens", "target_tokens", "old_logprobs", "advantages", "loss_mask")

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


def test_nothing_is_widened_and_all_of_it_is_one_block() -> None:
    padded = pad(batch_of_two())
    arrays = [getattr(padded, name) for name in PER_TOKEN]
    assert [each.dtype for each in arrays] == [np.int32] * 2 + [np.float32] * 2 + [np.uint8]
    assert sum(each.nbytes for each in arrays) == 2 * 3 * 17
    assert all(each.flags.c_contiguous and each.flags.writeable for each in arrays)
    for first, second in pairwise(arrays):
        assert not np.shares_memory(first, second)


@pytest.mark.parametrize("multiple", [1, 7])
def test_any_lengths_are_padded_as_row_by_row_in_plain_python(multiple: int) -> None:
    draw = np.random.default_rng(4)
    lengths = [int(n) for n in draw.integers(1, 30, 12)]
    rows = [
        ROW.but(
            input_tokens=draw.integers(0, 512, n).tolist(),
            target_tokens=draw.integers(0, 512, n).tolist(),
            old_logprobs=(-draw.random(n)).tolist(),
            advantages=[0.5] * n,
            loss_mask=[1] * n,
        )
        for n in lengths
    ]
    with open_datums(as_stream(*make_table([rows], scored=12))) as step:
        # A slice, as another reader may hand it over: its offsets do not begin at 0.
        [whole] = step.micro_batches()
        part = read_micro_batch(whole.table.slice(5), 0, step.facts)
    width = -(-max(lengths[5:]) // multiple) * multiple
    padded = pad(part, pad_id=9, multiple=multiple)
    for name in PER_TOKEN:
        filler = 9 if name.endswith("_tokens") else 0
        expected = [
            [*getattr(row, name), *[filler] * (width - n)]
            for row, n in zip(rows[5:], lengths[5:], strict=True)
        ]
        seen = getattr(padded, name)
        assert seen.tolist() == np.array(expected, seen.dtype).tolist()


def test_the_width_can_be_rounded_up() -> None:
    padded = pad(batch_of_two(), multiple=8)
    assert padded.input_tokens.shape == (2, 8)
    assert padded.loss_mask[:, 3:].sum() == 0
    with pytest.raises(ValueError, match="at least 1, got 0"):
        pad(batch_of_two(), multiple=0)


def rows_of(lengths: list[int]) -> MicroBatch:
    rows = [
        ROW.but(
            input_tokens=[i] * n,
            target_tokens=[i] * n,
            old_logprobs=[-1] * n,
            advantages=[1] * n,
            loss_mask=[1] * n,
        )
        for i, n in enumerate(lengths)
    ]
    with open_datums(as_stream(*make_table([rows], scored=len(rows)))) as step:
        return next(step.micro_batches())


def test_chosen_rows_are_padded_in_the_order_asked_for() -> None:
    padded = pad(rows_of([3, 1, 2]), rows=[2, 1])
    assert padded.input_tokens.tolist() == [[2, 2], [1, 0]]
    assert padded.loss_mask.tolist() == [[1, 1], [1, 0]]


def test_slices_hold_every_row_once_and_no_more_than_asked_for() -> None:
    lengths = [int(n) for n in np.random.default_rng(1).integers(1, 40, 60)]
    lengths[7] = 200
    found = list(slices(rows_of(lengths), tokens=100))
    assert sorted(row for rows in found for row in rows) == list(range(60))
    # The one that is longer than a slice stands alone, and first.
    assert found[0] == [7]
    for rows in found[1:]:
        widths = [lengths[row] for row in rows]
        assert widths == sorted(widths, reverse=True)
        assert len(rows) * widths[0] <= 100
