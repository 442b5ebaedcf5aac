"""What a page must say, from the run's Arrow files and the Rust tokenizer alone.

In: a run folder, a step, a folder with a tokenizer. Out: one record per trajectory and per group.
"""

import json
import math
import statistics
import sys

import pyarrow.ipc as ipc
from tokenizers import Tokenizer

run, step, folder = sys.argv[1:4]
path = f"{run}/step-{int(step):06d}"
rows = ipc.open_file(path + "/trajectories.arrow").read_all().to_pylist()
datums = {
    (d["question_index"], d["group_index"]): d
    for d in ipc.open_file(path + "/datums.arrow").read_all().to_pylist()
}
tokenizer = Tokenizer.from_file(folder + "/tokenizer.json")


def signed(value):
    return "–" if value is None else ("+" if value > 0 else "") + f"{value:.4f}"


def band(logprob):
    p = math.exp(logprob)
    return next((f"p{i}" for i, least in enumerate((0.9, 0.5, 0.2, 0.05, 0.01)) if p >= least), "p5")


def scale(advantage):
    if advantage == 0:
        return "z"
    size = next((i + 1 for i, most in enumerate((0.25, 0.5, 1)) if abs(advantage) <= most), 4)
    return ("a" if advantage > 0 else "n") + str(size)


out = {"trajectories": [], "groups": []}
for row in rows:
    datum = datums.get((row["question_index"], row["group_index"]))
    sampled, kinds = {}, {}
    logprobs = iter(row["logprobs"])
    for span in row["spans"]:
        for position in range(span["start"], span["start"] + span["length"]):
            kinds[position] = span["kind"]
            if span["kind"] == "sampled":
                sampled[position] = next(logprobs)
    first = row["spans"][0]["length"]
    tokens = []
    for position in range(first, len(row["tokens"])):
        mask = datum["loss_mask"][position - 1] if datum else 0
        where = f"position {position} · id {row['tokens'][position]}"
        token = {"mask": mask, "scale": None, "band": None, "title": where}
        if mask == 1:
            token["scale"] = scale(datum["advantages"][position - 1])
        if position in sampled:
            token["band"] = band(sampled[position])
            token["title"] += f" · logprob {sampled[position]:.4f}"
        token["read"] = kinds[position] != "sampled"
        tokens.append(token)
    count = len(row["logprobs"])
    out["trajectories"].append(
        {
            "id": f"q{row['question_index']}-t{row['group_index']}",
            "verdict": "failed" if row["correct"] is None else "right" if row["correct"] else "wrong",
            "truncated": bool(row["turns"]) and row["turns"][-1]["finish"] == "length",
            "tokens": tokens,
            "text": tokenizer.decode(row["tokens"][first:], skip_special_tokens=False),
            "calls": [
                {
                    "status": c["status"],
                    "code": c["code"],
                    "stdout": c["stdout"] or "",
                    "stderr": c["stderr"] or "",
                }
                for c in row["tool_calls"]
            ],
            "facts": {
                "reward": signed(row["reward"]),
                "advantage": signed(row["advantage"]),
                "end": row["termination"],
                "final answer": "none" if row["final_answer"] is None else row["final_answer"],
                "mean logprob": f"{sum(row['logprobs']) / count:.4f}",
                "tokens": f"{len(row['tokens'])} = {first} prompt + {count} sampled"
                f" + {len(row['tokens']) - first - count} read",
            },
        }
    )
for question in sorted({row["question_index"] for row in rows}):
    members = [row for row in rows if row["question_index"] == question]
    rewards = [row["reward"] for row in members if row["reward"] is not None]
    out["groups"].append(
        {
            "reward mean": signed(statistics.mean(rewards)),
            "reward std": f"{statistics.stdev(rewards):.4f}",
            "right": f"{sum(row['correct'] is True for row in members)} of {len(members)}",
            "scored": str(len(rewards)),
        }
    )
json.dump(out, sys.stdout)
