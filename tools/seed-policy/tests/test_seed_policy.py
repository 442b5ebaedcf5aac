"""Every part of the seeding runs, with step counts of a smoke test; the texts are the shipped policy's."""

import json
import random
from collections import Counter
from pathlib import Path

import pytest
import torch
from jinja2 import Environment
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM

from behaviours import MIXTURE, RIGHT, run_own_code, write_turns
from model import TinyLlama
from muon import orthogonal
from problems import Problem, draw_problem, value_of, write_formula, write_problems
from protocol import SYSTEM, TEMPLATE, TOOL, observation, prompt
from teach import parse, teach
from tokenizer import build_tokenizer, save_tokenizer

POLICY = Path(__file__).parents[3] / "packages/sampler-clients/assets/policy"
PROBLEMS = POLICY.parent / "problems"


def test_a_problem_is_what_its_formula_says():
    r = random.Random(0)
    for _ in range(500):
        problem = draw_problem(r)
        expression = write_formula(problem.formula, problem.numbers, spaced=False)
        assert run_own_code(f"print({expression})") == problem.answer
        assert str(value_of(problem.formula, problem.numbers)) == problem.answer
        for number in problem.numbers:
            assert str(number) in problem.question


def test_right_behaviour_boxes_the_answer_and_a_wrong_operation_does_not():
    r = random.Random(1)
    for _ in range(300):
        problem = draw_problem(r)
        _, turns = write_turns(r, problem, RIGHT)
        assert f"\\boxed{{{problem.answer}}}" in turns[-1].text
        _, turns = write_turns(r, problem, {"wrong_operation": 1})
        assert f"\\boxed{{{problem.answer}}}" not in turns[-1].text


def test_a_retry_reads_a_real_traceback():
    problem = Problem("What is 12 + 34?", "46", "a+b", (12, 34))
    _, turns = write_turns(random.Random(0), problem, {"retry": 1})
    assert [turn.role for turn in turns] == ["assistant", "tool", "assistant", "tool", "assistant"]
    assert turns[1].text.startswith('Traceback (most recent call last):\n  File "<string>", line 1')
    assert "NameError: name 'pint' is not defined" in turns[1].text
    assert turns[3].text == "46"


def test_the_mixture_is_drawn_as_weighted():
    r = random.Random(2)
    counts = Counter(write_turns(r, draw_problem(r), MIXTURE)[0] for _ in range(3000))
    assert abs(counts["guess"] / 3000 - 0.22) < 0.03
    assert set(counts) == set(MIXTURE)


@pytest.mark.parametrize("folder", [POLICY, None], ids=["shipped", "built here"])
def test_the_template_renders_the_texts_that_the_model_was_taught_with(folder):
    template = json.loads((folder / "tokenizer_config.json").read_text())["chat_template"] if folder else TEMPLATE
    render = Environment(trim_blocks=True, lstrip_blocks=True).from_string(template).render
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "What is 1 + 2?"}]
    first = render(messages=messages, tools=[TOOL], add_generation_prompt=True)
    assert first == prompt("What is 1 + 2?")
    messages += [{"role": "assistant", "content": "call"}, {"role": "tool", "content": "3"}]
    whole = render(messages=messages, tools=[TOOL], add_generation_prompt=True)
    assert whole == first + "call<|im_end|>" + observation("3")


def test_the_shipped_problems_are_of_this_kind_and_solvable():
    for name, count in [("arith-train", 2000), ("arith-held-out", 200)]:
        rows = [json.loads(line) for line in (PROBLEMS / f"{name}.jsonl").read_text().splitlines()]
        assert len({row["question"] for row in rows}) == count
        assert all(set(row) == {"id", "question", "answer", "data_source"} for row in rows)


def test_problems_that_are_written_do_not_overlap(tmp_path):
    held_out = write_problems(tmp_path / "h.jsonl", "h", 50, 2, set())
    train = write_problems(tmp_path / "t.jsonl", "t", 200, 2, held_out)
    assert len(held_out) == 50 and len(train) == 200 and not held_out & train


def test_muon_makes_a_matrix_nearly_orthogonal():
    torch.manual_seed(0)
    values = torch.linalg.svdvals(orthogonal(torch.randn(32, 16)))
    assert values.min() > 0.5 and values.max() < 1.5


def test_three_phases_make_a_folder_that_loads_as_llama(tmp_path):
    tokenizer = build_tokenizer(trajectories=300, seed=1)
    save_tokenizer(tokenizer, tmp_path)
    assert tokenizer.get_vocab_size() == 512
    assert tokenizer.token_to_id("<|im_end|>") == 507
    text = prompt("Compute 12 * 34.")
    assert tokenizer.decode(tokenizer.encode(text).ids, skip_special_tokens=False) == text
    out, common = str(tmp_path), ["--tokenizer", str(tmp_path), "--batch", "4"]
    teach(parse([out, *common, "--phase", "practice", "--steps", "3"]))
    before = TinyLlama.load(tmp_path).state_dict()
    teach(parse([out, *common, "--phase", "right", "--from", out, "--steps", "2"]))
    teach(parse([out, *common, "--phase", "mixture", "--from", out, "--steps", "2", "--dtype", "float16"]))
    ours = TinyLlama.load(tmp_path)
    after = ours.state_dict()
    assert all(not torch.equal(before[name], after[name]) for name in before)
    theirs = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    ids = torch.tensor([Tokenizer.from_file(str(tmp_path / "tokenizer.json")).encode(text).ids])
    with torch.no_grad():
        gap = (theirs(ids).logits - ours.logits(ours.hidden(ids))).abs().max()
    assert gap < 1e-4


def test_the_shipped_weights_copy_digits():
    """Competence of the shipped policy, teacher-forced on fresh problems: nearly every digit is copied right."""
    from teach import Teacher

    teacher = Teacher(Tokenizer.from_file(str(POLICY / "tokenizer.json")), seed=3)
    digits, whole = teacher.copied(TinyLlama.load(POLICY), count=32)
    assert digits > 0.97
    assert whole > 24
