"""The system calls that Python's library lacks, by ctypes: each raises OSError with its name."""

from __future__ import annotations

import ctypes
import os
import platform

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 0x1
MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_REMOUNT = 0x20
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000
MNT_DETACH = 2

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

# The same on every architecture since they are newer than the unified table.
_SYS_OPEN_TREE = 428
_SYS_MOVE_MOUNT = 429
_SYS_CLOSE_RANGE = 436
_SYS_MOUNT_SETATTR = 442
SYS_LANDLOCK_CREATE_RULESET = 444
SYS_LANDLOCK_ADD_RULE = 445
SYS_LANDLOCK_RESTRICT_SELF = 446

MACHINE = platform.machine()
# These differ: (pivot_root, capset).
_OLD = {"x86_64": (155, 126), "aarch64": (41, 91)}

_AT_FDCWD = -100
_AT_EMPTY_PATH = 0x1000
_AT_RECURSIVE = 0x8000
_OPEN_TREE_CLONE = 1
_EMPTY_SOURCE = 4  # MOVE_MOUNT_F_EMPTY_PATH


def check(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return result


def syscall(name: str, number: int, *args: int | bytes) -> int:
    """Integers as longs, bytes as pointers to a copy that lives as long as the call."""
    values = [ctypes.c_long(arg) if isinstance(arg, int) else ctypes.c_char_p(arg) for arg in args]
    return check(libc.syscall(ctypes.c_long(number), *values), name)


def prctl(option: int, value: int = 0, pointer: int = 0) -> int:
    long = ctypes.c_ulong
    return check(
        libc.prctl(option, long(value), long(pointer), long(0), long(0)), f"prctl {option}"
    )


def unshare(flags: int) -> None:
    check(libc.unshare(flags), f"unshare {flags:#x}")


def mount(
    source: str | None, target: str, kind: str | None, flags: int, data: str | None = None
) -> None:
    text = [each.encode() if each is not None else None for each in (source, target, kind, data)]
    result = libc.mount(text[0], text[1], text[2], ctypes.c_ulong(flags), text[3])
    check(result, f"mount {kind or source} on {target}")


def clone_tree(path: str) -> int:
    """A detached copy of the mounts at a path, made read-only: to be put in place by `attach_tree`.

    Made before the ids change, it reaches what lies in a folder that only the host's root may enter.
    """
    flags = _OPEN_TREE_CLONE | _AT_RECURSIVE | os.O_CLOEXEC
    tree = syscall(f"open_tree {path}", _SYS_OPEN_TREE, _AT_FDCWD, path.encode(), flags)
    attributes = (MS_RDONLY | MS_NOSUID | MS_NODEV).to_bytes(8, "little") + bytes(24)
    where = _AT_EMPTY_PATH | _AT_RECURSIVE
    syscall("mount_setattr", _SYS_MOUNT_SETATTR, tree, b"", where, attributes, 32)
    return tree


def attach_tree(tree: int, target: str) -> None:
    to = target.encode()
    syscall(f"move_mount to {target}", _SYS_MOVE_MOUNT, tree, b"", _AT_FDCWD, to, _EMPTY_SOURCE)
    os.close(tree)


def pivot_root(new: str, old: str) -> None:
    syscall("pivot_root", _OLD[MACHINE][0], new.encode(), old.encode())


def close_all_but(kept: list[int], first: int = 3) -> None:
    for descriptor in [*sorted(kept), 1 << 31]:
        if descriptor > first:
            syscall("close_range", _SYS_CLOSE_RANGE, first, descriptor - 1, 0)
        first = max(first, descriptor + 1)


def new_pid_namespace() -> None:
    """The next child is process 1 of a new one; may be called again and again.

    A second `unshare` alone fails: children are waiting to enter the first. So back to our own first.
    """
    own = os.pidfd_open(os.getpid())
    try:
        check(libc.setns(own, CLONE_NEWPID), "setns")
    finally:
        os.close(own)
    unshare(CLONE_NEWPID)


def drop_bounding_set() -> None:
    """No program started from here can ever gain a capability."""
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            return  # past the last one this kernel knows


_HEADER = (0x20080522).to_bytes(4, "little") + bytes(4)
_NONE = bytes(24)


def drop_capabilities() -> None:
    syscall("capset", _OLD[MACHINE][1], _HEADER, _NONE)
