from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import ROW, as_file, make_table

from interlace_learner import SpooledStep, watch


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Two finished steps, and a third whose files are there but whose line is not."""
    for step in range(3):
        add_step(tmp_path, step)
    (tmp_path / "metrics.jsonl").write_text('{"step":0}\n{"step":1}\n{"step":2')
    return tmp_path


def add_step(run: Path, step: int) -> None:
    folder = run / f"step-{step:06d}"
    folder.mkdir()
    row = ROW.but(input_tokens=[step, 20, 30])
    (folder / "datums.arrow").write_bytes(as_file(*make_table([[row]], scored=2)))


def what_is_there(run: Path, first_step: int | None = None) -> list[SpooledStep]:
    return list(watch(run, first_step=first_step, stop=lambda: True))


def acknowledged(run: Path) -> object:
    path = run / "acknowledged.json"
    return json.loads(path.read_text())["acknowledged_steps"] if path.exists() else None


def test_only_finished_steps_are_yielded_in_order_with_their_rows(run: Path) -> None:
    steps = what_is_there(run)
    assert [step.index for step in steps] == [0, 1]
    with steps[1].datums() as datums:
        [batch] = datums.micro_batches()
    assert batch.input_tokens.tolist() == [1, 20, 30]


def test_a_learner_that_died_gets_what_it_had_not_acknowledged(run: Path) -> None:
    first, second = what_is_there(run)
    first.acknowledge()
    assert acknowledged(run) == 1
    assert [step.index for step in what_is_there(run)] == [1]
    first.acknowledge()
    assert acknowledged(run) == 1
    second.acknowledge()
    assert what_is_there(run) == []


def test_it_ends_when_the_engine_says_that_nothing_comes(run: Path) -> None:
    (run / "finished.json").write_text('{"finished_steps": 2}\n')
    assert [step.index for step in watch(run, poll_seconds=0.01)] == [0, 1]


def test_steps_are_acknowledged_in_order(run: Path) -> None:
    _, second = what_is_there(run)
    with pytest.raises(ValueError, match="Expected step 0 to be acknowledged before step 1"):
        second.acknowledge()
    assert acknowledged(run) is None


def test_what_a_checkpoint_holds_counts_as_acknowledged(run: Path) -> None:
    assert [step.index for step in what_is_there(run, first_step=1)] == [1]
    assert acknowledged(run) == 1
    # From an older one: again, and nothing is taken back.
    assert [step.index for step in what_is_there(run, first_step=0)] == [0, 1]
    assert acknowledged(run) == 1


def test_a_learner_of_another_run_is_refused(run: Path) -> None:
    with pytest.raises(ValueError, match="which has 2 steps, got one that trained on 3"):
        what_is_there(run, first_step=3)
    assert acknowledged(run) is None


def test_it_waits_for_the_next_step_and_ends_at_the_last(run: Path) -> None:
    asked = []

    def finish_the_third() -> bool:
        asked.append(1)
        with (run / "metrics.jsonl").open("a") as file:
            file.write("}\n")
        return False

    steps = watch(run, steps=3, stop=finish_the_third, poll_seconds=0)
    assert [step.index for step in steps] == [0, 1, 2]
    assert len(asked) == 1


def test_killed_while_it_writes_the_file_says_the_old_or_the_new(run: Path) -> None:
    source = Path(__file__).parents[1] / "src"
    for point in ("fsync", "replace"):
        (run / "acknowledged.json").unlink(missing_ok=True)
        script = (
            f"import os, sys; sys.path.insert(0, {str(source)!r})\n"
            "from interlace_learner import watch\n"
            f"os.{point} = lambda *_: os.kill(os.getpid(), 9)\n"
            f"next(iter(watch({str(run)!r}))).acknowledge()\n"
        )
        died = subprocess.run([sys.executable, "-c", script], check=False)
        assert died.returncode == -9
        assert acknowledged(run) is None
        assert [step.index for step in what_is_there(run)] == [0, 1]


def test_a_folder_that_is_none_and_a_file_that_lies_are_refused(run: Path) -> None:
    (run / "acknowledged.json").write_text('{"acknowledged_steps": true}')
    with pytest.raises(ValueError, match='"acknowledged_steps": n'):
        what_is_there(run)
    shutil.rmtree(run)
    with pytest.raises(ValueError, match="expected a run folder, got none"):
        what_is_there(run)
