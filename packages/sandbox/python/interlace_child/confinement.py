"""Closes the jail around one call: runs in the fresh child, before any of the model's code is read.

Prepared once in the template, so that a call pays only for what must be its own.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import os
import shutil

from . import jail, landlock, seccomp, syscalls
from .config import Config
from .groups import Groups


class Confinement:
    def __init__(self, config: Config, groups: Groups, proc: int) -> None:
        """`proc`: a descriptor of the host's /proc. What the kernel lacks of what is asked is left out."""
        self.config = config
        self.groups = groups
        self.proc = proc
        self.root = os.getuid() == 0
        self.landlock = landlock.version() if config.landlock else 0
        filtered = config.seccomp and seccomp.supported()
        more = seccomp.of_worker(config.namespaces)
        self.filter = seccomp.build_more(*more) if filtered else None
        # A jail holds nothing that may not be read; its devices are few.
        readable = ["/"] if config.namespaces else [*config.read_only, *jail.FILES]
        self.readable = landlock.opened(readable)
        self.devices = landlock.opened(["/dev"] if config.namespaces else jail.DEVICES)

    def close_around_template(self) -> None:
        """Once, before the first worker: what no worker may do, the template need not either."""
        if self.filter is not None:
            syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
            seccomp.install(seccomp.build(seccomp.of_template(self.config.namespaces), {}))

    def close_around(self, slot: int, kept: list[int]) -> None:
        """The order matters: each step needs a right that a later one takes away."""
        _plain_signals()
        os.setsid()  # also the process group by which all of the call is ended without namespaces
        self.groups.enter(slot)
        home = self._private_folders(slot)
        ruleset = self._rules(home)
        self._become_nobody(slot)
        syscalls.prctl(syscalls.PR_SET_PDEATHSIG, _signal.SIGKILL)  # a change of ids clears it
        syscalls.prctl(syscalls.PR_SET_NO_NEW_PRIVS, 1)
        if ruleset is not None:
            landlock.restrict(ruleset)
        syscalls.close_all_but(kept)
        if self.root or self.config.namespaces:
            syscalls.drop_capabilities()
        if self.filter is not None:
            seccomp.install(self.filter)

    def folder(self, slot: int) -> str:
        return self.config.home if self.config.namespaces else f"{self.config.folder}/{slot}"

    def clean(self, slot: int) -> None:
        """After a call: its folder goes, where it was not a file system of its own."""
        if not self.config.namespaces:
            shutil.rmtree(self.folder(slot), ignore_errors=True)

    def _private_folders(self, slot: int) -> str:
        home = self.folder(slot)
        if self.config.namespaces:
            syscalls.unshare(syscalls.CLONE_NEWNS | (0 if self.filter else syscalls.CLONE_NEWIPC))
            safe = syscalls.MS_NOSUID | syscalls.MS_NODEV
            size = f"mode=1777,size={self.config.file_bytes},nr_inodes="
            syscalls.mount("tmpfs", home, "tmpfs", safe, f"{size}4096")
            noexec = safe | syscalls.MS_NOEXEC
            syscalls.mount("tmpfs", "/dev/shm", "tmpfs", noexec, f"{size}256")
        else:
            os.mkdir(home, 0o700)
            if self.root:
                os.chown(home, self._own_id(slot), self._own_id(slot))
        os.chdir(home)
        os.environ["HOME"] = os.environ["TMPDIR"] = home
        return home

    def _rules(self, home: str) -> int | None:
        if self.landlock == 0:
            return None
        writable = landlock.opened([home, "/dev/shm"] if self.config.namespaces else [home])
        return landlock.make_ruleset(self.landlock, self.readable, writable, self.devices)

    def _own_id(self, slot: int) -> int:
        # In a jail counted from the start of the mapped range, else on the host.
        return (2000 if self.config.namespaces else self.config.first_id + 2000) + slot

    def _become_nobody(self, slot: int) -> None:
        if self.root:
            own = self._own_id(slot)
            if not self.config.namespaces:
                os.setgroups([])
            os.setresgid(own, own, own)
            os.setresuid(own, own, own)
        elif self.config.namespaces:
            self._nest()

    def _nest(self) -> None:
        """A plain user has no second id to give; a user namespace of its own counts processes apart."""
        user, group = os.getuid(), os.getgid()
        syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)
        syscalls.unshare(syscalls.CLONE_NEWUSER)
        self._map("uid_map", f"{user} {user} 1")
        self._map("gid_map", f"{group} {group} 1")

    def _map(self, name: str, line: str) -> None:
        descriptor = os.open(f"self/{name}", os.O_WRONLY, dir_fd=self.proc)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)


def _plain_signals() -> None:
    """As a fresh interpreter has them. (Not by `signal`: its enumerations cost more than the calls.)"""
    _signal.set_wakeup_fd(-1)
    for number in (_signal.SIGCHLD, _signal.SIGHUP, _signal.SIGTERM):
        _signal.signal(number, _signal.SIG_DFL)
    _signal.signal(_signal.SIGINT, _signal.default_int_handler)
