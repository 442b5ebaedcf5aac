"""The reference learner as a long-lived process: `python -m interlace_learner`, one JSON object a line.

    {"type": "open", "policy": DIR, "config": {…}}    → {"type": "ready", "step": 0, "cursor": null}
    {"type": "resume", "state": DIR}                  → {"type": "ready", "step": 7, "cursor": …}
    {"type": "update", "datums": FILE}                → {"type": "updated", "step": 8, "skipped": false, "metrics": {…}}
    {"type": "export", "weights": DIR}                → {"type": "exported", "weights": DIR, "version": "…"}
    {"type": "save", "state": DIR, "cursor": …}       → {"type": "saved", "state": DIR}

A request that fails is answered `{"type": "error", "message": …}`, and the process goes on; an update that failed has
changed nothing. The end of the input ends the process. Nothing but answers is written to the standard output.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, TextIO

from .reference import Learner, LearnerConfig


class Session:
    """The one learner of this process."""

    def __init__(self) -> None:
        self._learner: Learner | None = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        match request:
            case {"type": "open", "policy": str(policy), **rest}:
                config = LearnerConfig.from_json(rest.get("config") or {})
                self._learner = Learner(Path(policy), config)
                return {"type": "ready", "step": 0, "cursor": None}
            case {"type": "resume", "state": str(state)}:
                self._learner, cursor = Learner.resume(Path(state))
                return {"type": "ready", "step": self._learner.step, "cursor": cursor}
            case {"type": "update", "datums": str(datums)}:
                update = self.learner.update(datums)
                return {
                    "type": "updated",
                    "step": self.learner.step,
                    "skipped": update.skipped,
                    "metrics": update.metrics,
                }
            case {"type": "export", "weights": str(weights)}:
                version = self.learner.save_weights(Path(weights))
                return {"type": "exported", "weights": weights, "version": version}
            case {"type": "save", "state": str(state), **rest}:
                self.learner.save_state(Path(state), rest.get("cursor"))
                return {"type": "saved", "state": state}
            case _:
                raise ValueError(
                    "Expected open, resume, update, export or save with their paths, "
                    f"got {json.dumps(request)[:200]}"
                )

    @property
    def learner(self) -> Learner:
        if self._learner is None:
            raise ValueError("Expected open or resume first")
        return self._learner


def serve(requests: TextIO, answers: TextIO) -> None:
    session = Session()
    for line in requests:
        if not line.strip():
            continue
        try:
            request = json.loads(line)
            if not isinstance(request, dict):
                raise ValueError(f"Expected a JSON object a line, got {line.strip()[:200]}")
            answer = session.answer(request)
        # Whatever it is, the caller is told; it decides whether to go on.
        except Exception as error:
            answer = {"type": "error", "message": f"{error}", "kind": type(error).__name__}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
