"""Ends what a call leaves running where no namespace does it: without namespaces only.

The template is the reaper of its descendants, so whatever loses its parent becomes its child.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable


def kill_all_but(kept: Iterable[int], group: int | None) -> None:
    """Kills every child that is no known worker, again and again, until none is left."""
    if group is not None:
        try:
            os.killpg(group, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
    known = set(kept)
    while True:
        strays = [pid for pid in _children() if pid not in known]
        if not strays:
            return
        for pid in strays:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except (ProcessLookupError, ChildProcessError):
                pass


def _children() -> list[int]:
    me = os.getpid()
    try:
        with open(f"/proc/{me}/task/{me}/children") as file:
            return [int(pid) for pid in file.read().split()]
    except FileNotFoundError:  # not every kernel keeps the list
        return [pid for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))) if _parent(pid) == me]


def _parent(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except OSError:
        return None


def threads_of(pid: int) -> int:
    """How many threads of ours a process has; 0 for another user's."""
    try:
        if os.stat(f"/proc/{pid}").st_uid != os.getuid():
            return 0
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0
