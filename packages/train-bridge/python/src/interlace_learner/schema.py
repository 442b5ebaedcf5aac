"""What this package can read: the table, its version, its columns, and the facts a learner must know.

In: an Arrow schema. Out: `RunFacts`. Refuses a table that is not Interlace's, a higher major version,
a missing column and a column of another type – before any row is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

SUPPORTED_MAJOR = 1

TOKEN_COLUMNS: dict[str, Any] = {
    "input_tokens": pa.list_(pa.int32()),
    "target_tokens": pa.list_(pa.int32()),
    "old_logprobs": pa.list_(pa.float32()),
    "advantages": pa.list_(pa.float32()),
    "loss_mask": pa.list_(pa.uint8()),
}
"""One list per datum, the five equally long."""

PACKING_COLUMNS: dict[str, Any] = {"micro_batch": pa.int32(), "sample_weight": pa.float32()}


class SchemaError(ValueError):
    """The data is not what this package can read; the message says what was expected and seen."""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Facts of the run and the step, from the schema's metadata."""

    schema_version: str
    group_size: int
    temperature: float
    top_p: float
    top_k: int | None
    """None = off."""
    logprob_kind: str
    """What `old_logprobs` means: `raw` | `temperature_scaled` | `processed` | `unknown`."""
    vocab_size: int
    """Token ids are `[0, vocab_size)`."""
    max_context_tokens: int
    seed: int
    tokenizer_id: str
    tokenizer_hash: str
    config_hash: str
    advantage_estimator: str
    scored_samples: int
    """N: all scored trajectories of the step, with a datum or without."""
    rows: int
    """Datums of the step."""


def read_facts(schema: Any, where: str, table: str = "datums") -> RunFacts:
    """Raise `SchemaError` unless `schema` is a table of a version that this package knows."""
    raw = schema.metadata or {}
    metadata = {key.decode(): value.decode() for key, value in raw.items()}
    version, seen = metadata.get("schema_version"), metadata.get("table")
    if version is None or seen is None:
        raise SchemaError(
            f"{where}: expected a table of Interlace, got Arrow data without table and "
            "schema_version in its metadata"
        )
    if seen != table:
        raise SchemaError(f"{where}: expected the table {table}, got {seen}")
    major, dot, minor = version.partition(".")
    if not (dot and major.isdecimal() and minor.isdecimal()) or int(major) > SUPPORTED_MAJOR:
        raise SchemaError(
            f"{where}: expected schema version {SUPPORTED_MAJOR}.x or an older one, got {version}; "
            "install a newer interlace-learner"
        )

    def text(key: str) -> str:
        if key not in metadata:
            raise SchemaError(f"{where}: expected {key} in the schema's metadata, got none")
        return str(metadata[key])

    def number(key: str) -> float:
        try:
            return float(text(key))
        except ValueError as error:
            raise SchemaError(f"{where}: expected {key} to be a number, got {text(key)}") from error

    return RunFacts(
        schema_version=version,
        group_size=int(number("group_size")),
        temperature=number("temperature"),
        top_p=number("top_p"),
        top_k=None if text("top_k") == "off" else int(number("top_k")),
        logprob_kind=text("logprob_kind"),
        vocab_size=int(number("vocab_size")),
        max_context_tokens=int(number("max_context_tokens")),
        seed=int(number("seed")),
        tokenizer_id=text("tokenizer_id"),
        tokenizer_hash=text("tokenizer_hash"),
        config_hash=text("config_hash"),
        advantage_estimator=text("advantage_estimator"),
        scored_samples=int(number("scored_samples")),
        rows=int(number("rows")),
    )


def check_columns(schema: Any, where: str) -> None:
    """Raise `SchemaError` unless the columns that a learner needs are there, with their types."""
    for name, expected in {**TOKEN_COLUMNS, **PACKING_COLUMNS}.items():
        index = schema.get_field_index(name)
        if index < 0:
            raise SchemaError(f"{where}: expected the column {name}, got none of that name")
        seen = schema.field(index).type
        if seen != expected:
            raise SchemaError(f"{where}: expected {name} to be {expected}, got {seen}")
