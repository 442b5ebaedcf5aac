from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from policy_rows import draw_rows
from support import POLICY, as_file, make_table

from interlace_learner.__main__ import serve
from interlace_learner.reference import Learner, LearnerConfig

Request = dict[str, Any] | str


def as_lines(requests: tuple[Request, ...]) -> str:
    lines = [each if isinstance(each, str) else json.dumps(each) for each in requests]
    return "".join(f"{line}\n" for line in lines)


def talk(*requests: Request) -> list[dict[str, Any]]:
    answers = io.StringIO()
    serve(io.StringIO(as_lines(requests)), answers)
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def talk_to_process(*requests: Request) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "interlace_learner"],
        input=as_lines(requests),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")},
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_whole_conversation(tmp_path: Path) -> None:
    rows = draw_rows(Learner(POLICY, LearnerConfig()).model, 4)
    datums = tmp_path / "datums.arrow"
    datums.write_bytes(as_file(*make_table([rows], scored=8)))
    weights, state = str(tmp_path / "weights"), str(tmp_path / "state")
    answers = talk_to_process(
        {"type": "open", "policy": str(POLICY), "config": {"learning_rate": 1e-3}},
        {"type": "update", "datums": str(datums)},
        {"type": "export", "weights": weights},
        {"type": "save", "state": state, "cursor": {"step": 1}},
        {"type": "update", "datums": str(datums)},
    )
    ready, updated, exported, saved, again = answers
    assert ready == {"type": "ready", "step": 0, "cursor": None}
    assert (updated["type"], updated["step"], updated["skipped"]) == ("updated", 1, False)
    assert updated["metrics"]["learning_rate"] == 1e-3
    assert exported == {"type": "exported", "weights": weights, "version": exported["version"]}
    assert saved == {"type": "saved", "state": state}
    resumed, repeated = talk(
        {"type": "resume", "state": state}, {"type": "update", "datums": str(datums)}
    )
    assert resumed == {"type": "ready", "step": 1, "cursor": {"step": 1}}
    assert repeated == again


def test_errors_are_answers_and_the_process_goes_on(tmp_path: Path) -> None:
    answers = talk(
        {"type": "update", "datums": "x"},
        "not json",
        "[1]",
        {"type": "dance"},
        {"type": "open", "policy": str(tmp_path)},
        {"type": "open", "policy": str(POLICY), "config": {"lr": 1}},
        {"type": "open", "policy": str(POLICY)},
        {"type": "update", "datums": str(tmp_path / "none.arrow")},
    )
    kinds = [answer["type"] for answer in answers]
    assert kinds == ["error"] * 6 + ["ready", "error"]
    messages = [answer.get("message", "") for answer in answers]
    assert "Expected open or resume first" in messages[0]
    assert "Expected a JSON object a line" in messages[2]
    assert "Expected open, resume, update, export or save" in messages[3]
    assert "config.json" in messages[4]
    assert "got lr" in messages[5]
    assert "none.arrow" in messages[7]
