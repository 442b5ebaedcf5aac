"""Synthetic trajectories that seed the policy: right ones, and the ways of being wrong that RL shall unlearn.
In: a problem. Out: the turns after the question. The observations come from really running the code."""

from __future__ import annotations

import contextlib
import io
import random
import traceback
from dataclasses import dataclass
from typing import Literal

from problems import SHAPES, Problem, value_of, write_formula
from protocol import call

RIGHT = {"tool": 70, "two_calls": 20, "retry": 10}
MIXTURE = {
    "tool": 26, "two_calls": 8, "retry": 4,
    "guess": 22, "wrong_operation": 16, "unclosed": 7, "text_after": 4, "no_print": 6, "no_box": 7,
}  # fmt: skip

OPENINGS = ["", "", "", "I use the tool.\n", "Let me compute.\n"]
ENDINGS = ["\\boxed{%s}", "\\boxed{%s}", "The answer is \\boxed{%s}.", "So \\boxed{%s}"]
BOXLESS = ["The answer is %s.", "boxed{%s}", "%s", "So %s"]

# First call, and what the second one does with its result r.
SPLITS = {
    "a*b+c": ("a*b", "r+c"), "a*b-c": ("a*b", "r-c"), "a+b+c": ("a+b", "r+c"), "a+b*c": ("b*c", "a+r"),
    "a+b-c": ("a+b", "r-c"), "(a+b)*c": ("a+b", "r*c"), "(a-b)*c": ("a-b", "r*c"), "a-b*c": ("b*c", "a-r"),
}  # fmt: skip


@dataclass(frozen=True)
class Turn:
    role: Literal["assistant", "tool"]
    text: str


def run_own_code(code: str) -> str:
    """Runs code that this module wrote, never a model's: there is no sandbox here."""
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(code, "<string>", "exec"), {})
    except Exception as error:
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename != "<string>":
            frames = frames.tb_next
        return "".join(traceback.format_exception(type(error), error, frames)).strip()
    return out.getvalue().strip()


def write_turns(r: random.Random, problem: Problem, weights: dict[str, int]) -> tuple[str, list[Turn]]:
    """The behaviour that was drawn, and its turns; the last one is the model's."""
    behaviour = r.choices(list(weights), list(weights.values()))[0]
    if behaviour == "two_calls" and problem.formula not in SPLITS:
        behaviour = "tool"
    opening, ending = r.choice(OPENINGS), r.choice(ENDINGS)
    match behaviour:
        case "guess":
            return behaviour, [Turn("assistant", ending % guess(r, problem))]
        case "unclosed":
            tail = r.choice(["", "\n</function>", "\n</parameter>\n</function>"]) + "\n</tool_call>"
            cut = call(program(r, problem, problem.formula)).removesuffix(tail)
            return behaviour, [Turn("assistant", opening + cut)]
        case "text_after":
            text = call(program(r, problem, problem.formula)) + "\n" + ending % guess(r, problem)
            return behaviour, [Turn("assistant", opening + text)]
        case "no_print":
            code = write_formula(problem.formula, problem.numbers, r.random() < 0.3)
            turns = run_call(opening, code)
            return behaviour, [*turns, Turn("assistant", ending % guess(r, problem))]
        case "two_calls":
            return behaviour, two_calls(problem, opening, ending)
        case "retry":
            broken = f"pint({write_formula(problem.formula, problem.numbers, False)})"
            turns = run_call(opening, broken) + run_call("", program(r, problem, problem.formula))
        case "wrong_operation":
            turns = run_call(opening, program(r, problem, other_formula(r, problem)))
        case "no_box":
            turns, ending = run_call(opening, program(r, problem, problem.formula)), r.choice(BOXLESS)
        case _:
            turns = run_call(opening, program(r, problem, problem.formula))
    return behaviour, [*turns, Turn("assistant", ending % turns[-1].text)]


def run_call(opening: str, code: str) -> list[Turn]:
    return [Turn("assistant", opening + call(code)), Turn("tool", run_own_code(code))]


def two_calls(problem: Problem, opening: str, ending: str) -> list[Turn]:
    first, rest = SPLITS[problem.formula]
    turns = run_call(opening, f"print({write_formula(first, problem.numbers, False)})")
    code = write_formula(rest, problem.numbers, False).replace("r", turns[-1].text)
    turns += run_call("", f"print({code})")
    return [*turns, Turn("assistant", ending % turns[-1].text)]


def program(r: random.Random, problem: Problem, formula: str) -> str:
    expression = write_formula(formula, problem.numbers, r.random() < 0.3)
    return f"x = {expression}\nprint(x)" if r.random() < 0.15 else f"print({expression})"


def guess(r: random.Random, problem: Problem) -> str:
    digits = max(1, len(problem.answer.lstrip("-")) + r.choice((-1, 0, 0, 0, 1)))
    return str(r.randint(10 ** (digits - 1), 10**digits - 1))


def other_formula(r: random.Random, problem: Problem) -> str:
    """One over the same numbers with another value: what it prints is wrong."""
    count, right = len(problem.numbers), value_of(problem.formula, problem.numbers)
    pool = [f for f in [*SHAPES, "a+b+c"] if ("c" in f) == (count == 3)]
    return r.choice([f for f in pool if value_of(f, problem.numbers) != right])
