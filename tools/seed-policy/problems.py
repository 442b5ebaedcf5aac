"""Arithmetic that a tiny model cannot do in its head but Python can. In: a random.Random. Out: problems.
Numbers are named in the order in which the code uses them: the model copies from left to right."""

from __future__ import annotations

import json
import random
import sys
from dataclasses import dataclass
from pathlib import Path

NAMES = "Ann Ben Cara Dan Eva Finn Gina Hugo Iris Jack Kim Leo Mia Noah Omar Rosa".split()
ITEMS = "apples books coins cards pens stamps cups tickets shells plants".split()
ASKS = ["Compute {e}.", "What is {e}?", "Evaluate {e}.", "Find the value of {e}."]
SHAPES = "a+b a-b a*b a*b+c a*b-c a+b*c a+b-c (a+b)*c (a-b)*c a-b*c".split()


@dataclass(frozen=True)
class Story:
    """Wordings of one formula, and the digits of its numbers. {n} is a name, {i} an item."""

    wordings: tuple[str, ...]
    formula: str
    digits: tuple[int, ...]


STORIES = (
    Story(
        (
            "{n} has {a} {i} and buys {b} more. How many {i} does {n} have now?",
            "There are {a} {i} in a shop and {b} more arrive. How many {i} are there?",
        ),
        "a+b",
        (3, 3),
    ),
    Story(
        (
            "{n} has {a} {i} and gives away {b}. How many {i} are left?",
            "A shop had {a} {i} and sold {b}. How many {i} are left?",
        ),
        "a-b",
        (4, 3),
    ),
    Story(
        (
            "A box holds {a} {i}. How many {i} are in {b} boxes?",
            "{n} packs {b} boxes with {a} {i} each. How many {i} is that?",
        ),
        "a*b",
        (3, 2),
    ),
    Story(
        (
            "{n} has {a} dollars and buys {b} {i} for {c} dollars each. How many dollars are left?",
        ),
        "a-b*c",
        (4, 2, 2),
    ),
    Story(
        (
            "{n} has {a} boxes with {b} {i} each and {c} more {i}. How many {i} does {n} have?",
            "A shop gets {a} boxes of {b} {i} and already has {c}. How many {i} are there?",
        ),
        "a*b+c",
        (2, 3, 3),
    ),
    Story(
        ("{n} fills {a} boxes with {b} {i} each, then loses {c} {i}. How many {i} are left?",),
        "a*b-c",
        (2, 3, 3),
    ),
    Story(
        (
            "{n} saves {a} dollars in May, {b} in June and {c} in July. How many dollars is that in total?",
        ),
        "a+b+c",
        (3, 3, 3),
    ),
    Story(
        ("{a} boys and {b} girls each bring {c} {i}. How many {i} do they bring?",),
        "(a+b)*c",
        (2, 2, 2),
    ),
    Story(
        (
            "{n} had {a} boxes, lost {b} and each box left holds {c} {i}. How many {i} are left?",
        ),
        "(a-b)*c",
        (3, 2, 2),
    ),
    Story(
        (
            "A train runs {a} km a day for {b} days, a bus {c} km in all. How many km do both run?",
        ),
        "a*b+c",
        (3, 2, 4),
    ),
)


@dataclass(frozen=True)
class Problem:
    question: str
    answer: str
    formula: str
    numbers: tuple[int, ...]


def draw_number(r: random.Random, digits: int, repeated: float = 0.0) -> int:
    """`repeated`: share of numbers with a repeated digit; copying those is the hard part, so practice salts them in."""
    if digits > 1 and r.random() < repeated:
        return int((str(r.randint(1, 9)) + r.choice("0123456789") * digits)[:digits])
    return r.randint(10 ** (digits - 1) + 1, 10**digits - 1)


def write_formula(formula: str, numbers: tuple[int, ...], spaced: bool) -> str:
    words = [f" {c} " if spaced and c in "+-*" else c for c in formula]
    return "".join(str(numbers["abc".index(w)]) if w in "abc" else w for w in words)


def value_of(formula: str, numbers: tuple[int, ...]) -> int:
    a, b, c = (*numbers, 0)[:3]
    return {
        "a+b": a + b, "a-b": a - b, "a*b": a * b, "a*b+c": a * b + c, "a*b-c": a * b - c, "a+b*c": a + b * c,
        "a+b-c": a + b - c, "a+b+c": a + b + c, "(a+b)*c": (a + b) * c, "(a-b)*c": (a - b) * c, "a-b*c": a - b * c,
    }[formula]  # fmt: skip


def draw_problem(r: random.Random, repeated: float = 0.0) -> Problem:
    if r.random() < 0.4:
        formula = r.choice(SHAPES)
        count = 3 if "c" in formula else 2
        numbers = tuple(draw_number(r, r.choice((2, 3, 3, 4)), repeated) for _ in range(count))
        question = r.choice(ASKS).format(e=write_formula(formula, numbers, True))
    else:
        story = r.choice(STORIES)
        formula = story.formula
        numbers = tuple(draw_number(r, digits, repeated) for digits in story.digits)
        question = r.choice(story.wordings).format(
            n=r.choice(NAMES), i=r.choice(ITEMS), **dict(zip("abc", numbers, strict=False))
        )
    return Problem(question, str(value_of(formula, numbers)), formula, numbers)


def write_problems(path: Path, name: str, count: int, seed: int, avoid: set[str]) -> set[str]:
    """JSON Lines of `count` different questions, none of them in `avoid`; returns the questions."""
    r, seen = random.Random(seed), set()
    with path.open("w") as file:
        while len(seen) < count:
            problem = draw_problem(r)
            if problem.question in avoid | seen:
                continue
            row = {
                "id": f"{name}-{len(seen):04d}",
                "question": problem.question,
                "answer": problem.answer,
                "data_source": "arith",
            }
            file.write(json.dumps(row) + "\n")
            seen.add(problem.question)
    return seen


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    held_out = write_problems(folder / "arith-held-out.jsonl", "arith-held-out", 200, 2, set())
    write_problems(folder / "arith-train.jsonl", "arith-train", 2000, 1, held_out)
