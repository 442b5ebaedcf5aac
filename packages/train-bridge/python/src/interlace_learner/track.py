"""Metrics to a tracker, as a process beside the run: `python -m interlace_learner.track`, one JSON object a line.

    {"type": "open", "kind": "wandb", "project": …, "run": …, "mode": "online", "folder": DIR, "config": {…}}
                                                   → {"type": "opened"}
    {"type": "log", "step": 0, "metrics": {…}}     → {"type": "logged"}
    {"type": "close", "failed": false}             → {"type": "closed"}

A request that fails is answered `{"type": "error", "message": …}`, and the process goes on. The end of the input
without a close closes the tracker's run as failed: the engine is gone. `metrics.jsonl` needs no tracker.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TextIO

Metrics = Mapping[str, float]
PARAMETERS_PER_CALL = 100
"""Most that MLflow takes at once."""


class Tracker(Protocol):
    def log(self, step: int, metrics: Metrics) -> None: ...
    def close(self, failed: bool) -> None: ...


@dataclass(frozen=True, slots=True)
class Opening:
    kind: str
    project: str
    run: str
    mode: str
    """`online` | `offline`; a disabled tracker is not opened."""
    folder: Path
    """Where a tracker may put its files."""
    config: Mapping[str, Any]
    """The whole resolved configuration, dotted names."""


class WandbTracker:
    def __init__(self, opening: Opening) -> None:
        wandb = _library("wandb", "wandb")
        self._run = wandb.init(
            project=opening.project,
            name=opening.run,
            # A resumed run goes on in the same curve.
            id=opening.run,
            resume="allow",
            config=dict(opening.config),
            mode=opening.mode,
            dir=str(opening.folder),
        )

    def log(self, step: int, metrics: Metrics) -> None:
        self._run.log(dict(metrics), step=step)

    def close(self, failed: bool) -> None:
        self._run.finish(exit_code=1 if failed else 0)


class SwanlabTracker:
    def __init__(self, opening: Opening) -> None:
        self._swanlab = _library("swanlab", "swanlab")
        self._swanlab.init(
            project=opening.project,
            experiment_name=opening.run,
            config=dict(opening.config),
            mode="cloud" if opening.mode == "online" else "offline",
            logdir=str(opening.folder / "swanlab"),
        )

    def log(self, step: int, metrics: Metrics) -> None:
        self._swanlab.log(dict(metrics), step=step)

    def close(self, failed: bool) -> None:
        if failed:
            self._swanlab.finish(state="crashed", error="The run failed")
        else:
            self._swanlab.finish()


class MlflowTracker:
    def __init__(self, opening: Opening) -> None:
        self._mlflow = _library("mlflow", "mlflow")
        if opening.mode == "offline":
            self._mlflow.set_tracking_uri((opening.folder / "mlflow").resolve().as_uri())
        elif "MLFLOW_TRACKING_URI" not in os.environ:
            raise ValueError(
                "Expected MLFLOW_TRACKING_URI to name the MLflow server, got none; set it, or take "
                "--tracker-mode offline for files in the run folder"
            )
        self._mlflow.set_experiment(opening.project)
        self._mlflow.start_run(run_name=opening.run)
        values = [(name, json.dumps(value)) for name, value in opening.config.items()]
        for start in range(0, len(values), PARAMETERS_PER_CALL):
            self._mlflow.log_params(dict(values[start : start + PARAMETERS_PER_CALL]))

    def log(self, step: int, metrics: Metrics) -> None:
        self._mlflow.log_metrics(dict(metrics), step=step)

    def close(self, failed: bool) -> None:
        self._mlflow.end_run(status="FAILED" if failed else "FINISHED")


class TensorboardTracker:
    """Files only; online is the same."""

    def __init__(self, opening: Opening) -> None:
        library = _library("torch.utils.tensorboard", "tensorboard")
        self._writer = library.SummaryWriter(log_dir=str(opening.folder / "tensorboard"))
        text = json.dumps(dict(opening.config), indent=1)
        self._writer.add_text("config", f"```\n{text}\n```", 0)

    def log(self, step: int, metrics: Metrics) -> None:
        for name, value in metrics.items():
            self._writer.add_scalar(name, value, step)
        self._writer.flush()

    def close(self, failed: bool) -> None:
        self._writer.add_text("end", "failed" if failed else "complete", 0)
        self._writer.close()


TRACKERS: dict[str, Callable[[Opening], Tracker]] = {
    "wandb": WandbTracker,
    "swanlab": SwanlabTracker,
    "mlflow": MlflowTracker,
    "tensorboard": TensorboardTracker,
}


def open_tracker(opening: Opening) -> Tracker:
    """Raise ValueError on an unknown kind or mode, and where the tracker's library is not installed."""
    if opening.mode not in ("online", "offline"):
        raise ValueError(f"Expected mode online or offline, got {opening.mode}")
    if opening.kind not in TRACKERS:
        raise ValueError(
            f"Expected a tracker among {', '.join(sorted(TRACKERS))}, got {opening.kind}"
        )
    return TRACKERS[opening.kind](opening)


def serve(requests: TextIO, answers: TextIO) -> None:
    tracker: Tracker | None = None

    def answer(request: dict[str, Any]) -> str:
        nonlocal tracker
        match request:
            case {"type": "open", **rest} if tracker is None:
                rest["folder"] = Path(rest["folder"])
                tracker = open_tracker(Opening(**rest))
                return "opened"
            case {"type": "log", "step": int(step), "metrics": dict(metrics)} if tracker:
                tracker.log(step, metrics)
                return "logged"
            case {"type": "close", "failed": bool(failed)} if tracker:
                closing, tracker = tracker, None
                closing.close(failed)
                return "closed"
            case _:
                raise ValueError(f"Expected open, then log or close, got {str(request)[:200]}")

    for line in requests:
        try:
            reply = {"type": answer(json.loads(line))}
        # A tracker that is out of reach is no reason to stop a run; the engine is told.
        except Exception as error:
            reply = {"type": "error", "message": str(error), "kind": type(error).__name__}
        answers.write(json.dumps(reply) + "\n")
        answers.flush()
    if tracker is not None:
        tracker.close(True)


def _library(module: str, extra: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ValueError(
            f"The tracker {extra} needs its library in the learner's Python, {sys.executable}: "
            f"pip install 'interlace-learner[{extra}]' ({error})"
        ) from error


if __name__ == "__main__":
    # Libraries talk to the standard output; answers alone belong there.
    real, sys.stdout = sys.stdout, sys.stderr
    serve(sys.stdin, real)
