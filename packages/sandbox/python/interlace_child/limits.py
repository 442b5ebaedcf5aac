"""Resource limits of one process, lowered for good: the soft and the hard limit alike."""

from __future__ import annotations

import resource

LIMITS = {
    "address_space": resource.RLIMIT_AS,
    "file_bytes": resource.RLIMIT_FSIZE,
    "open_files": resource.RLIMIT_NOFILE,
    "stack_bytes": resource.RLIMIT_STACK,
    "processes": resource.RLIMIT_NPROC,
    "message_queues": getattr(resource, "RLIMIT_MSGQUEUE", resource.RLIMIT_CORE),
    "locked_memory": resource.RLIMIT_MEMLOCK,
}


def lower(values: dict[str, int]) -> None:
    """`cpu_seconds` ends the program by SIGXCPU, and a second later by SIGKILL if it held out."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name, value in values.items():
        if name == "cpu_seconds":
            resource.setrlimit(resource.RLIMIT_CPU, (value, value + 1))
        else:
            resource.setrlimit(LIMITS[name], (value, value))
