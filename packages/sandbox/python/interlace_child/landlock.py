"""Landlock: which files may be touched, no TCP, no signals and abstract sockets to the outside."""

from __future__ import annotations

import os
import stat
import struct

from . import syscalls

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
MAKE_CHAR, MAKE_BLOCK = 1 << 6, 1 << 11
TRUNCATE, IOCTL_DEV = 1 << 14, 1 << 15
OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
# Rights that each version added, so that an older kernel is not asked for what it does not know.
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 5: 16}
_NET = 3  # bind and connect over TCP, since version 4
_SCOPES = 3  # abstract unix sockets and signals, since version 6
_RULE_PATH_BENEATH = 1


def version() -> int:
    """0 where the kernel has none."""
    try:
        return syscalls.syscall("landlock", syscalls.SYS_LANDLOCK_CREATE_RULESET, 0, 0, 1)
    except OSError:
        return 0


class Opened:
    """A path opened ahead, so that every call need only add it to its own rules."""

    def __init__(self, path: str) -> None:
        self.descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        self.is_folder = stat.S_ISDIR(os.fstat(self.descriptor).st_mode)


def opened(paths: list[str]) -> list[Opened]:
    return [Opened(path) for path in paths if os.path.exists(path)]


def handled(kernel: int) -> int:
    return (1 << max(bits for since, bits in _FILE_RIGHTS.items() if since <= kernel)) - 1


def make_ruleset(
    kernel: int, readable: list[Opened], writable: list[Opened], devices: list[Opened]
) -> int:
    """A descriptor to hand to `restrict`; whatever lies below no given path is refused."""
    rights = handled(kernel)
    attributes = struct.pack(
        "=QQQ", rights, _NET if kernel >= 4 else 0, _SCOPES if kernel >= 6 else 0
    )
    size = 24 if kernel >= 6 else 16 if kernel >= 4 else 8
    create = syscalls.SYS_LANDLOCK_CREATE_RULESET
    ruleset = syscalls.syscall("landlock_create_ruleset", create, attributes, size, 0)
    granted = (
        (readable, EXECUTE | READ_FILE | READ_DIR),
        (writable, rights & ~(MAKE_CHAR | MAKE_BLOCK)),
        (devices, READ_FILE | WRITE_FILE),
    )
    for paths, access in granted:
        for path in paths:
            allowed = access & rights if path.is_folder else access & rights & OF_A_FILE
            rule = struct.pack("=Qi", allowed, path.descriptor)
            add = syscalls.SYS_LANDLOCK_ADD_RULE
            syscalls.syscall("landlock_add_rule", add, ruleset, _RULE_PATH_BENEATH, rule, 0)
    return ruleset


def restrict(ruleset: int) -> None:
    """For this process and all it will start, for good. Needs NO_NEW_PRIVS."""
    syscalls.syscall("landlock_restrict_self", syscalls.SYS_LANDLOCK_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
