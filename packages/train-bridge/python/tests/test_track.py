"""Trackers by what they call: modules of their names that write down every call."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

RECORDER = """
import json, os
def _record(name):
    def call(*args, **kwargs):
        with open(os.environ["CALLS"], "a") as file:
            file.write(json.dumps([name, list(args), kwargs]) + "\\n")
        if name == "log" and os.environ.get("BROKEN"):
            raise RuntimeError("no network")
        print("welcome to " + __name__)
        return _Run()
    return call
class _Run:
    def __getattr__(self, name):
        return _record(name)
def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _record(name)
"""
CONFIG = {"train.max_steps": 2, "data.path": None}
LOG = {"type": "log", "step": 0, "metrics": {"reward/mean": 0.5}}


def opening(kind: str, folder: Path, mode: str = "offline") -> dict[str, Any]:
    run = {"project": "retool", "run": "run-1", "mode": mode, "folder": str(folder)}
    return {"type": "open", "kind": kind, **run, "config": CONFIG}


def track(
    folder: Path, *requests: dict[str, Any], module: str | None = None, **env: str
) -> tuple[list[dict[str, Any]], list[Any]]:
    """Answers of the process, and the calls that the tracker's library got."""
    modules = folder / "modules"
    if module is not None:
        modules.mkdir()
        (modules / f"{module}.py").write_text(RECORDER)
    source = Path(__file__).parents[1] / "src"
    calls = folder / "calls"
    clean = {name: value for name, value in os.environ.items() if name != "MLFLOW_TRACKING_URI"}
    done = subprocess.run(
        [sys.executable, "-m", "interlace_learner.track"],
        input="".join(json.dumps(each) + "\n" for each in requests),
        capture_output=True,
        text=True,
        check=True,
        env={**clean, "PYTHONPATH": f"{source}:{modules}", "CALLS": str(calls), **env},
    )
    seen = [json.loads(line) for line in calls.read_text().splitlines()] if calls.exists() else []
    return [json.loads(line) for line in done.stdout.splitlines()], seen


def closing(failed: bool) -> dict[str, Any]:
    return {"type": "close", "failed": failed}


@pytest.mark.parametrize("failed", [False, True])
def test_wandb(failed: bool, tmp_path: Path) -> None:
    answers, calls = track(
        tmp_path, opening("wandb", tmp_path), LOG, closing(failed), module="wandb"
    )
    assert [each["type"] for each in answers] == ["opened", "logged", "closed"]
    facts = {"project": "retool", "name": "run-1", "id": "run-1", "resume": "allow"}
    assert calls == [
        ["init", [], {**facts, "config": CONFIG, "mode": "offline", "dir": str(tmp_path)}],
        ["log", [{"reward/mean": 0.5}], {"step": 0}],
        ["finish", [], {"exit_code": int(failed)}],
    ]


@pytest.mark.parametrize(("mode", "theirs"), [("online", "cloud"), ("offline", "offline")])
def test_swanlab(mode: str, theirs: str, tmp_path: Path) -> None:
    requests = (opening("swanlab", tmp_path, mode), LOG, closing(False))
    _, calls = track(tmp_path, *requests, module="swanlab")
    facts = {"project": "retool", "experiment_name": "run-1", "config": CONFIG}
    assert calls == [
        ["init", [], {**facts, "mode": theirs, "logdir": str(tmp_path / "swanlab")}],
        ["log", [{"reward/mean": 0.5}], {"step": 0}],
        ["finish", [], {}],
    ]


def test_mlflow_gets_the_configuration_in_pieces_that_it_takes(tmp_path: Path) -> None:
    many = {f"setting.{i}": i for i in range(150)}
    request = {**opening("mlflow", tmp_path), "config": many}
    _, calls = track(tmp_path, request, LOG, closing(True), module="mlflow")
    assert [name for name, *_ in calls] == [
        *("set_tracking_uri", "set_experiment", "start_run", "log_params", "log_params"),
        *("log_metrics", "end_run"),
    ]
    assert [len(calls[i][1][0]) for i in (3, 4)] == [100, 50]
    assert calls[-1][2] == {"status": "FAILED"}


def test_mlflow_online_needs_its_server(tmp_path: Path) -> None:
    [answer], calls = track(tmp_path, opening("mlflow", tmp_path, "online"), module="mlflow")
    assert "Expected MLFLOW_TRACKING_URI" in answer["message"]
    assert calls == []


def test_an_engine_that_is_gone_closes_the_run_as_failed(tmp_path: Path) -> None:
    _, calls = track(tmp_path, opening("wandb", tmp_path), LOG, module="wandb")
    assert calls[-1] == ["finish", [], {"exit_code": 1}]


def test_a_tracker_out_of_reach_is_told_and_closed_all_the_same(tmp_path: Path) -> None:
    requests = (opening("wandb", tmp_path), LOG, closing(False))
    answers, calls = track(tmp_path, *requests, module="wandb", BROKEN="1")
    assert [each["type"] for each in answers] == ["opened", "error", "closed"]
    assert answers[1]["message"] == "no network"
    assert calls[-1][0] == "finish"


@pytest.mark.parametrize("kind", ["wandb", "swanlab", "mlflow"])
def test_a_missing_library_is_named_with_how_to_get_it(kind: str, tmp_path: Path) -> None:
    [answer], _ = track(tmp_path, opening(kind, tmp_path))
    assert f"pip install 'interlace-learner[{kind}]'" in answer["message"]


def test_what_is_no_tracker_is_refused(tmp_path: Path) -> None:
    requests = (opening("comet", tmp_path), opening("wandb", tmp_path, "disabled"), LOG)
    messages = [each["message"] for each in track(tmp_path, *requests)[0]]
    assert "among mlflow, swanlab, tensorboard, wandb, got comet" in messages[0]
    assert "mode online or offline, got disabled" in messages[1]
    assert "Expected open, then log or close" in messages[2]


def test_tensorboard_writes_what_tensorboard_reads(tmp_path: Path) -> None:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    track(tmp_path, opening("tensorboard", tmp_path), LOG, closing(False))
    events = accumulator.EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    [scalar] = events.Scalars("reward/mean")
    assert (scalar.step, scalar.value) == (0, 0.5)
    assert "config/text_summary" in events.Tags()["tensors"]
