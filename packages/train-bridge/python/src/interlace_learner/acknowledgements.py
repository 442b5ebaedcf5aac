"""How many steps are trained on, from the first: one small file beside them, replaced whole.

The file is the same whether steps come over a socket (then the engine keeps it) or from a folder.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

FILE_NAME = "acknowledged.json"
_KEY = "acknowledged_steps"


def read_acknowledged(path: Path) -> int:
    """No file is 0. Raise ValueError on a file that says anything else than a count."""
    try:
        text = path.read_text()
    except FileNotFoundError:
        return 0
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    steps = value.get(_KEY) if isinstance(value, dict) else None
    if type(steps) is not int or steps < 0:
        raise ValueError(
            f'Expected {path} to hold {{"{_KEY}": n}}, got {text[:100]}; write the number of steps that are '
            "trained on, or remove the file to begin again"
        )
    return steps


def write_acknowledged(path: Path, steps: int) -> None:
    """On the disk when it returns."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "w") as file:
            file.write(json.dumps({_KEY: steps}) + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
