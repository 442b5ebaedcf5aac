from __future__ import annotations

import pytest
from support import ROW, as_file, make_table

from interlace_learner import MicroBatch, open_datums
from interlace_learner.adapters import to_tinker

# Two datums of three scored samples.      mask 1 0 1 and 1 1 1
OTHER = ROW.but(
    input_tokens=[5, 6, 7],
    target_tokens=[6, 7, 8],
    old_logprobs=[-1, -1, -1],
    advantages=[-0.5, -0.5, -0.5],
    loss_mask=[1, 1, 1],
)


def batch() -> MicroBatch:
    with open_datums(as_file(*make_table([[ROW, OTHER]], scored=3))) as step:
        [only] = step.micro_batches()
    return only


def test_tinker_gets_each_datum_with_advantages_that_sum_to_our_mean() -> None:
    first, second = to_tinker(batch())
    assert first["tokens"] == [10, 20, 30]
    inputs = first["loss_fn_inputs"]
    assert inputs["target_tokens"] == {"data": [20, 30, 40], "dtype": "int64", "shape": [3]}
    assert inputs["logprobs"]["data"] == [-0.5, 0, -2]
    # 1.5 / (2 tokens · 3 samples), and 0 where nothing was sampled.
    assert inputs["advantages"]["data"] == pytest.approx([0.25, 0, 0.25])
    assert second["loss_fn_inputs"]["advantages"]["data"] == pytest.approx([-0.5 / 9] * 3)


def test_tinker_takes_them_for_its_own() -> None:
    tinker = pytest.importorskip("tinker")
    for plain in to_tinker(batch()):
        datum = tinker.Datum(
            model_input=tinker.ModelInput.from_ints(plain["tokens"]),
            loss_fn_inputs={k: tinker.TensorData(**v) for k, v in plain["loss_fn_inputs"].items()},
        )
        assert datum.model_input.to_ints() == plain["tokens"]
        for name, expected in plain["loss_fn_inputs"].items():
            seen = datum.loss_fn_inputs[name].to_numpy()
            assert str(seen.dtype) == expected["dtype"]
            assert seen.tolist() == pytest.approx(expected["data"], rel=1e-6)
