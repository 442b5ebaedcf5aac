"""Teaches the policy in three calls: practice and right behaviour, right behaviour with decay, then the mixture.

python teach.py OUT --tokenizer DIR --phase practice --steps 1500
python teach.py OUT --tokenizer DIR --phase right --from OUT --steps 1700 --batch 32
python teach.py OUT --tokenizer DIR --phase mixture --from OUT --steps 220 --batch 32 --rate 0.008 --dtype float16
"""

from __future__ import annotations

import argparse
import math
import random
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor

from behaviours import MIXTURE, RIGHT, write_turns
from model import Shape, TinyLlama
from muon import Muon
from problems import draw_number, draw_problem
from protocol import END, SPECIAL, observation, prompt

PRACTICE_STEPS = 600
REPEATED = 0.1  # of the numbers: see problems.draw_number
SEPARATORS = [" ", " * ", "+", ", ", "(", " and ", " has ", "-", " boxes ", ".\n", "*", ")\n"]
TOKENS_PER_EXAMPLE = 40  # only sets the scale of the loss

Example = tuple[list[int], list[float]]  # ids, weight of each id in the loss


class Teacher:
    def __init__(self, tokenizer: Tokenizer, seed: int):
        self.tokenizer, self.r = tokenizer, random.Random(seed)
        self.eos, self.pad = tokenizer.token_to_id(END), tokenizer.token_to_id(SPECIAL[0])
        self.start = tokenizer.token_to_id("<|im_start|>")
        digits = [tokenizer.decode([i]).isdigit() for i in range(tokenizer.get_vocab_size())]
        self.is_digit = torch.tensor(digits)

    def encode(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def trajectory(self, weights: dict[str, int]) -> Example:
        problem = draw_problem(self.r, REPEATED)
        _, turns = write_turns(self.r, problem, weights)
        ids = self.encode(prompt(problem.question))
        loss = [0.0] * len(ids)
        for turn in turns:
            own = turn.role == "assistant"
            piece = self.encode(turn.text + END if own else observation(turn.text))
            ids += piece
            loss += [float(own)] * len(piece)
        return ids, loss

    def copying(self) -> Example:
        """Numbers and separators, then the same again once or twice; loss on the repeats only."""
        r = self.r
        numbers = (draw_number(r, r.randint(1, 4), REPEATED) for _ in range(r.randint(2, 5)))
        piece = self.encode("".join(f"{n}{r.choice(SEPARATORS)}" for n in numbers)) + [self.eos]
        ids = [self.start, *self.encode("user\n")]
        loss = [0.0] * len(ids)
        for time_ in range(r.randint(2, 3)):
            ids += piece
            loss += [float(time_ > 0)] * len(piece)
        return ids, loss

    def example(self, phase: str, step: int) -> Example:
        if phase == "practice" and step < PRACTICE_STEPS and self.r.random() < 0.7:
            return self.copying()
        return self.trajectory(MIXTURE if phase == "mixture" else RIGHT)

    def batches(self, phase: str, step: int, size: int) -> list[list[Example]]:
        """Sixteen batches sorted by length: little padding. Their order is random."""
        pool = sorted((self.example(phase, step) for _ in range(16 * size)), key=lambda e: len(e[0]))
        batches = [pool[i : i + size] for i in range(0, len(pool), size)]
        self.r.shuffle(batches)
        return batches

    def tensors(self, batch: list[Example]) -> tuple[Tensor, Tensor]:
        length = max(len(ids) for ids, _ in batch)
        ids, loss = torch.full((len(batch), length), self.pad), torch.zeros(len(batch), length)
        for i, (own, weights) in enumerate(batch):
            ids[i, : len(own)] = torch.tensor(own)
            loss[i, : len(own)] = torch.tensor(weights)
        return ids, loss

    @torch.no_grad()
    def copied(self, model: TinyLlama, count: int = 64) -> tuple[float, int]:
        """Of fresh right trajectories, teacher-forced: share of digits right, trajectories with every digit right."""
        ids, loss = self.tensors([self.trajectory({"tool": 1}) for _ in range(count)])
        target = ids[:, 1:]
        right = model.logits(model.hidden(ids[:, :-1])).argmax(-1) == target
        asked = loss[:, 1:].bool() & self.is_digit[target]
        return right[asked].float().mean().item(), int((right | ~asked).all(1).sum())


def teach(options: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    tokenizer = Tokenizer.from_file(str(options.tokenizer / "tokenizer.json"))
    teacher = Teacher(tokenizer, options.seed)
    source: Path | None = options.source
    model = TinyLlama.load(source) if source else TinyLlama(Shape())
    inner = [w for name, w in model.named_parameters() if w.dim() == 2 and "embed" not in name]
    outer = [w for name, w in model.named_parameters() if w.dim() == 1 or "embed" in name]
    muon, adam = Muon(inner), torch.optim.Adam(outer, lr=options.adam_rate, betas=(0.9, 0.98))
    step, mean = 0, None
    while step < options.steps:
        for batch in teacher.batches(options.phase, step, options.batch):
            if step == options.steps:
                break
            scale = schedule(step, options.steps, decays=options.phase != "practice")
            loss = loss_of(model, *teacher.tensors(batch))
            model.zero_grad(set_to_none=True)
            loss.backward()
            for group in adam.param_groups:
                group["lr"] = options.adam_rate * scale
            muon.step(options.rate * scale)
            adam.step()
            step += 1
            mean = loss.item() if mean is None else 0.97 * mean + 0.03 * loss.item()
            if step % 100 == 0 or step == options.steps:
                digits, whole = teacher.copied(model)
                print(
                    f"cpu {time.process_time():.0f} s, step {step}, loss {mean:.4f},"
                    f" digits copied {digits:.3f}, whole trajectories {whole} of 64",
                    flush=True,
                )
    model.save(options.out, teacher.eos, teacher.pad, getattr(torch, options.dtype))


def loss_of(model: TinyLlama, ids: Tensor, weights: Tensor) -> Tensor:
    """Sum over tokens by number of examples: a mean over tokens of sorted batches would over-weight short ones."""
    chosen = weights[:, 1:].bool()
    logits = model.logits(model.hidden(ids[:, :-1])[chosen])
    total = F.cross_entropy(logits, ids[:, 1:][chosen], reduction="sum")
    return total / (len(ids) * TOKENS_PER_EXAMPLE)


def schedule(step: int, steps: int, decays: bool) -> float:
    warm = min(1.0, (step + 1) / 50)
    cosine = 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * step / steps))
    return warm * (cosine if decays else 1.0)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--phase", choices=["practice", "right", "mixture"], required=True)
    parser.add_argument("--from", dest="source", type=Path, default=None)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--batch", type=int, default=24)
    parser.add_argument("--rate", type=float, default=0.02, help="of Muon")
    parser.add_argument("--adam-rate", type=float, default=3e-3)
    parser.add_argument("--dtype", choices=["float32", "float16"], default="float32")
    parser.add_argument("--seed", type=int, default=7)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    teach(parse())
