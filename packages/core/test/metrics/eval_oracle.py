"""Evaluation figures again, in numpy, by closed form and by brute force over subsets.

In: JSON lines {problems, ks} or {a, b} (shares) or {pass_a, pass_b}. Out: one JSON value a line.
"""
import itertools
import json
import math
import re
import sys
from collections import Counter
from fractions import Fraction

import numpy as np


def number(text):
    text = text.strip()
    if re.fullmatch(r"-?\d+", text):
        return Fraction(text)
    if re.fullmatch(r"-?\d+/\d+", text) and int(text.split("/")[1]) != 0:
        return Fraction(text)
    if re.fullmatch(r"-?\d+\.\d+", text):
        return Fraction(text)
    return text


def majority(generations):
    votes = Counter(number(g["answer"]) for g in generations if g["answer"] is not None)
    if not votes:
        return 0.0
    top = [key for key, count in votes.items() if count == max(votes.values())]
    shares = []
    for key in top:
        verdicts = [g["correct"] for g in generations if g["answer"] is not None and number(g["answer"]) == key]
        shares.append(sum(verdicts) / len(verdicts))
    return sum(shares) / len(shares)


def summary(values):
    values = np.array(values, dtype=float)
    if len(values) == 0:
        return [0.0, None, 0]
    error = None if len(values) < 2 else float(values.std(ddof=1) / math.sqrt(len(values)))
    return [float(values.mean()), error, len(values)]


def brute(generations, k, test):
    subsets = list(itertools.combinations([g["correct"] for g in generations], k))
    return sum(test(s) for s in subsets) / len(subsets)


def closed(generations, k):
    n, c = len(generations), sum(g["correct"] for g in generations)
    return 1 - math.comb(n - c, k) / math.comb(n, k), math.comb(c, k) / math.comb(n, k)


def measure(problems, ks):
    scored = [[g for g in p if g["correct"] is not None] for p in problems]
    some = [p for p in scored if p]
    out = {
        "average_at_n": summary([np.mean([g["correct"] for g in p]) for p in some]),
        "pass_at_n": summary([float(any(g["correct"] for g in p)) for p in some]),
        "majority_at_n": summary([majority(p) for p in some]),
        "format_rate": summary([np.mean([g["answer"] is not None for g in p]) for p in some]),
        "unscored": sum(len(p) for p in problems) - sum(len(p) for p in scored),
        "pass_at_k": {},
        "pass_hat_k": {},
    }
    for k in ks:
        enough = [p for p in some if len(p) >= k]
        by_subsets = [(brute(p, k, any), brute(p, k, all)) for p in enough]
        for one, two in zip(by_subsets, [closed(p, k) for p in enough]):
            assert np.allclose(one, two), (one, two)
        out["pass_at_k"][k] = summary([a for a, _ in by_subsets])
        out["pass_hat_k"][k] = summary([b for _, b in by_subsets])
    return out


def sign_flip(a, b):
    differences = [Fraction(*y) - Fraction(*x) for x, y in zip(a, b)]
    observed = abs(sum(differences))
    signs = list(itertools.product([1, -1], repeat=len(differences)))
    extreme = sum(abs(sum(s * d for s, d in zip(sign, differences))) >= observed for sign in signs)
    return extreme / len(signs)


def mcnemar(a, b):
    only_a = sum(x and not y for x, y in zip(a, b))
    only_b = sum(y and not x for x, y in zip(a, b))
    n, low = only_a + only_b, min(only_a, only_b)
    return min(1.0, float(Fraction(2 * sum(math.comb(n, i) for i in range(low + 1)), 2**n)))


for line in sys.stdin:
    case = json.loads(line)
    if "problems" in case:
        print(json.dumps(measure(case["problems"], case["ks"])))
    elif "pass_a" in case:
        print(json.dumps(mcnemar(case["pass_a"], case["pass_b"])))
    else:
        print(json.dumps(sign_flip(case["a"], case["b"])))
