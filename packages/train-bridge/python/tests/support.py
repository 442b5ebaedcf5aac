"""Tables made with pyarrow alone, so that the reader is not tested against our own writer only."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

REPOSITORY = Path(__file__).parents[4]
GOLDEN = REPOSITORY / "packages/train-bridge/test/golden/datums-1.0.arrow"
POLICY = REPOSITORY / "packages/sampler-clients/assets/policy"

METADATA = {
    "table": "datums",
    "schema_version": "1.0",
    "group_size": "8",
    "temperature": "1",
    "top_p": "1",
    "top_k": "off",
    "logprob_kind": "raw",
    "vocab_size": "512",
    "max_context_tokens": "512",
    "seed": "42",
    "tokenizer_id": "bytes",
    "tokenizer_hash": "sha256:01",
    "config_hash": "sha256:02",
    "advantage_estimator": "group_centred",
}


@dataclass(frozen=True)
class Row:
    input_tokens: Sequence[int]
    target_tokens: Sequence[int]
    old_logprobs: Sequence[float]
    advantages: Sequence[float]
    loss_mask: Sequence[int]

    def but(self, **changes: Sequence[Any]) -> Row:
        return replace(self, **changes)


#          full: 10  20  30  40; 20 and 40 were sampled
ROW = Row(
    input_tokens=[10, 20, 30],
    target_tokens=[20, 30, 40],
    old_logprobs=[-0.5, 0, -2],
    advantages=[1.5, 0, 1.5],
    loss_mask=[1, 0, 1],
)

TYPES = {
    "input_tokens": pa.list_(pa.int32()),
    "target_tokens": pa.list_(pa.int32()),
    "old_logprobs": pa.list_(pa.float32()),
    "advantages": pa.list_(pa.float32()),
    "loss_mask": pa.list_(pa.uint8()),
    "micro_batch": pa.int32(),
    "sample_weight": pa.float32(),
}


def make_table(
    micro_batches: Sequence[Sequence[Row]],
    scored: int,
    types: dict[str, Any] = TYPES,
    **metadata: str,
) -> tuple[pa.Schema, list[pa.RecordBatch]]:
    """`metadata` changes or adds entries; an empty text removes one."""
    rows = sum(len(batch) for batch in micro_batches)
    entries = {**METADATA, "scored_samples": str(scored), "rows": str(rows), **metadata}
    schema = pa.schema(
        types.items(), metadata={key: value for key, value in entries.items() if value != ""}
    )
    batches = []
    for index, batch in enumerate(micro_batches):
        columns: dict[str, list[Any]] = {
            name: [getattr(row, name) for row in batch] for name in list(TYPES)[:5]
        }
        columns["micro_batch"] = [index] * len(batch)
        columns["sample_weight"] = [float(np.float32(len(batch) / scored))] * len(batch)
        arrays = [pa.array(columns[name], types[name]) for name in schema.names]
        batches.append(pa.record_batch(arrays, schema=schema))
    return schema, batches


def as_stream(schema: pa.Schema, batches: Sequence[pa.RecordBatch]) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue()


def as_file(schema: pa.Schema, batches: Sequence[pa.RecordBatch]) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue()
