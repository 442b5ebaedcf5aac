"""The jail around the template: own users, files, network, processes; entered once, before anything
of the model's is near.

As root a range of ids is mapped in, so that every call can have one of its own; as a plain user only
the user itself. The new root holds what the interpreter needs of the host, read-only, and nothing else.
"""

from __future__ import annotations

import os

from . import syscalls
from .config import Config

IDS = 65536
INNER_USER = 1000
DEVICES = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"]
FILES = ["/etc/ld.so.cache", "/etc/localtime"]
_ALL = (
    syscalls.CLONE_NEWUSER
    | syscalls.CLONE_NEWNS
    | syscalls.CLONE_NEWNET
    | syscalls.CLONE_NEWIPC
    | syscalls.CLONE_NEWUTS
)


def enter(config: Config) -> None:
    if os.getuid() == 0:
        trees = _clone_trees(config.read_only)
        _become_mapped_root(config.first_id)
    else:
        _become_mapped_user()
        trees = _clone_trees(config.read_only)
    _change_root(trees, config)


def _clone_trees(paths: list[str]) -> dict[str, int | str]:
    """Per path: a copy of what is mounted there; of a link directly below `/`, where it leads."""
    trees: dict[str, int | str] = {}
    for path in paths:
        if os.path.islink(path) and os.path.dirname(path) == "/":
            trees[path] = os.readlink(path)
        elif os.path.exists(path):
            trees[path] = syscalls.clone_tree(path)
    return trees


def _become_mapped_root(first_id: int) -> None:
    os.setgroups([])
    me = os.getpid()
    unshared, tell_unshared = os.pipe()
    mapped, tell_mapped = os.pipe()
    helper = os.fork()
    if helper == 0:  # stays outside, where it may write the maps
        try:
            os.close(tell_unshared)
            if os.read(unshared, 1):
                _write(f"/proc/{me}/setgroups", "deny")
                for name in ("uid_map", "gid_map"):
                    _write(f"/proc/{me}/{name}", f"0 {first_id} {IDS}")
                os.write(tell_mapped, b"y")
        finally:
            os._exit(0)
    syscalls.unshare(_ALL)
    os.write(tell_unshared, b"x")
    os.close(tell_mapped)
    done = os.read(mapped, 1)
    os.waitpid(helper, 0)
    for descriptor in (unshared, tell_unshared, mapped):
        os.close(descriptor)
    if done != b"y":
        raise OSError("the ids of the namespace could not be mapped")
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)


def _become_mapped_user() -> None:
    user, group = os.getuid(), os.getgid()
    syscalls.prctl(syscalls.PR_SET_DUMPABLE, 1)
    syscalls.unshare(_ALL)
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{INNER_USER} {user} 1")
    _write("/proc/self/gid_map", f"{INNER_USER} {group} 1")


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def _change_root(trees: dict[str, int | str], config: Config) -> None:
    root = "/tmp"  # any folder serves as the place where the new root is put together
    files = {path: _read(path) for path in FILES if os.path.exists(path)}
    syscalls.mount(None, "/", None, syscalls.MS_REC | syscalls.MS_PRIVATE)
    safe = syscalls.MS_NOSUID | syscalls.MS_NODEV
    syscalls.mount("tmpfs", root, "tmpfs", safe, "mode=755,size=1m")
    for path, tree in trees.items():
        if isinstance(tree, str):
            os.makedirs(os.path.dirname(root + path), exist_ok=True)
            os.symlink(tree, root + path)
        else:
            os.makedirs(root + path, 0o755, exist_ok=True)
            syscalls.attach_tree(tree, root + path)
    for folder in ("/dev", "/dev/shm", "/etc", "/tmp", config.home):
        os.makedirs(root + folder, 0o755, exist_ok=True)
    for path in DEVICES:
        open(root + path, "w").close()
        syscalls.mount(path, root + path, None, syscalls.MS_BIND)
    for path, content in files.items():
        with open(root + path, "wb") as file:
            file.write(content)
    with open(f"{root}/etc/passwd", "w") as file:
        file.write(f"user:x:{INNER_USER}:{INNER_USER}::{config.home}:/bin/false\n")
    os.chdir(root)
    os.mkdir("old", 0o700)
    syscalls.pivot_root(".", "old")
    syscalls.check(syscalls.libc.umount2(b"/old", syscalls.MNT_DETACH), "umount of the old root")
    os.rmdir("/old")
    os.chdir("/")
    remount = syscalls.MS_REMOUNT | syscalls.MS_BIND | syscalls.MS_RDONLY | safe
    syscalls.mount(None, "/", None, remount)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
