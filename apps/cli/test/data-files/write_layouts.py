"""Problem files as other libraries write them. In: a folder. Out: one file per layout, library and format; their names
and, by layout, the problems that they hold, as JSON.
"""
import json
import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

folder = sys.argv[1]

LAYOUTS = {
    # openai/gsm8k
    "gsm8k": [
        {"question": "Natalia sold 48 clips…\nHow many?", "answer": "48/2 = <<48/2=24>>24\n#### 72"},
        {"question": "Weng earns $12, an hour; \"50\" minutes?", "answer": "so\n#### 1,234"},
    ],
    # HuggingFaceH4/MATH-500
    "math500": [
        {
            "problem": "Convert $(0,3)$ to polar coordinates.",
            "solution": "We have \\boxed{(3, \\pi/2)}",
            "answer": "\\left( 3, \\frac{\\pi}{2} \\right)",
            "subject": "Precalculus",
            "level": 2,
            "unique_id": "test/precalculus/807.json",
        }
    ],
    # hendrycks/competition_math
    "math": [
        {
            "problem": "What is $1+1$?",
            "level": "Level 1",
            "type": "Algebra",
            "solution": "It is \\boxed{1}, no, \\boxed{\\text{two } {2}}.",
        }
    ],
    # Maxwell-Jia/AIME_2024
    "aime": [
        {"ID": "2024-II-4", "Problem": "Let $x,y$ be…", "Solution": "so 033", "Answer": 33},
        {"ID": "2024-I-1", "Problem": "Every morning…", "Solution": "so 204", "Answer": 204},
    ],
    # BytedTsinghua-SIA/DAPO-Math-17k
    "dapo": [
        {
            "data_source": "math_dapo",
            "prompt": [{"content": "In triangle $ABC$, …", "role": "user"}],
            "ability": "MATH",
            "reward_model": {"ground_truth": "34", "style": "rule-lighteval/MATH_v2"},
            "extra_info": {"index": "9a9b6eb4-a1cb-49d1-8c1e-62eaf2f74079"},
        }
    ],
    "own": [{"id": 7, "question": "1+1?", "answer": 0, "data_source": "mine"}],
}

PROBLEMS = {
    "gsm8k": [["1", "Natalia sold 48 clips…\nHow many?", "72"], ["2", "Weng earns $12, an hour; \"50\" minutes?", "1,234"]],
    "math500": [["test/precalculus/807.json", "Convert $(0,3)$ to polar coordinates.", "\\left( 3, \\frac{\\pi}{2} \\right)"]],
    "math": [["1", "What is $1+1$?", "\\text{two } {2}"]],
    "aime": [["2024-II-4", "Let $x,y$ be…", "33"], ["2024-I-1", "Every morning…", "204"]],
    "dapo": [["9a9b6eb4-a1cb-49d1-8c1e-62eaf2f74079", "In triangle $ABC$, …", "34"]],
    "own": [["7", "1+1?", "0"]],
}


def pyarrow_files(name, rows, flat):
    table = pa.Table.from_pylist(rows)
    yield "parquet", lambda path: pq.write_table(table, path, compression="zstd")
    yield "arrow", lambda path: write_ipc(table, path)
    if flat:
        yield "csv", lambda path: pacsv.write_csv(table, path)


def polars_files(name, rows, flat):
    frame = pl.DataFrame(rows)
    yield "parquet", lambda path: frame.write_parquet(path, compression="snappy")
    yield "arrow", lambda path: frame.write_ipc(path, compression="uncompressed")
    yield "jsonl", frame.write_ndjson
    if flat:
        yield "csv", frame.write_csv


def pandas_files(name, rows, flat):
    frame = pd.DataFrame(rows)
    yield "parquet", lambda path: frame.to_parquet(path, index=False, compression="gzip")
    yield "jsonl", lambda path: frame.to_json(path, orient="records", lines=True, force_ascii=True)
    if flat:
        yield "csv", lambda path: frame.to_csv(path, index=False)


def write_ipc(table, path):
    with ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)


files = []
for layout, rows in LAYOUTS.items():
    flat = layout != "dapo"
    for library in (pyarrow_files, polars_files, pandas_files):
        for ending, write in library(layout, rows, flat):
            name = f"{layout}-{library.__name__.removesuffix('_files')}.{ending}"
            write(f"{folder}/{name}")
            files.append([layout, name])
json.dump({"files": files, "problems": PROBLEMS}, sys.stdout)
