"""pyarrow's side: writes the same datums again, and reads them as the learner does.

python arrow_bench.py write|read|copy DATUMS_FILE OUT_FILE; prints one JSON line with CPU milliseconds.
"""

import json
import os
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parents[2] / "packages/train-bridge/python/src"))
from interlace_learner import open_datums  # noqa: E402

MODE, SOURCE, OUT = sys.argv[1:4]
COLUMNS = ("input_tokens", "target_tokens", "old_logprobs", "advantages", "loss_mask")


def own_memory():
    """Batches whose buffers are memory of this process, not pages of the file."""
    with open(SOURCE, "rb") as file:
        reader = pa.ipc.open_file(pa.py_buffer(file.read()))
        return reader.schema, [reader.get_batch(i) for i in range(reader.num_record_batches)]


def write():
    schema, batches = own_memory()
    # Lists are put together from numpy arrays, as a program with tokens in its hands has them.
    columns = [[column_parts(column) for column in batch.columns] for batch in batches]
    began = time.process_time()
    with open(OUT, "wb") as file:
        with pa.ipc.new_file(file, schema) as writer:
            for parts in columns:
                arrays = [make_array(part) for part in parts]
                writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
        file.flush()
        os.fsync(file.fileno())
    return time.process_time() - began, {}


def column_parts(column):
    if not pa.types.is_list(column.type):
        return column
    values = column.values
    return column.offsets.to_numpy(), values.to_numpy(), column.type


def make_array(part):
    if not isinstance(part, tuple):
        return part
    offsets, values, list_type = part
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values), type=list_type)


def views():
    with open_datums(SOURCE) as datums:
        return [getattr(batch, name) for batch in datums.micro_batches() for name in COLUMNS]


def read():
    before = pa.total_allocated_bytes()
    began = time.process_time()
    arrays = views()
    used = time.process_time() - began
    owned = sum(array.nbytes for array in arrays if array.flags.owndata)
    total = sum(array.nbytes for array in arrays)
    return used, {"bytes": total, "copiedBytes": owned + pa.total_allocated_bytes() - before}


def copy():
    arrays = views()
    into = np.empty(max(array.nbytes for array in arrays), dtype=np.uint8)
    for array in arrays:  # pages are in memory before the clock starts
        into[: array.nbytes] = array.view(np.uint8)
    began = time.process_time()
    for array in arrays:
        into[: array.nbytes] = array.view(np.uint8)
    return time.process_time() - began, {"bytes": sum(array.nbytes for array in arrays)}


seconds, more = {"write": write, "read": read, "copy": copy}[MODE]()
print(json.dumps({"cpuMs": seconds * 1000, **more}))
