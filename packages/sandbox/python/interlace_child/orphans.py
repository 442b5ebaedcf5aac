"""Ends what a call leaves running where no namespace does it: without namespaces only.

Every call is a process group, which its system call filter does not let it leave; a signal to a group
reaches all of it in one step of the kernel, so nothing forks away. The template is the reaper of its
descendants: whatever loses its parent becomes its child.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Container


def kill_all_but(kept: Container[int]) -> None:
    """Ends every child that is in none of these groups, and the group that it is in; waits for their end.

    `kept`: ids of the first processes of the calls that go on, which are those of their groups.
    A worker that has only just been forked is still in our own group, but among those kept.
    """
    while strays := [pid for pid in _children() if pid not in kept and _group(pid) not in kept]:
        for pid in strays:
            end_group(_group(pid))
            _signal(pid, signal.SIGKILL)
            try:
                os.waitpid(pid, 0)
            except ChildProcessError:
                pass


def end_group(group: int) -> None:
    if group in (0, os.getpgrp()):
        return
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _group(pid: int) -> int:
    """0 when it is gone."""
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return 0


def _children() -> list[int]:
    me = os.getpid()
    try:
        with open(f"/proc/{me}/task/{me}/children") as file:
            return [int(pid) for pid in file.read().split()]
    except FileNotFoundError:  # not every kernel keeps the list
        return [int(name) for name in os.listdir("/proc") if name.isdecimal() and _parent(name) == me]


def _parent(name: str) -> int:
    try:
        with open(f"/proc/{name}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except OSError:
        return 0  # ended meanwhile


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def threads_of(pid: int) -> int:
    """How many threads of ours a process has; 0 for another user's."""
    try:
        if os.stat(f"/proc/{pid}").st_uid != os.getuid():
            return 0
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0
