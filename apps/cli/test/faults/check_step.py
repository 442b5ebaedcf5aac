"""What became of a step with injected faults, as pyarrow and the log's own lines tell it.

In: the folder of the struck step, the folder of the same step without faults, and a JSON file of the trajectories
that were struck ("question/group" -> kind). Out: one JSON object; `wrong` is empty when all is well.
"""

import base64
import json
import sys
from collections import Counter

import pyarrow.compute as pc
import pyarrow.ipc as ipc

# What a trajectory is by itself; advantage and rewards of a group follow from its siblings too.
OWN = ["tokens", "logprobs", "turns", "tool_calls", "messages", "termination", "grade", "reward", "code_calls"]


def rows(folder: str) -> dict[str, dict]:
    table = ipc.open_file(folder + "/trajectories.arrow").read_all().to_pylist()
    for row in table:
        for turn in row["turns"]:
            del turn["start_time"], turn["end_time"]
    by_place = {f"{row['question_index']}/{row['group_index']}": row for row in table}
    assert len(by_place) == len(table), "a trajectory is there twice"
    return by_place


def logged_tokens(folder: str) -> int:
    total = 0
    with open(folder + "/events.jsonl", "rb") as log:
        for line in log:
            for sequence in json.loads(line).get("sequences", []):
                if sequence["ok"]:
                    total += len(base64.b64decode(sequence["ids"])) // 4
    return total


def main(struck: str, quiet: str, hit_path: str) -> None:
    hit = json.load(open(hit_path))
    ledger = json.load(open(struck + "/ledger.json"))
    seen, expected = rows(struck), rows(quiet)
    failed = {place for place, row in seen.items() if row["grade"]["kind"] == "unscored"}
    wrong = []
    if failed != set(hit):
        wrong.append(f"hit but not failed: {sorted(set(hit) - failed)[:5]}, failed but not hit: {sorted(failed - set(hit))[:5]}")
    if seen.keys() != expected.keys():
        wrong.append("trajectories are missing")
    for place, row in seen.items():
        if place not in hit and any(row[name] != expected[place][name] for name in OWN):
            wrong.append(f"{place} was not hit, and is another than without faults")

    datums = ipc.open_file(struck + "/datums.arrow").read_all()
    exported_tokens = pc.sum(pc.list_flatten(datums["loss_mask"])).as_py() or 0
    sampled = sum(turn["length"] for row in seen.values() for turn in row["turns"])
    dropped_rows = Counter(row["no_datum"] for row in seen.values() if row["no_datum"] is not None)
    for unit, total, exported in (
        ("trajectories", len(seen), datums.num_rows),
        ("sampled_tokens", sampled, exported_tokens),
    ):
        balance = ledger[unit]
        if balance["total"] != total or balance["exported"] != exported:
            wrong.append(f"{unit}: ledger {balance['total']}/{balance['exported']}, files {total}/{exported}")
        if balance["total"] != balance["exported"] + sum(balance["dropped"].values()):
            wrong.append(f"{unit} does not balance")
    if sampled != logged_tokens(struck):
        wrong.append("the log holds other tokens than the trajectories")
    if sum(dropped_rows.values()) != sum(ledger["trajectories"]["dropped"].values()):
        wrong.append("dropped rows and ledger differ")
    json.dump(
        {
            "wrong": wrong[:10],
            "trajectories": len(seen),
            "hit": Counter(hit.values()),
            "sampled_tokens": sampled,
            "exported": datums.num_rows,
            "exported_tokens": exported_tokens,
            "dropped": ledger["trajectories"]["dropped"],
        },
        sys.stdout,
    )


main(*sys.argv[1:])
