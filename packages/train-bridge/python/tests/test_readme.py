"""The Python blocks of the package's README, on the recorded file."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import GOLDEN

README = Path(__file__).parents[2] / "README.md"
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
