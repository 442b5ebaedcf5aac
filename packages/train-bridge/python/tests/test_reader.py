from __future__ import annotations

import io
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from support import GOLDEN, ROW, TYPES, Row, as_file, as_stream, make_table

from interlace_learner import SchemaError, open_datums, read_micro_batch

OTHER = ROW.but(
    input_tokens=[7, 8],
    target_tokens=[8, 9],
    old_logprobs=[0, -1],
    advantages=[0, -0.5],
    loss_mask=[0, 1],
)


def read_all(source: Any) -> list[dict[str, Any]]:
    with open_datums(source) as step:
        return [
            {
                "weight": float(batch.sample_weight),
                "lengths": batch.lengths.tolist(),
                "inputs": batch.input_tokens.tolist(),
                "targets": batch.target_tokens.tolist(),
                "logprobs": batch.old_logprobs.tolist(),
                "advantages": batch.advantages.tolist(),
                "mask": batch.loss_mask.tolist(),
            }
            for batch in step.micro_batches()
        ]


EXPECTED = [
    {
        "weight": 0.5,
        "lengths": [3, 2],
        "inputs": [10, 20, 30, 7, 8],
        "targets": [20, 30, 40, 8, 9],
        "logprobs": [-0.5, 0, -2, 0, -1],
        "advantages": [1.5, 0, 1.5, 0, -0.5],
        "mask": [1, 0, 1, 0, 1],
    },
    {
        "weight": 0.25,
        "lengths": [2],
        "inputs": [7, 8],
        "targets": [8, 9],
        "logprobs": [0, -1],
        "advantages": [0, -0.5],
        "mask": [0, 1],
    },
]


class TestEveryForm:
    table = make_table([[ROW, OTHER], [OTHER]], scored=4)

    def test_bytes_of_a_file_and_of_a_stream(self) -> None:
        assert read_all(as_file(*self.table)) == EXPECTED
        assert read_all(as_stream(*self.table)) == EXPECTED

    def test_a_path(self, tmp_path: Path) -> None:
        path = tmp_path / "datums.arrow"
        path.write_bytes(as_file(*self.table))
        assert read_all(path) == EXPECTED
        assert read_all(str(path)) == EXPECTED

    def test_a_pipe_batch_by_batch(self) -> None:
        schema, batches = self.table
        reading, writing = os.pipe()
        came = threading.Event()

        def feed() -> None:
            with os.fdopen(writing, "wb") as sink, pa.ipc.new_stream(sink, schema) as writer:
                writer.write_batch(batches[0])
                sink.flush()
                # The second batch is not made before the first one has been read.
                came.wait(10)
                writer.write_batch(batches[1])

        feeder = threading.Thread(target=feed)
        feeder.start()
        try:
            with os.fdopen(reading, "rb", buffering=0) as source, open_datums(source) as step:
                stream = step.micro_batches()
                assert next(stream).input_tokens.tolist() == [10, 20, 30, 7, 8]
                came.set()
                assert next(stream).input_tokens.tolist() == [7, 8]
                assert list(stream) == []
        finally:
            came.set()
            feeder.join()

    def test_a_step_without_datums(self) -> None:
        schema, _ = self.table
        empty = make_table([], scored=4)
        assert read_all(as_file(*empty)) == read_all(as_stream(*empty)) == []
        assert schema.names == list(TYPES)

    def test_a_file_can_be_read_twice(self) -> None:
        with open_datums(as_file(*self.table)) as step:
            assert len(list(step.micro_batches())) == len(list(step.micro_batches())) == 2

    def test_a_slice_whose_offsets_do_not_begin_at_0(self) -> None:
        schema, [batch] = make_table([[OTHER, ROW, OTHER, ROW]], scored=4)
        with open_datums(as_stream(schema, [batch])) as step:
            facts = step.facts
        part = read_micro_batch(batch.slice(1, 2), 0, facts)
        assert part.offsets.tolist() == [0, 3, 5]
        assert part.input_tokens.tolist() == [10, 20, 30, 7, 8]
        assert part.loss_mask.tolist() == [1, 0, 1, 0, 1]


class TestTheBridgesOwnFile:
    def test_facts_and_arrays(self) -> None:
        with open_datums(GOLDEN) as step:
            facts = step.facts
            [batch] = list(step.micro_batches())
        assert (facts.group_size, facts.top_p, facts.top_k) == (2, 0.7, None)
        assert (facts.logprob_kind, facts.vocab_size) == ("processed", 265)
        assert (facts.scored_samples, facts.rows) == (3, 2)
        assert facts.advantage_estimator == "group_centred"
        assert batch.sample_weight == np.float32(2 / 3)
        assert batch.offsets.tolist() == [0, 9, 12]
        assert batch.target_tokens.tolist() == [11, 12, 20, 21, 30, 31, 40, 41, 42, 11, 12, 50]
        assert batch.loss_mask.tolist() == [0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0, 1]
        assert batch.old_logprobs.tolist() == [0, 0, -0.5, -0.25, 0, 0, -1, -2, -0.125, 0, 0, -3]
        assert batch.advantages.tolist() == [0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 0, -1]
        assert batch.table.column("final_answer").to_pylist() == ["42", None]

    def test_token_columns_are_views_of_the_mapped_file(self) -> None:
        with open_datums(GOLDEN) as step:
            for batch in step.micro_batches():
                for name in list(TYPES)[:5]:
                    ours = getattr(batch, name)
                    values = batch.table.column(name).values
                    start = values.buffers()[1].address
                    assert ours.ctypes.data == start
                    assert not ours.flags.owndata
                    assert not ours.flags.writeable


class TestRefused:
    @pytest.mark.parametrize("cut", [1, 9, 60, 400])
    def test_data_that_ends_too_early(self, cut: int, tmp_path: Path) -> None:
        table = make_table([[ROW, OTHER], [OTHER]], scored=4)
        path = tmp_path / "datums.arrow"
        path.write_bytes(as_file(*table)[:-cut])
        with pytest.raises(SchemaError, match=r"datums\.arrow: expected a whole Arrow file"):
            read_all(path)
        with pytest.raises(SchemaError, match=r"too early|expected 3 datums|whole"):
            # 8 bytes are the end marker alone: nothing is missing then.
            read_all(io.BytesIO(as_stream(*table)[: -cut - 8]))

    def test_a_stream_that_lacks_a_whole_batch(self) -> None:
        schema, batches = make_table([[ROW], [OTHER]], scored=4)
        with pytest.raises(SchemaError, match="expected 2 datums, as the metadata says, got 1"):
            read_all(as_stream(schema, batches[:1]))

    @pytest.mark.parametrize(
        ("metadata", "message"),
        [
            ({"schema_version": "2.0"}, r"expected schema version 1\.x or an older one, got 2\.0"),
            ({"schema_version": "one"}, "got one"),
            ({"schema_version": ""}, "expected a table of Interlace"),
            ({"table": "trajectories"}, "expected the table datums, got trajectories"),
            ({"vocab_size": ""}, "expected vocab_size in the schema's metadata, got none"),
            ({"top_p": "much"}, "expected top_p to be a number, got much"),
        ],
    )
    def test_metadata(self, metadata: dict[str, str], message: str) -> None:
        with pytest.raises(SchemaError, match=message):
            read_all(as_stream(*make_table([[ROW]], scored=1, **metadata)))

    def test_a_higher_minor_version_is_read(self) -> None:
        read_all(as_stream(*make_table([[ROW]], scored=1, schema_version="1.7")))

    def test_a_missing_column_and_another_type(self) -> None:
        without = {name: kind for name, kind in TYPES.items() if name != "advantages"}
        with pytest.raises(SchemaError, match="expected the column advantages, got none"):
            read_all(as_stream(*make_table([[ROW]], 1, without)))
        wide = {**TYPES, "old_logprobs": pa.list_(pa.float64())}
        with pytest.raises(
            SchemaError, match=r"old_logprobs to be list<item: float>, got .*double"
        ):
            read_all(as_stream(*make_table([[ROW]], 1, wide)))

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            (ROW.but(loss_mask=[1, 0]), "row 1: expected loss_mask to be as long as input_tokens"),
            (
                ROW.but(target_tokens=[20, 512, 40]),
                r"row 1, position 1: expected target_tokens in \[0, 512\)",
            ),
            (ROW.but(input_tokens=[-1, 20, 30]), "row 1, position 0: expected input_tokens in"),
            (ROW.but(loss_mask=[2, 0, 1]), "row 1, position 0: expected loss_mask of 0 or 1"),
            (
                ROW.but(old_logprobs=[0, 0, float("nan")]),
                "row 1, position 2: expected finite old_logprobs",
            ),
            (
                ROW.but(advantages=[1, 0, float("inf")]),
                "row 1, position 2: expected finite advantages",
            ),
            (
                ROW.but(advantages=[1, 1, 1]),
                "row 1, position 1: expected advantage 0 where the mask is 0",
            ),
            (
                ROW.but(loss_mask=[0, 0, 0], advantages=[0, 0, 0]),
                "row 1: expected a token to learn from, got none",
            ),
        ],
    )
    def test_rows_that_would_teach_nonsense(self, row: Row, message: str) -> None:
        with pytest.raises(SchemaError, match=message):
            read_all(as_stream(*make_table([[ROW, row]], scored=2)))

    def test_weights_that_differ_within_a_batch(self) -> None:
        schema, [batch] = make_table([[ROW, ROW]], scored=2)
        at = schema.get_field_index("sample_weight")
        changed = batch.set_column(at, schema.field(at), pa.array([1.0, 0.5], pa.float32()))
        with pytest.raises(SchemaError, match=r"expected one sample_weight in \(0, 1\]"):
            read_all(as_stream(schema, [changed]))

    def test_what_is_no_arrow(self) -> None:
        with pytest.raises(SchemaError, match="expected a whole Arrow file or stream"):
            read_all(b"not arrow at all")
