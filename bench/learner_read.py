"""How fast a step's tokens come from the disk into padded tensors, beside a plain copy of the same bytes in memory.

    python bench/learner_read.py [--tokens 20000000]

Prints seconds of both and their ratio; the goal is at most 1.5; and the same of `pad` alone, on batches that were read
before. All are the best of five, on one thread. The file is in memory already (page cache), as it is when an engine has
just written it. Reading maps it anew, page by page, and checks every value; the copy does neither.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parents[1] / "packages/train-bridge/python/src"))
from interlace_learner import open_datums, pad

LENGTH = 2000
ITEMS = 32
METADATA = {
    "table": "datums", "schema_version": "1.0", "group_size": "8", "temperature": "1", "top_p": "1",
    "top_k": "off", "logprob_kind": "raw", "vocab_size": "151936", "max_context_tokens": "16384", "seed": "1",
    "tokenizer_id": "none", "tokenizer_hash": "none", "config_hash": "none", "advantage_estimator": "group_centred",
}  # fmt: skip


def write_file(path: Path, tokens: int) -> int:
    """Micro-batches of 32 datums, sorted by length as the packing sorts them: within 10% of each other. Bytes of tokens."""
    draw = np.random.default_rng(0)
    count = max(1, round(tokens / (LENGTH * ITEMS)))
    rows = count * ITEMS
    metadata = {**METADATA, "rows": str(rows), "scored_samples": str(rows)}
    size = 0
    types = [("input_tokens", pa.int32()), ("target_tokens", pa.int32()), ("old_logprobs", pa.float32()),
             ("advantages", pa.float32()), ("loss_mask", pa.uint8())]  # fmt: skip
    fields = [pa.field(name, pa.list_(kind)) for name, kind in types]
    fields += [pa.field("micro_batch", pa.int32()), pa.field("sample_weight", pa.float32())]
    schema = pa.schema(fields, metadata=metadata)
    with pa.ipc.new_file(str(path), schema) as writer:
        for index in range(count):
            lengths = draw.integers(int(LENGTH * 0.95), int(LENGTH * 1.05), ITEMS)
            offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
            total = int(lengths.sum())
            mask = (draw.random(total) < 0.6).astype(np.uint8)
            values = [
                draw.integers(0, 151936, total).astype(np.int32),
                draw.integers(0, 151936, total).astype(np.int32),
                (-draw.random(total)).astype(np.float32) * mask,
                np.float32(0.5) * mask,
                mask,
            ]
            size += sum(each.nbytes for each in values)
            columns = [pa.ListArray.from_arrays(offsets, pa.array(each)) for each in values]
            columns.append(pa.array(np.full(ITEMS, index, np.int32)))
            columns.append(pa.array(np.full(ITEMS, ITEMS / rows, np.float32)))
            writer.write_batch(pa.record_batch(columns, schema=schema))
    return size


def best_of(work: Callable[[], None], times: int = 5) -> float:
    def once() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return min(once() for _ in range(times))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tokens", type=int, default=20_000_000)
    tokens = parser.parse_args().tokens
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "datums.arrow"
        size = write_file(path, tokens)

        def read() -> None:
            with open_datums(path) as step:
                for batch in step.micro_batches():
                    pad(batch)

        padded = 0
        with open_datums(path) as step:
            for batch in step.micro_batches():
                arrays = pad(batch)
                names = ("input_tokens", "target_tokens", "old_logprobs", "advantages", "loss_mask")
                padded += sum(getattr(arrays, name).nbytes for name in names)
        # As much as the tensors hold, piece by piece as they are made: a copy has new memory to touch too.
        pieces = max(1, round(tokens / (LENGTH * ITEMS)))
        source = np.ones((pieces, padded // pieces), np.uint8)

        def copy() -> None:
            for piece in source:
                piece.copy()

        read()
        seconds, plain = best_of(read), best_of(copy)
        with open_datums(path) as step:
            batches = list(step.micro_batches())

        def pad_all() -> None:
            for batch in batches:
                pad(batch)

        alone = best_of(pad_all)
        print(f"tokens          {tokens:>12,} on {os.cpu_count()} cores")
        print(f"on the disk     {size / 1e6:>12,.0f} MB, as tensors {padded / 1e6:,.0f} MB")
        print(f"Arrow → tensors {seconds:>12.3f} s")
        print(f"memory copy     {plain:>12.3f} s  (of the tensors' bytes)")
        print(f"ratio           {seconds / plain:>12.2f}   (goal: at most 1.5)")
        print(f"pad alone       {alone:>12.3f} s, ratio {alone / plain:.2f}")


if __name__ == "__main__":
    main()
