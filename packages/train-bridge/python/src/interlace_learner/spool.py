"""Steps of a run folder, in order, as they are finished: the way to a learner that needs nothing but a disk.

In: a run folder, finished or growing. Out: `SpooledStep`s. A step is there when its line in `metrics.jsonl` is: that is
written last. Acknowledged steps are remembered in `acknowledged.json` of the folder, so a learner that died gets
what it had not acknowledged.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from .acknowledgements import FILE_NAME, read_acknowledged, write_acknowledged
from .reader import Datums, open_datums

FINISHED = "finished.json"


@dataclass(frozen=True, slots=True)
class SpooledStep:
    """`with step.datums() as datums: …`, then `step.acknowledge()`."""

    index: int
    """From 0, as folders count."""
    folder: Path
    run_folder: Path

    def datums(self) -> AbstractContextManager[Datums]:
        return open_datums(self.folder / "datums.arrow")

    def acknowledge(self) -> None:
        """This step is trained on, and what came of it is safe. Raise ValueError out of order; twice is once."""
        path = self.run_folder / FILE_NAME
        known = read_acknowledged(path)
        if self.index > known:
            raise ValueError(
                f"Expected step {known} to be acknowledged before step {self.index}, as it was given first"
            )
        if self.index == known:
            write_acknowledged(path, known + 1)


def watch(
    run_folder: str | os.PathLike[str],
    *,
    first_step: int | None = None,
    steps: int | None = None,
    poll_seconds: float = 0.5,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[SpooledStep]:
    """Yield each finished step once, in order, and wait for the next.

    `first_step`: steps that the learner's own checkpoint holds, which acknowledges them; None = goes on where it ended.
    `steps`: end after that many of the run; None = when an engine with `--learner files` says that it has finished.
    `stop` is asked whenever there is nothing to yield:
    `watch(folder, stop=lambda: True)` takes what is there and ends.
    """
    folder = Path(run_folder)
    path = folder / FILE_NAME
    known = read_acknowledged(path)
    at = known if first_step is None else first_step
    if at > known:
        finished = count_finished(folder)
        if at > finished:
            raise ValueError(
                f"{folder}: expected a learner of this run, which has {finished} steps, "
                f"got one that trained on {at}"
            )
        write_acknowledged(path, at)
    while steps is None or at < steps:
        if at < count_finished(folder):
            yield SpooledStep(at, folder / f"step-{at:06d}", folder)
            at += 1
        elif stop() or at >= _finished_steps(folder):
            return
        else:
            time.sleep(poll_seconds)


def _finished_steps(run_folder: Path) -> float:
    """After which nothing comes; infinity while the engine has not said so."""
    try:
        return float(json.loads((run_folder / FINISHED).read_text())["finished_steps"])
    except FileNotFoundError:
        return math.inf


def count_finished(run_folder: Path) -> int:
    """Whole lines of `metrics.jsonl`; a line without its end is still being written."""
    try:
        with (run_folder / "metrics.jsonl").open("rb") as file:
            return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))
    except FileNotFoundError:
        if not run_folder.is_dir():
            raise ValueError(f"{run_folder}: expected a run folder, got none") from None
        return 0
