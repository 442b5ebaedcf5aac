"""The life of one worker: forked from the template, confined, handed one program, gone.

It has two descriptors, both sockets to the engine. `out`: the request comes in, then what the program
prints goes out. `err`: one byte says that the worker is ready, one more that the program begins, or a
message why not; then the program's errors. Once it runs nothing comes in, no other descriptor is open.
"""

from __future__ import annotations

import io
import os
import socket
import struct
import sys

from . import limits, program, syscalls
from .confinement import Confinement

FINE = b"\x01"
BROKEN = b"\x02"
# Bytes of code and of stdin, CPU seconds, flags, address space.
REQUEST = struct.Struct("<IIIIQ")
AUTO_PRINT = 1


def live(confinement: Confinement, slot: int, out: int, err: int, used_address_space: int) -> None:
    """Never returns."""
    try:
        confinement.close_around(slot, [out, err])
        os.write(err, FINE)
        request = _receive(out, REQUEST.size)
        if request is None:
            os._exit(0)  # was never needed
        code_size, stdin_size, cpu_seconds, flags, address_space = REQUEST.unpack(request)
        code = _receive(out, code_size)
        stdin = _receive(out, stdin_size)
        if code is None or stdin is None:
            os._exit(0)
        _take_streams(out, err, stdin)
        config = confinement.config
        lowered = {
            "cpu_seconds": cpu_seconds,
            "address_space": used_address_space + address_space,
            "file_bytes": config.file_bytes,
            "open_files": config.open_files,
            "stack_bytes": config.stack_bytes,
            "message_queues": 0,
            "locked_memory": 0,
        }
        if config.processes > 0:
            lowered["processes"] = config.processes
        limits.lower(lowered)
        _forget()
        os.write(2, FINE)
    except BaseException as error:
        message = f"{type(error).__name__}: {error}".encode("utf-8", "replace")
        os.write(err, BROKEN + message)
        os._exit(125)
    os._exit(program.run_program(code, bool(flags & AUTO_PRINT)))


def _receive(descriptor: int, size: int) -> bytes | None:
    """None when the other side closed before the first byte, or in the middle."""
    parts = bytearray()
    while len(parts) < size:
        part = os.read(descriptor, min(1 << 20, size - len(parts)))
        if not part:
            return None
        parts += part
    return bytes(parts)


def _take_streams(out: int, err: int, stdin: bytes) -> None:
    if stdin:
        source = os.memfd_create("stdin", 0)
        rest = memoryview(stdin)
        while rest:
            rest = rest[os.write(source, rest) :]
        os.lseek(source, 0, os.SEEK_SET)
    else:
        source = os.open("/dev/null", os.O_RDONLY)
    socket.socket(fileno=os.dup(out)).shutdown(socket.SHUT_RD)
    os.dup2(source, 0)
    os.dup2(out, 1)
    os.dup2(err, 2)
    syscalls.close_all_but([])
    for name, descriptor, mode in (("stdin", 0, "r"), ("stdout", 1, "w"), ("stderr", 2, "w")):
        stream = _stream(name, descriptor, mode)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _stream(name: str, descriptor: int, mode: str) -> io.TextIOWrapper:
    """As the interpreter makes them at its start where output is no terminal."""
    raw = io.FileIO(descriptor, mode, closefd=False)
    raw.name = f"<{name}>"
    buffer = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
    stream = io.TextIOWrapper(
        buffer,
        encoding="utf-8",
        errors="backslashreplace" if name == "stderr" else "surrogateescape",
        line_buffering=name == "stderr",
    )
    setattr(stream, "mode", mode)
    return stream


def _forget() -> None:
    """Else every call would draw the same numbers. (`random` itself starts anew in every fork.)"""
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed()
    sympy_random = sys.modules.get("sympy.core.random")
    if sympy_random is not None:
        sympy_random.rng.seed()
