"""Starts the warm pool: `zygote_main.py CONFIG` with the configuration as JSON.

This process is the keeper. It enters the jail, starts the template inside and waits for either the
template or the engine to end (the end of stdin, which it only watches: the template reads it); then
nothing of the pool is left. First on stdout comes one line of JSON: what is enforced, or an error.
"""

import dataclasses
import functools
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from interlace_child import (  # noqa: E402
    errors,  # noqa: F401 – there before a worker needs it, where its file is out of reach
    jail,
    orphans,
    syscalls,
)
from interlace_child.config import Config  # noqa: E402
from interlace_child.confinement import Confinement  # noqa: E402
from interlace_child.groups import Groups  # noqa: E402
from interlace_child.template import Template  # noqa: E402

PAGE = os.sysconf("SC_PAGE_SIZE")


def say(line: dict[str, object]) -> None:
    os.write(1, json.dumps(line).encode() + b"\n")


def keep(config: Config) -> None:
    sys.path.pop(0)
    sys.path += config.packages
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(config.socket)
    listener.listen(512)
    groups = Groups(config.groups, config.slots)
    if config.run_as >= 0:
        os.setgroups([])
        os.setresgid(config.run_as, config.run_as, config.run_as)
        os.setresuid(config.run_as, config.run_as, config.run_as)
    proc = os.open("/proc", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    if config.namespaces:
        jail.enter(config)
        syscalls.unshare(syscalls.CLONE_NEWPID)
    else:
        syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
        config = _count_processes_in(config)
    template = os.fork()
    if template == 0:
        be_template(config, listener, groups, proc)
    listener.close()
    watch(template, config.namespaces)


def watch(template: int, namespaces: bool) -> None:
    poll = select.poll()
    poll.register(0, 0)  # no event asked for: told of the hang-up alone
    poll.register(os.pidfd_open(template), select.POLLIN)
    poll.poll()
    try:
        os.kill(template, signal.SIGKILL)
        os.waitpid(template, 0)
    except (ProcessLookupError, ChildProcessError):
        pass
    if not namespaces:
        orphans.kill_all_but(())
    os._exit(0)


def be_template(config: Config, listener: socket.socket, groups: Groups, proc: int) -> None:
    try:
        syscalls.drop_bounding_set()
        if config.namespaces:
            # The kernel ends all below with it. Else it must live on for a moment, to end them itself.
            syscalls.prctl(syscalls.PR_SET_PDEATHSIG, signal.SIGKILL)
        else:
            syscalls.prctl(syscalls.PR_SET_CHILD_SUBREAPER, 1)
        for name in config.preload:
            importlib.import_module(name)
        _refuse_threads(config, proc)
        confinement = Confinement(config, groups, proc)
        confinement.close_around_template()
        if not config.first_alone:
            warm_up(config, proc)
        template = Template(confinement, listener, lambda: _address_space(proc))
        if config.first_alone:
            template.after_first = functools.partial(warm_up, config, proc)
        say(
            {
                "landlock": confinement.landlock,
                "seccomp": confinement.filter is not None,
                "root": confinement.root,
                "memory_group": bool(groups.limits),
            }
        )
    except BaseException as error:
        say({"error": f"{type(error).__name__}: {error}"})
        os._exit(1)
    template.serve()


def warm_up(config: Config, proc: int) -> None:
    """The last imports, for all workers to come."""
    for name in config.preload_optional:
        try:
            importlib.import_module(name)
        except ImportError:
            pass
    _refuse_threads(config, proc)
    gc.collect()
    gc.freeze()  # so that a collection in a worker does not touch, and so copy, every page


def _refuse_threads(config: Config, proc: int) -> None:
    tasks = os.open("self/task", os.O_RDONLY | os.O_DIRECTORY, dir_fd=proc)
    try:
        threads = len(os.listdir(tasks))
    finally:
        os.close(tasks)
    if threads > 1:
        wanted = config.preload + config.preload_optional
        there = [name for name in wanted if name in sys.modules]
        raise RuntimeError(f"{threads} threads after importing {there}: a fork would hang")


def _address_space(proc: int) -> int:
    """Bytes: what a worker has before its program asks for any."""
    with open(os.open("self/statm", os.O_RDONLY, dir_fd=proc)) as file:
        return int(file.read().split()[0]) * PAGE


def _count_processes_in(config: Config) -> Config:
    """A plain user without namespaces has one count for all its processes: what runs comes on top."""
    if os.getuid() == 0:
        return config
    running = sum(orphans.threads_of(int(pid)) for pid in os.listdir("/proc") if pid.isdecimal())
    return dataclasses.replace(config, processes=running + config.processes * config.slots)


if __name__ == "__main__":
    try:
        keep(Config.parse(sys.argv[1]))
    except BaseException as error:
        say({"error": f"{type(error).__name__}: {error}"})
        os._exit(1)
