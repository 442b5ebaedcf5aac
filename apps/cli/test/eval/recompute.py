"""Every figure of an evaluation again, from its problem lines alone. In: a JSONL file. Out: the figures as JSON.

Reads the answer out of the text itself, and decides itself what is right: the problems are integer arithmetic.
"""
import json
import math
import sys
from collections import Counter
from fractions import Fraction


def boxed(text):
    tail = text[-300:]
    at = tail.rfind("\\boxed{")
    if at < 0:
        return None
    depth = 1
    start = at + len("\\boxed{")
    for i in range(start, len(tail)):
        depth += {"{": 1, "}": -1}.get(tail[i], 0)
        if depth == 0:
            return tail[start:i]
    return None


def number(text):
    try:
        return Fraction(text.strip().replace(",", ""))
    except ValueError:
        return None


def mean_and_error(values):
    if not values:
        return 0.0, None
    mean = sum(values) / len(values)
    if len(values) < 2:
        return mean, None
    return mean, math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1) / len(values))


def majority(generations):
    votes = Counter()
    right = {}
    for g in generations:
        if g["answer"] is not None:
            value = number(g["answer"])
            key = g["answer"].strip() if value is None else value
            votes[key] += 1
            right[key] = g["right"]
    top = [k for k, v in votes.items() if v == max(votes.values())]
    return sum(right[k] for k in top) / len(top) if top else 0.0


*lines, summary = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
assert summary["type"] == "summary" and all(line["type"] == "problem" for line in lines)
n = summary["val_n"]
problems, everything = [], []
for line in lines:
    assert line["val_n"] == n == len(line["generations"])
    own = []
    for g in line["generations"]:
        everything.append(g)
        if g["unscored"] is not None:
            assert g["correct"] is None and g["formatted"] is None
            continue
        answer = boxed(g["text"])
        assert answer == g["boxed_answer"], (answer, g)
        right = answer is not None and number(answer) == number(line["ground_truth"])
        assert right == g["correct"], g
        assert (answer is not None) == g["formatted"]
        own.append({"answer": answer, "right": right, "turns": g["turns"], "calls": g["code_calls"]})
    right = sum(g["right"] for g in own)
    assert line["num_correct"] == right and line["num_unscored"] == n - len(own)
    assert line["pass_at_n"] == (None if not own else right > 0)
    problems.append(own)

some = [p for p in problems if p]
counts = [(len(p), sum(g["right"] for g in p)) for p in some]
out = {
    "problems": len(lines),
    "generations": len(everything),
    "correct_generations": sum(c for _, c in counts),
    "passed_problems": sum(c > 0 for _, c in counts),
    "unscored_generations": len(everything) - sum(m for m, _ in counts),
    "mean_turns": mean_and_error([g["turns"] for p in some for g in p])[0],
    "mean_code_calls": mean_and_error([g["calls"] for p in some for g in p])[0],
}
for name, values in {
    "average_at_n": [c / m for m, c in counts],
    "pass_at_n": [float(c > 0) for _, c in counts],
    "format_rate": [sum(g["answer"] is not None for g in p) / len(p) for p in some],
    "majority_at_n": [majority(p) for p in some],
}.items():
    out[name], out[name + "_se"] = mean_and_error(values)
for k in (1, 2, 4, 8, n):
    if k > n:
        continue
    enough = [(m, c) for m, c in counts if m >= k]
    for name, of in {
        "pass_at_k": lambda m, c: 1 - math.comb(m - c, k) / math.comb(m, k),
        "pass_hat_k": lambda m, c: math.comb(c, k) / math.comb(m, k),
    }.items():
        mean, error = mean_and_error([of(m, c) for m, c in enough])
        out.setdefault(name, {})[str(k)] = mean
        out.setdefault(name + "_se", {})[str(k)] = error
json.dump(out, sys.stdout)
