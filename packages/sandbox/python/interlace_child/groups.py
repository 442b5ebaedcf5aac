"""Control groups of the slots: a door to enter by, one limit to set, one counter to read.

The engine makes the groups (`zygote/groups.ts`). Opened here before the host's files are out of reach.
"""

from __future__ import annotations

import os
import re


class Groups:
    def __init__(self, templates: list[str], slots: int) -> None:
        self.doors: dict[int, list[int]] = {slot: [] for slot in range(slots)}
        self.limits: dict[int, int] = {}
        self.counters: dict[int, int] = {}
        self.seen: dict[int, int] = {}
        self.allowed: dict[int, int] = {}
        for slot in range(slots):
            for template in templates:
                self._open(slot, template.replace("%", str(slot)))

    def _open(self, slot: int, folder: str) -> None:
        self.doors[slot].append(os.open(f"{folder}/cgroup.procs", os.O_WRONLY | os.O_CLOEXEC))
        for limit, counter in (
            ("memory.limit_in_bytes", "memory.oom_control"),
            ("memory.max", "memory.events"),
        ):
            if os.path.exists(f"{folder}/{limit}"):
                self.limits[slot] = os.open(f"{folder}/{limit}", os.O_RDWR | os.O_CLOEXEC)
                self.counters[slot] = os.open(f"{folder}/{counter}", os.O_RDONLY | os.O_CLOEXEC)
                self.seen[slot] = self._kills(slot)

    def enter(self, slot: int) -> None:
        for door in self.doors[slot]:
            os.write(door, b"0")

    def allow(self, slot: int, memory: int) -> None:
        if slot in self.limits and self.allowed.get(slot) != memory:
            os.pwrite(self.limits[slot], str(memory).encode(), 0)
            self.allowed[slot] = memory

    def ran_out_of_memory(self, slot: int) -> bool:
        """Whether the kernel killed something in this slot since the last call."""
        if slot not in self.counters:
            return False
        before, self.seen[slot] = self.seen[slot], self._kills(slot)
        return self.seen[slot] > before

    def _kills(self, slot: int) -> int:
        text = os.pread(self.counters[slot], 4096, 0).decode()
        found = re.search(r"^oom_kill (\d+)$", text, re.MULTILINE)
        return int(found[1]) if found is not None else 0
