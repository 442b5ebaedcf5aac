"""The warm template: libraries imported, nothing of the model's inside; a worker per call is its fork.

In: commands on stdin, descriptors on a unix socket. Out: one report per worker on stdout. It never
sees code: that goes from the engine straight to the worker. The end of stdin ends it and all workers.
"""

from __future__ import annotations

import functools
import heapq
import os
import resource
import select
import signal
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass

from . import orphans, syscalls, worker
from .confinement import Confinement

# start: deadline in ms, memory in bytes; kill: reason.
COMMAND = struct.Struct("<BIIQ")
START, KILL = 1, 2
# A new connection says which worker it belongs to and which of its two it is.
HELLO = struct.Struct("<BI")
OUT, ERR = 1, 2
# Worker, exit code or -1, signal or 0, reason, CPU seconds, peak bytes.
REPORT = struct.Struct("<IiiidQ")
NOT_KILLED, TIMEOUT, OUT_OF_MEMORY, ASKED = 0, 1, 2, 3
# From "your time is up" to SIGKILL: for what is printed but not yet written.
GRACE_SECONDS = 0.2


@dataclass
class Worker:
    number: int
    pid: int
    slot: int
    reason: int = NOT_KILLED


class Template:
    def __init__(
        self, confinement: Confinement, listener: socket.socket, used: Callable[[], int]
    ) -> None:
        """`used`: bytes of address space that a fork begins with."""
        self.confinement = confinement
        self.listener = listener
        self.used = used
        self.used_address_space = used()
        # Done once, when the first worker has ended; nothing else is meanwhile.
        self.after_first: Callable[[], None] | None = None
        self.reported = 0
        self.namespaces = confinement.config.namespaces
        self.groups = confinement.groups
        self.free = list(range(confinement.config.slots))
        self.by_pid: dict[int, Worker] = {}
        self.by_number: dict[int, Worker] = {}
        self.half: dict[int, dict[int, int]] = {}
        self.waiting: list[tuple[int, int, int]] = []  # worker, out, err
        self.deadlines: list[tuple[float, int, int]] = []  # when, worker, signal
        self.commands = b""
        self.poll = select.epoll()
        self.actions: dict[int, Callable[[], None]] = {}

    def serve(self) -> None:
        wake, waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        self.listener.setblocking(False)
        self._watch(self.listener.fileno(), self._accept)
        self._watch(0, self._obey)
        self._watch(wake, lambda: self._reap(wake))
        while True:
            for descriptor, _ in self.poll.poll(self._until_deadline()):
                self.actions[descriptor]()
            self._keep_deadlines()
            if self.after_first is not None and self.reported > 0:
                self.after_first()
                self.after_first = None
                self.used_address_space = self.used()

    def _watch(self, descriptor: int, action: Callable[[], None]) -> None:
        self.actions[descriptor] = action
        self.poll.register(descriptor, select.EPOLLIN)

    def _accept(self) -> None:
        while True:
            try:
                # Bare descriptors: an object of the library's for each would cost half a fork.
                connection, _ = self.listener._accept()  # type: ignore[attr-defined]
            except BlockingIOError:
                return
            os.set_blocking(connection, False)
            if not self._introduce(connection):
                self._watch(connection, functools.partial(self._come_late, connection))

    def _come_late(self, connection: int) -> None:
        self.poll.unregister(connection)
        del self.actions[connection]
        self._introduce(connection)

    def _introduce(self, connection: int) -> bool:
        """False when it has not said anything yet."""
        try:
            hello = os.read(connection, HELLO.size)
        except BlockingIOError:
            return False
        if len(hello) < HELLO.size:
            os.close(connection)
            return True
        kind, number = HELLO.unpack(hello)
        os.set_blocking(connection, True)
        half = self.half.setdefault(number, {})
        half[kind] = connection
        if len(half) == 2:
            del self.half[number]
            self.waiting.append((number, half[OUT], half[ERR]))
            self._fork_waiting()
        return True

    def _fork_waiting(self) -> None:
        while self.waiting and self.free:
            self._fork(self.free.pop(), *self.waiting.pop(0))

    def _fork(self, slot: int, number: int, out: int, err: int) -> None:
        if self.namespaces:
            syscalls.new_pid_namespace()
        pid = os.fork()
        if pid == 0:
            worker.live(self.confinement, slot, out, err, self.used_address_space)
        os.close(out)
        os.close(err)
        self.by_pid[pid] = self.by_number[number] = Worker(number, pid, slot)

    def _obey(self) -> None:
        data = os.read(0, 65536)
        if not data:
            self._end()
        self.commands += data
        while len(self.commands) >= COMMAND.size:
            command, number, value, memory = COMMAND.unpack(self.commands[: COMMAND.size])
            self.commands = self.commands[COMMAND.size :]
            known = self.by_number.get(number)
            if known is None:
                continue  # ended on its own meanwhile; its report is on the way
            if command == START:
                self.groups.allow(known.slot, memory)
                due = time.monotonic() + value / 1000
                heapq.heappush(self.deadlines, (due, number, signal.SIGXCPU))
                heapq.heappush(self.deadlines, (due + GRACE_SECONDS, number, signal.SIGKILL))
            elif command == KILL:
                self._kill(known, ASKED, signal.SIGKILL)

    def _until_deadline(self) -> float:
        """Seconds; −1 = none."""
        while self.deadlines and self.deadlines[0][1] not in self.by_number:
            heapq.heappop(self.deadlines)
        return max(0.0, self.deadlines[0][0] - time.monotonic()) if self.deadlines else -1

    def _keep_deadlines(self) -> None:
        now = time.monotonic()
        while self.deadlines and self.deadlines[0][0] <= now:
            _, number, number_of_signal = heapq.heappop(self.deadlines)
            late = self.by_number.get(number)
            if late is not None:
                self._kill(late, TIMEOUT, number_of_signal)

    def _kill(self, target: Worker, reason: int, number_of_signal: int) -> None:
        target.reason = target.reason or reason
        os.kill(target.pid, number_of_signal)  # not reaped yet, so the id is still its own

    def _reap(self, wake: int) -> None:
        os.read(wake, 4096)
        while True:
            try:
                seen = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if seen is None:
                return
            if not self.namespaces and seen.si_pid in self.by_pid:
                orphans.end_group(seen.si_pid)  # not reaped yet, so the id is still its own
            pid, status, usage = os.wait4(seen.si_pid, 0)
            ended = self.by_pid.pop(pid, None)
            if ended is not None:
                self._report(ended, os.waitstatus_to_exitcode(status), usage)

    def _report(self, ended: Worker, code: int, usage: resource.struct_rusage) -> None:
        del self.by_number[ended.number]
        if not self.namespaces:
            orphans.kill_all_but(self.by_pid.keys())
            self.confinement.clean(ended.slot)
        killed = code == -signal.SIGKILL
        if self.groups.ran_out_of_memory(ended.slot) and killed and not ended.reason:
            ended.reason = OUT_OF_MEMORY
        self.free.append(ended.slot)
        cpu = usage.ru_utime + usage.ru_stime
        exit_code, by_signal = (code, 0) if code >= 0 else (-1, -code)
        numbers = (ended.number, exit_code, by_signal, ended.reason)
        os.write(1, REPORT.pack(*numbers, cpu, usage.ru_maxrss * 1024))
        self.reported += 1
        self._fork_waiting()

    def _end(self) -> None:
        for pid in self.by_pid:
            os.kill(pid, signal.SIGKILL)
        if not self.namespaces:
            orphans.kill_all_but(())
        os._exit(0)
