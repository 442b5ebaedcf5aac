"""Steps over a Unix socket: the engine sends one when it is asked for, as fast as it is read.

In: the path of the socket. Out: `StreamedStep`s in order. A step is the learner's until it is acknowledged; who comes
back – learner or engine – goes on where acknowledgements ended. Lines of JSON both ways; after a `step`
line follow its bytes, an Arrow stream.
"""

from __future__ import annotations

import io
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from .reader import Datums, MicroBatch, open_datums
from .schema import RunFacts, SchemaError

TRANSPORT_VERSION = 1


class EngineLost(ConnectionError):
    """The engine is gone, in the middle or between steps. Connect again; what was not acknowledged comes again."""


class TransportError(ValueError):
    """The engine refused, in its own words."""


class _Body(io.RawIOBase):
    """`size` bytes of a stream, then its end."""

    def __init__(self, source: BinaryIO, size: int) -> None:
        self._source = source
        self.left = size
        self.lost = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")[: self.left]
        if len(view) == 0:
            return 0
        try:
            count = cast(io.BufferedReader, self._source).readinto(view)
        except OSError:
            count = 0
        self.lost = count == 0
        self.left -= count
        return count


class StreamedStep:
    """Its micro-batches can be read once; `acknowledge` when what was learnt from them is safe."""

    def __init__(self, index: int, datums: Datums, body: _Body, connection: Connection) -> None:
        self.index = index
        """From 0."""
        self._datums = datums
        self._body = body
        self._connection = connection

    @property
    def facts(self) -> RunFacts:
        return self._datums.facts

    def micro_batches(self) -> Iterator[MicroBatch]:
        """Raise `SchemaError` on data that must not be learnt from, `EngineLost` when it ends in the middle."""
        try:
            yield from self._datums.micro_batches()
        except SchemaError as error:
            if self._body.lost:
                raise EngineLost(
                    f"The engine is gone in the middle of step {self.index}"
                ) from error
            raise

    def acknowledge(self) -> None:
        """On the engine's disk when it returns. Raise `TransportError` out of order, `EngineLost` when nobody hears."""
        self._connection._acknowledge(self.index)


class Connection:
    """Iterate over it; not for more than one thread."""

    def __init__(self, link: socket.socket, first_step: int | None) -> None:
        self._link = link
        self._input = link.makefile("rb", buffering=1 << 20)
        self._body: _Body | None = None
        self._say({"type": "hello", "version": TRANSPORT_VERSION, "first_step": first_step})
        self.next_step: int = self._hear("hello")["step"]
        """The step that comes next."""

    def __iter__(self) -> Iterator[StreamedStep]:
        while True:
            self._say({"type": "next"})
            answer = self._hear("step", "end")
            if answer["type"] == "end":
                return
            self.next_step = answer["step"] + 1
            body = self._body = _Body(cast(BinaryIO, self._input), answer["bytes"])
            try:
                with open_datums(cast(BinaryIO, body)) as datums:
                    yield StreamedStep(answer["step"], datums, body, self)
            except SchemaError as error:
                if body.lost:
                    raise EngineLost("The engine is gone at the beginning of a step") from error
                raise

    def close(self) -> None:
        self._input.close()
        self._link.close()

    def _acknowledge(self, step: int) -> None:
        self._say({"type": "acknowledge", "step": step})
        self._hear("acknowledged")

    def _say(self, message: dict[str, Any]) -> None:
        try:
            self._link.sendall((json.dumps(message) + "\n").encode())
        except OSError as error:
            # Its reason for hanging up may still lie in our buffer.
            self._hear()
            raise EngineLost(f"The engine is gone: {error}") from error

    def _hear(self, *expected: str) -> dict[str, Any]:
        self._skip_body()
        try:
            line = self._input.readline()
        except OSError:
            line = b""
        if not line.endswith(b"\n"):
            raise EngineLost("The engine is gone")
        message: dict[str, Any] = json.loads(line)
        if message["type"] == "error":
            raise TransportError(message["message"])
        if message["type"] not in expected:
            raise TransportError(f"Expected {' or '.join(expected)}, got {line.decode()[:200]}")
        return message

    def _skip_body(self) -> None:
        """What was not read of a step lies before the engine's next line."""
        body, self._body = self._body, None
        if body is None:
            return
        scratch = bytearray(1 << 20)
        while body.left > 0 and not body.lost:
            body.readinto(scratch)


@contextmanager
def connect(
    path: str | os.PathLike[str],
    *,
    first_step: int | None = None,
    wait_seconds: float = 0.0,
) -> Iterator[Connection]:
    """Steps of the engine that serves on this socket.

    `first_step`: steps that the learner's own checkpoint holds – the engine goes on exactly there, and counts them as
    acknowledged; None = what is not acknowledged. `wait_seconds`: how long an engine may take to appear.
    Raise `EngineLost` where none does.
    """
    link = _open(os.fspath(path), time.monotonic() + wait_seconds)
    connection = None
    try:
        connection = Connection(link, first_step)
        yield connection
    finally:
        if connection is not None:
            connection.close()
        link.close()


def _open(path: str, until: float) -> socket.socket:
    while True:
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            link.connect(path)
            return link
        except (FileNotFoundError, ConnectionRefusedError) as error:
            link.close()
            if time.monotonic() >= until:
                raise EngineLost(f"Expected an engine that serves on {path}, got none") from error
            time.sleep(0.05)
        except OSError as error:
            link.close()
            raise EngineLost(f"Cannot connect to {path}: {error}") from error
        except BaseException:
            link.close()
            raise
