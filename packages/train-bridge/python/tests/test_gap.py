from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from policy_rows import draw_rows
from support import POLICY, Row, as_file, make_table

from interlace_learner.gap import find_datums, main, measure_gap
from interlace_learner.reference import Learner, LearnerConfig, Llama


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    model = Learner(POLICY, LearnerConfig()).model
    assert isinstance(model, Llama)
    return draw_rows(model, 6)


def write(path: Path, rows: list[Row], **metadata: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(as_file(*make_table([rows], 8, **metadata)))
    return path


def shifted(rows: list[Row], by: list[float]) -> list[Row]:
    """The sampler says less than the policy does, token by token."""
    at = iter(by)
    return [
        row.but(
            old_logprobs=[
                float(np.float32(value - next(at))) if bit else 0.0
                for value, bit in zip(row.old_logprobs, row.loss_mask, strict=True)
            ]
        )
        for row in rows
    ]


def test_the_policy_that_sampled_has_no_gap(rows: list[Row], tmp_path: Path) -> None:
    gap = measure_gap([write(tmp_path / "a", rows)], POLICY)
    assert gap.tokens == sum(sum(row.loss_mask) for row in rows)
    assert gap.max < 1e-4


def test_known_shifts_are_found(rows: list[Row], tmp_path: Path) -> None:
    tokens = sum(sum(row.loss_mask) for row in rows)
    # One token is 2 nats off, all others a quarter.
    shifts = [0.25] * (tokens - 1) + [-2.0]
    gap = measure_gap([write(tmp_path / "a", shifted(rows, shifts))], POLICY)
    assert gap.max == pytest.approx(2, abs=1e-4)
    assert gap.mean == pytest.approx((0.25 * (tokens - 1) + 2) / tokens, abs=1e-4)
    assert gap.bias == pytest.approx((0.25 * (tokens - 1) - 2) / tokens, abs=1e-4)
    # Linear between the two largest, as quantiles are.
    position = 0.999 * (tokens - 1) - (tokens - 2)
    assert gap.quantile_999 == pytest.approx(0.25 + 1.75 * max(0, position), abs=1e-3)


def test_the_temperature_is_the_files_or_the_callers(rows: list[Row], tmp_path: Path) -> None:
    path = write(tmp_path / "a", rows, temperature="0.5", logprob_kind="temperature_scaled")
    assert measure_gap([path], POLICY).mean > 0.1
    assert measure_gap([path], POLICY, temperature=1.0).max < 1e-4


def test_of_a_run_the_first_step_is_measured(
    rows: list[Row], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "step-000000/datums.arrow", rows)
    write(tmp_path / "step-000001/datums.arrow", shifted(rows, [math.log(2)] * 1000))
    (tmp_path / "metrics.jsonl").write_text("{}\n{}\n")
    assert main([str(tmp_path), str(POLICY)]) == 0
    assert json.loads(capsys.readouterr().out)["max"] < 1e-4
    assert main([str(tmp_path), str(POLICY), "--step", "1"]) == 0
    assert json.loads(capsys.readouterr().out)["bias"] == pytest.approx(math.log(2), abs=1e-4)
    assert main([str(tmp_path), str(POLICY), "--step", "2"]) == 1
    assert "Expected steps below 2" in capsys.readouterr().err


def test_nothing_to_compare_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.write_bytes(as_file(*make_table([], 8)))
    assert find_datums(path) == [path]
    with pytest.raises(ValueError, match="Expected a step with datums, got none"):
        measure_gap([path], POLICY)
