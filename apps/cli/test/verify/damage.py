"""Damages copies of a run folder, one kind each, with an Arrow writer that is not ours.

In: a run folder, a folder for the copies. Out: one copy per kind, named after it; the names on stdout.
"""

import base64
import json
import shutil
import struct
import sys
from itertools import groupby
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc as ipc

STEP = "step-000000"


def rewrite(path: Path, edit, metadata=None, drop=None) -> None:
    """Rows as Python sees them, edited, with the same schema and one record batch per list of rows."""
    with path.open("rb") as file:
        reader = ipc.open_file(file)
        schema = reader.schema
        batches = [reader.get_batch(i).to_pylist() for i in range(reader.num_record_batches)]
    batches = edit(batches) or batches
    if metadata is not None:
        schema = schema.with_metadata({**schema.metadata, **metadata})
    if drop is not None:
        schema = schema.remove(schema.get_field_index(drop))
    with path.open("wb") as file, ipc.new_file(file, schema) as writer:
        for rows in batches:
            writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=schema))


def row_of(name: str, change, index: int = 0, find=None):
    """Changes one row of a table in place."""

    def damage(run: Path) -> None:
        def edit(batches):
            rows = [row for batch in batches for row in batch]
            row = next(r for r in rows if find(r)) if find else rows[index]
            change(row)

        rewrite(run / STEP / name, edit)

    return damage


def datum(change, index=0):
    return row_of("datums.arrow", change, index)


def trajectory(change, find=None):
    return row_of("trajectories.arrow", change, 0, find)


def put(column, position, value):
    def change(row):
        row[column][position] = value

    return change


def add(column, position, value):
    def change(row):
        row[column][position] += value

    return change


def first_trained(row):
    return row["loss_mask"].index(1)


def on_first_trained(column, value):
    def change(row):
        row[column][first_trained(row)] = value

    return change


def scale_advantages(row):
    row["advantages"] = [a * 2 for a in row["advantages"]]


def file_bytes(name, edit):
    def damage(run: Path) -> None:
        path = run / name
        path.write_bytes(edit(path.read_bytes()))

    return damage


def json_file(name, edit):
    def damage(run: Path) -> None:
        path = run / name
        value = json.loads(path.read_text())
        edit(value)
        path.write_text(json.dumps(value) + "\n")

    return damage


def batches_of(name, edit):
    return lambda run: rewrite(run / STEP / name, edit)


def groups_of(edit):
    """Trajectories by problem, in whatever record batches they lie."""

    def regroup(batches):
        rows = [row for batch in batches for row in batch]
        groups = [list(group) for _, group in groupby(rows, lambda row: row["question_index"])]
        return edit(groups) or groups

    return batches_of("trajectories.arrow", regroup)


def swap_across(batches):
    batches[0][0], batches[-1][-1] = batches[-1][-1], batches[0][0]


def swap_questions(groups):
    groups[0], groups[1] = groups[1], groups[0]


def change_recorded_token(run: Path) -> None:
    """Another id in the first answer of the log, in the right encoding."""
    path = run / STEP / "events.jsonl"
    lines = path.read_text().split("\n")
    for i, line in enumerate(lines):
        event = json.loads(line)
        if event["type"] != "sampled":
            continue
        sequence = event["sequences"][0]
        ids = bytearray(base64.b64decode(sequence["ids"]))
        ids[:4] = struct.pack("<i", struct.unpack("<i", ids[:4])[0] ^ 1)
        sequence["ids"] = base64.b64encode(bytes(ids)).decode()
        lines[i] = json.dumps(event)
        break
    path.write_text("\n".join(lines))


def drop_recorded_line(run: Path) -> None:
    path = run / STEP / "events.jsonl"
    lines = path.read_text().split("\n")
    del lines[3]
    path.write_text("\n".join(lines))


def swap_logprobs(run: Path) -> None:
    """Two logprobs change places in both tables alike: their sum and their set stay."""
    key = {}

    def edit_trajectories(batches):
        row = next(r for b in batches for r in b if r["no_datum"] is None and len(r["logprobs"]) > 8)
        key.update(q=row["question_index"], g=row["group_index"])
        a, b = 1, next(i for i in range(2, 8) if row["logprobs"][i] != row["logprobs"][1])
        row["logprobs"][a], row["logprobs"][b] = row["logprobs"][b], row["logprobs"][a]
        key.update(a=a, b=b)

    def edit_datums(batches):
        row = next(
            r
            for batch in batches
            for r in batch
            if (r["question_index"], r["group_index"]) == (key["q"], key["g"])
        )
        start = first_trained(row)
        values = row["old_logprobs"]
        i, j = start + key["a"], start + key["b"]
        values[i], values[j] = values[j], values[i]

    rewrite(run / STEP / "trajectories.arrow", edit_trajectories)
    rewrite(run / STEP / "datums.arrow", edit_datums)


def has_call(row):
    return any(call["content"] for call in row["tool_calls"])


def answered(row):
    return row["final_answer"] is not None


KINDS = {
    "one_input_token": datum(add("input_tokens", 3, 1)),
    "one_target_token": datum(add("target_tokens", 2, 1)),
    "targets_not_shifted": datum(lambda r: r.update(target_tokens=list(r["input_tokens"]))),
    "id_over_vocabulary": datum(put("target_tokens", -1, 512)),
    "mask_bit_off": datum(put("loss_mask", -1, 0)),
    "mask_bit_on": datum(put("loss_mask", 0, 1)),
    "mask_of_two": datum(on_first_trained("loss_mask", 2)),
    "mask_empty": datum(lambda r: r.update(loss_mask=[0] * len(r["loss_mask"]))),
    "logprob_nan": datum(on_first_trained("old_logprobs", float("nan"))),
    "logprob_missing": datum(on_first_trained("old_logprobs", -9999.0)),
    "logprob_positive": datum(on_first_trained("old_logprobs", 0.5)),
    "logprob_off_mask": datum(put("old_logprobs", 0, -1.0)),
    "logprob_other": datum(on_first_trained("old_logprobs", -0.123)),
    "columns_shifted": datum(
        lambda r: r.update(
            loss_mask=r["loss_mask"][1:] + [0], old_logprobs=r["old_logprobs"][1:] + [0.0]
        )
    ),
    "column_shorter": datum(lambda r: r.update(old_logprobs=r["old_logprobs"][:-1])),
    "advantages_doubled": datum(scale_advantages),
    "advantage_off_mask": datum(put("advantages", 0, 1.0)),
    "reward_flipped": datum(lambda r: r.update(reward=-r["reward"])),
    "group_mean": datum(lambda r: r.update(group_mean=r["group_mean"] + 0.25)),
    "group_scored": datum(lambda r: r.update(group_scored=9)),
    "turn_end": datum(add("turn_ends", -1, 1)),
    "turns": datum(lambda r: r.update(turns=r["turns"] + 1)),
    "group_index": datum(lambda r: r.update(group_index=7)),
    "sample_weight": datum(lambda r: r.update(sample_weight=0.5)),
    "micro_batch_gap": batches_of(
        "datums.arrow", lambda b: [row.update(micro_batch=5) for row in b[-1]] and None
    ),
    "rows_swapped_across_batches": batches_of("datums.arrow", swap_across),
    "row_left_out": batches_of("datums.arrow", lambda b: b[0].pop() and None),
    "row_twice": batches_of("datums.arrow", lambda b: b[0].append(b[0][0])),
    "datums_cut": file_bytes(f"{STEP}/datums.arrow", lambda d: d[: len(d) // 2]),
    "datums_without_end": file_bytes(f"{STEP}/datums.arrow", lambda d: d[:-1]),
    "datums_no_arrow": file_bytes(f"{STEP}/datums.arrow", lambda d: b"hello"),
    "datums_empty": file_bytes(f"{STEP}/datums.arrow", lambda d: b""),
    "datums_gone": lambda run: (run / STEP / "datums.arrow").unlink(),
    "column_gone": lambda run: rewrite(
        run / STEP / "datums.arrow", lambda b: None, drop="group_mean"
    ),
    "schema_version": lambda run: rewrite(
        run / STEP / "datums.arrow", lambda b: None, metadata={b"schema_version": b"2.0"}
    ),
    "vocabulary_shrunk": lambda run: rewrite(
        run / STEP / "datums.arrow", lambda b: None, metadata={b"vocab_size": b"100"}
    ),
    "n_changed": lambda run: rewrite(
        run / STEP / "datums.arrow", lambda b: None, metadata={b"scored_samples": b"999"}
    ),
    "prompt_token": trajectory(add("tokens", 0, 1)),
    "sampled_token": trajectory(lambda r: add("tokens", r["spans"][1]["start"], 1)(r)),
    "observed_token": trajectory(
        lambda r: add("tokens", r["spans"][2]["start"] + 5, 1)(r), has_call
    ),
    "span_moved": trajectory(lambda r: r["spans"][1].update(start=r["spans"][1]["start"] + 1)),
    "span_kind": trajectory(lambda r: r["spans"][1].update(kind="observed")),
    "turn_text": trajectory(lambda r: r["turns"][0].update(text=r["turns"][0]["text"] + "!")),
    "message": trajectory(lambda r: r["messages"][-1].update(content="something else")),
    "question": trajectory(lambda r: r["messages"][1].update(content="What is 1+1?")),
    "tool_content": trajectory(lambda r: r["tool_calls"][0].update(content="31337"), has_call),
    "verdict_flipped": trajectory(
        lambda r: r.update(
            correct=not r["correct"],
            reward=-r["reward"],
            grade={**r["grade"], "kind": "different" if r["correct"] else "equal"},
        ),
        answered,
    ),
    "other_answer": trajectory(
        lambda r: r.update(final_answer="1", grade={**r["grade"], "answer": "1"}), answered
    ),
    "end": trajectory(lambda r: r.update(termination="tool_failed")),
    "code_calls": trajectory(lambda r: r.update(code_calls=r["code_calls"] + 1)),
    "prompt_length": trajectory(lambda r: r["turns"][0].update(prompt_length=1)),
    "version_span": trajectory(
        lambda r: r["turns"][0].update(versions=[{"version": "x", "start": 2, "end": 3}])
    ),
    "trajectory_left_out": groups_of(lambda g: g[0].pop() and None),
    "group_left_out": groups_of(lambda g: g[1:]),
    "groups_swapped": groups_of(swap_questions),
    "stale_metrics": json_file("metrics.jsonl", lambda m: m.update({"reward/mean": 0.5})),
    "metric_left_out": json_file("metrics.jsonl", lambda m: m.pop("rollout/turns")),
    "metrics_torn": file_bytes("metrics.jsonl", lambda d: d + b'{"step": 1, "rew'),
    "ledger_unbalanced": json_file(
        f"{STEP}/ledger.json", lambda v: v["trajectories"].update(exported=1)
    ),
    "ledger_stale": json_file(f"{STEP}/ledger.json", lambda v: v.update(truncated_turns=77)),
    "ledger_cut": file_bytes(f"{STEP}/ledger.json", lambda d: d[:-5]),
    "logprobs_swapped_everywhere": swap_logprobs,
    "step_gone": lambda run: shutil.rmtree(run / STEP),
    "log_token": change_recorded_token,
    "log_line_left_out": drop_recorded_line,
}


def main() -> None:
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    for name, damage in KINDS.items():
        copy = target / name
        shutil.copytree(source, copy)
        damage(copy)
    print(json.dumps(list(KINDS)))


main()
