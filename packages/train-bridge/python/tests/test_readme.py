"""The Python blocks of the package's README, on the recorded file."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import torch
from policy_rows import draw_rows, split
from support import GOLDEN, POLICY, as_file, make_table

from interlace_learner.reference import Learner, LearnerConfig, Llama

README = Path(__file__).parents[2] / "README.md"
ALL_BLOCKS = re.findall(
    r"^```py(?:thon)?\n(.*?)^```$", README.read_text(), re.DOTALL | re.MULTILINE
)
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README.read_text(), re.DOTALL | re.MULTILINE)

EXPECTED = [
    "processed 1 micro-batches\n"
    "0.6666666865348816 [[10, 11, 12, 20, 21, 30, 31, 40, 41], [10, 11, 12]]\n",
    "3 scored samples, logprobs are processed\n(2, 9) 6 tokens to learn from\n",
]


@pytest.mark.parametrize(("block", "expected"), list(zip(BLOCKS, EXPECTED, strict=True)))
def test_a_block_prints_what_the_file_holds(block: str, expected: str, tmp_path: Path) -> None:
    shutil.copyfile(GOLDEN, tmp_path / "datums.arrow")
    done = subprocess.run(
        [sys.executable, "-c", block],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == expected


@pytest.fixture
def server() -> Iterator[tuple[str, list[tuple[str, Any]]]]:
    """Answers as vLLM's control plane does, and keeps what it was asked."""
    asked: list[tuple[str, Any]] = []

    class Control(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append((self.path, body))
            answer = json.dumps({"success": True}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            """Not on the tests' output."""

    http = HTTPServer(("127.0.0.1", 0), Control)
    thread = threading.Thread(target=http.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{http.server_port}", asked
    http.shutdown()
    thread.join()
    http.server_close()


def test_the_program_with_trl_trains_a_run_and_gives_its_weights_to_the_server(
    server: tuple[str, list[tuple[str, Any]]], tmp_path: Path
) -> None:
    pytest.importorskip("trl")
    url, asked = server
    run = tmp_path / "run"
    ours = Learner(POLICY, LearnerConfig())
    assert isinstance(ours.model, Llama)
    # The second step is one without a signal.
    for step, rows in enumerate([split(draw_rows(ours.model, 6), [2, 4]), []]):
        (run / f"step-{step:06d}").mkdir(parents=True)
        path = run / f"step-{step:06d}/datums.arrow"
        path.write_bytes(as_file(*make_table(rows, scored=8)))
        ours.update(path)
    (run / "metrics.jsonl").write_text('{"step":0}\n{"step":1}\n')
    [program] = [each for each in ALL_BLOCKS if "GRPOTrainer(" in each]
    subprocess.run(
        [sys.executable, "-c", program, str(POLICY), str(run), url, "2"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")},
        capture_output=True,
        check=True,
    )
    assert json.loads((run / "acknowledged.json").read_text())["acknowledged_steps"] == 2
    folders = [str(run / "weights" / name) for name in ("1", "2")]
    reloads = [body["kwargs"]["weights_path"] for path, body in asked if "rpc" in path]
    assert reloads == folders
    assert [path for path, _ in asked[:3]] == [
        "/collective_rpc",
        "/update_weight_version",
        "/reset_prefix_cache",
    ]
    for folder in folders:
        theirs = Learner(Path(folder), LearnerConfig()).model.state_dict()
        for name, value in ours.model.state_dict().items():
            # Adam makes a whole step of 4e-5 of a gradient that is next to nothing; only of those may signs differ.
            far = (theirs[name] - value).abs() > 1e-6
            assert float(far.float().mean()) < 0.01
    before = Learner(POLICY, LearnerConfig()).model.state_dict()
    moved = Learner(Path(folders[0]), LearnerConfig()).model.state_dict()
    assert all(not torch.equal(moved[name], value) for name, value in before.items())
