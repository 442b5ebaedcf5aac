"""Datums of one step, micro-batch by micro-batch, without copying the token columns.

In: `datums.arrow`, its bytes, or a binary stream (pipe, socket). Out: `RunFacts` and `MicroBatch`es whose
arrays are views of Arrow's memory: [tokens of all datums of the batch, one behind the other].
Refuses what `schema` refuses, data that ends too early, and rows that would teach nonsense.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .schema import RunFacts, SchemaError, check_columns, read_facts

FILE_MAGIC = b"ARROW1"

Int32Array = NDArray[np.int32]
Float32Array = NDArray[np.float32]
Uint8Array = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """The datums that the learner sees together. Datum i is `[offsets[i], offsets[i + 1])` of each array."""

    index: int
    sample_weight: np.float32
    """float32(n_k / N): multiply the advantages by it before the mean over the batch's samples."""
    offsets: Int32Array
    """[datums + 1]"""
    input_tokens: Int32Array
    target_tokens: Int32Array
    old_logprobs: Float32Array
    advantages: Float32Array
    """Unscaled; 0 where the mask is 0."""
    loss_mask: Uint8Array
    table: Any
    """The whole `pyarrow.RecordBatch`: identity, outcome and what a later version adds."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def lengths(self) -> Int32Array:
        """[datums]"""
        return np.diff(self.offsets)

    @property
    def loss_tokens(self) -> int:
        return int(np.count_nonzero(self.loss_mask))


@dataclass(frozen=True, slots=True)
class Datums:
    """One step. `micro_batches()` of a file can be called again; of a stream once."""

    facts: RunFacts
    _batches: Iterator[Any] | Any
    _where: str

    def micro_batches(self) -> Iterator[MicroBatch]:
        """Raise `SchemaError` on rows that do not hold together, and when rows are missing at the end."""
        rows = 0
        for index, batch in enumerate(self._read()):
            rows += batch.num_rows
            yield read_micro_batch(batch, index, self.facts, self._where)
        if rows != self.facts.rows:
            raise SchemaError(
                f"{self._where}: expected {self.facts.rows} datums, as the metadata says, got {rows}"
            )

    def _read(self) -> Iterator[Any]:
        try:
            if isinstance(self._batches, pa.RecordBatchFileReader):
                for i in range(self._batches.num_record_batches):
                    yield self._batches.get_batch(i)
            else:
                yield from self._batches
        except (pa.ArrowInvalid, OSError) as error:
            raise SchemaError(
                f"{self._where}: the data ends too early or is damaged: {error}"
            ) from error


@contextmanager
def open_datums(source: str | os.PathLike[str] | bytes | BinaryIO) -> Iterator[Datums]:
    """A path is mapped into memory and must be a file; bytes may be either form; an open file is a stream."""
    where = os.fspath(source) if isinstance(source, (str, os.PathLike)) else "Arrow data"
    with _open_reader(source, where) as reader:
        facts = read_facts(reader.schema, where)
        check_columns(reader.schema, where)
        yield Datums(facts, reader, where)


def _open_reader(source: str | os.PathLike[str] | bytes | BinaryIO, where: str) -> Any:
    try:
        if isinstance(source, (str, os.PathLike)):
            return pa.ipc.open_file(pa.memory_map(where))
        if isinstance(source, bytes) and source.startswith(FILE_MAGIC):
            return pa.ipc.open_file(source)
        return pa.ipc.open_stream(source)
    except pa.ArrowInvalid as error:
        raise SchemaError(f"{where}: expected a whole Arrow file or stream: {error}") from error


def read_micro_batch(
    batch: Any, index: int, facts: RunFacts, where: str = "Arrow data"
) -> MicroBatch:
    """Views of one `pyarrow.RecordBatch`, whole or a slice, that came by any way. Raise `SchemaError` as above."""
    columns = {name: _views(batch, name) for name in _TOKEN_NAMES}
    offsets = columns["input_tokens"][0]
    for name, (own, _) in columns.items():
        if not np.array_equal(own, offsets):
            row = int(np.argmax(np.diff(own) != np.diff(offsets)))
            raise SchemaError(
                f"{where}: micro-batch {index}, row {row}: expected {name} to be as long as input_tokens"
            )
    weights = batch.column("sample_weight").to_numpy()
    if len(weights) == 0 or not np.all(weights == weights[0]) or not 0 < weights[0] <= 1:
        raise SchemaError(
            f"{where}: micro-batch {index}: expected one sample_weight in (0, 1], got {weights.tolist()}"
        )
    result = MicroBatch(
        index=index,
        sample_weight=weights[0],
        offsets=offsets,
        input_tokens=columns["input_tokens"][1],
        target_tokens=columns["target_tokens"][1],
        old_logprobs=columns["old_logprobs"][1],
        advantages=columns["advantages"][1],
        loss_mask=columns["loss_mask"][1],
        table=batch,
    )
    _check_values(result, facts, f"{where}: micro-batch {index}")
    return result


_TOKEN_NAMES = ("input_tokens", "target_tokens", "old_logprobs", "advantages", "loss_mask")


def _views(batch: Any, name: str) -> tuple[Int32Array, NDArray[Any]]:
    """Offsets from 0 and the values they span, as views."""
    column = batch.column(name)
    offsets = column.offsets.to_numpy()
    values = column.values.to_numpy(zero_copy_only=True)
    first = int(offsets[0]) if len(offsets) else 0
    last = int(offsets[-1]) if len(offsets) else 0
    return (offsets if first == 0 else offsets - np.int32(first)), values[first:last]


def _check_values(batch: MicroBatch, facts: RunFacts, where: str) -> None:
    """Whole arrays at once; where in them something is wrong is only looked for when it is."""
    if len(batch.loss_mask) == 0:
        raise SchemaError(f"{where}, row 0: expected a token to learn from, got none")
    for name in ("input_tokens", "target_tokens"):
        ids = getattr(batch, name)
        # Negative ids are the largest without a sign.
        if ids.view(np.uint32).max() >= facts.vocab_size:
            bad = (ids < 0) | (ids >= facts.vocab_size)
            _refuse(batch, bad, f"{name} in [0, {facts.vocab_size})", where)
    masked = batch.loss_mask
    if masked.max() > 1:
        _refuse(batch, masked > 1, "loss_mask of 0 or 1", where)
    for name in ("old_logprobs", "advantages"):
        finite = np.isfinite(getattr(batch, name))
        if not finite.all():
            _refuse(batch, ~finite, f"finite {name}", where)
    stray = (batch.advantages != 0) > masked.view(np.bool_)
    _refuse(batch, stray, "advantage 0 where the mask is 0", where)
    # An empty row would be given its neighbour's; there is nothing to learn from it either.
    learnt = np.maximum.reduceat(masked, batch.offsets[:-1].clip(max=len(masked) - 1))
    if not learnt.all() or batch.lengths.min() == 0:
        row = int(np.flatnonzero((learnt == 0) | (batch.lengths == 0))[0])
        raise SchemaError(f"{where}, row {row}: expected a token to learn from, got none")


def _refuse(batch: MicroBatch, bad: NDArray[np.bool_], expected: str, where: str) -> None:
    if bad.any():
        at = int(np.argmax(bad))
        row = int(np.searchsorted(batch.offsets, at, side="right")) - 1
        position = at - int(batch.offsets[row])
        raise SchemaError(f"{where}, row {row}, position {position}: expected {expected}")
