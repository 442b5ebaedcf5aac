"""Ends what a call leaves running where no namespace does it: without namespaces only.

The template is the reaper of its descendants, so whatever loses its parent becomes its child.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable


def kill_all_but(kept: Iterable[int]) -> None:
    """Ends every descendant that is no known worker and no descendant of one.

    First all are stopped, then all are killed: a fork bomb fills every place that a kill frees, but a
    stopped process keeps its place, so the bomb runs against its limit and holds still.
    """
    known = set(kept)
    if not [pid for pid in children() if pid not in known]:
        return  # as nearly always; what follows looks at every process of the machine
    stopped: set[int] = set()
    while True:
        running = _strays(known) - stopped
        if not running:
            break
        for pid in running:
            _signal(pid, signal.SIGSTOP)
        stopped |= running
    for pid in stopped:
        _signal(pid, signal.SIGKILL)
    while [pid for pid in children() if pid not in known]:
        for pid in children():
            if pid not in known:
                _reap(pid)


def children() -> list[int]:
    me = os.getpid()
    try:
        with open(f"/proc/{me}/task/{me}/children") as file:
            return [int(pid) for pid in file.read().split()]
    except FileNotFoundError:  # not every kernel keeps the list
        return [pid for pid, parent in _parents().items() if parent == me]


def _strays(known: set[int]) -> set[int]:
    parents = _parents()
    me = os.getpid()

    def stray(pid: int) -> bool:
        while pid != me:
            if pid in known or pid not in parents:
                return False
            pid = parents[pid]
        return True

    return {pid for pid in parents if pid != me and stray(pid)}


def _parents() -> dict[int, int]:
    """Of every process that is not yet dead: who started it."""
    found = {}
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat") as file:
                state, parent = file.read().rpartition(")")[2].split()[:2]
        except OSError:
            continue  # ended meanwhile
        if state not in "ZX":
            found[int(name)] = int(parent)
    return found


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def _reap(pid: int) -> None:
    _signal(pid, signal.SIGKILL)
    try:
        os.waitpid(pid, 0)
    except ChildProcessError:
        pass


def threads_of(pid: int) -> int:
    """How many threads of ours a process has; 0 for another user's."""
    try:
        if os.stat(f"/proc/{pid}").st_uid != os.getuid():
            return 0
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0
