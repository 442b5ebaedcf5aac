"""What the engine tells the template at its start, as one JSON object (`zygote/template.ts`)."""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True)
class Config:
    # Listens here for the descriptors of workers.
    socket: str
    # Namespaces around the template and around every call.
    namespaces: bool
    landlock: bool
    seccomp: bool
    # Becomes this user before anything else; -1 = stays who it is.
    run_as: int
    # First host id of the range that root maps in; every slot gets an id of its own.
    first_id: int
    # Workers alive at once, at most.
    slots: int
    # What the interpreter needs of the host's files, read-only.
    read_only: list[str]
    # Added to `sys.path`: where packages are installed.
    packages: list[str]
    # Imported before the first call; those that are missing are refused, or (optional) left out.
    preload: list[str]
    preload_optional: list[str]
    # The optional ones only when the first worker has ended: it shows that the jail holds, and waits for nothing.
    first_alone: bool
    # The call's own folder: its working directory, and HOME.
    home: str
    # Without namespaces: folders of calls are made below this one.
    folder: str
    # Control groups of slot N: these folders with "%" replaced by N; empty = none.
    groups: list[str]
    # Limits that no request changes.
    file_bytes: int
    open_files: int
    processes: int
    stack_bytes: int

    @staticmethod
    def parse(text: str) -> Config:
        return Config(**json.loads(text))
