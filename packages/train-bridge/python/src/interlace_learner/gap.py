"""How far the sampler's logprobs are from the learner's: `python -m interlace_learner.gap RUN POLICY`.

In: a run folder (or one `datums.arrow`) and the weights that sampled it. Out: the gap over all sampled tokens, in
nats. Ratios of an update begin at exp(gap): where it is not near 0, sampler and learner do not compute the same policy:
other weights, another precision, another temperature, another tokenizer. Refuses to know which of the two is right.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from .padding import pad
from .reader import open_datums
from .reference.config import Backend
from .reference.learner import logit_temperature, to_tensors
from .reference.policy import load_policy
from .spool import count_finished


@dataclass(frozen=True, slots=True)
class Gap:
    """|log p of the learner − log p of the sampler| over sampled tokens."""

    tokens: int
    mean: float
    quantile_999: float
    """99.9% of the tokens are at most this far apart."""
    max: float
    bias: float
    """Mean of learner − sampler, with its sign: above 0 the sampler was less sure."""


def measure_gap(
    files: list[Path],
    policy: Path,
    backend: Backend = "auto",
    temperature: float | None = None,
) -> Gap:
    """`files`: `datums.arrow` of steps that were sampled from these weights. `temperature`: None = what the file says.

    Raise ValueError where there is no token to compare.
    """
    model = load_policy(policy, backend)
    differences = []
    for file in files:
        with open_datums(file) as step, torch.no_grad():
            divisor = temperature or logit_temperature(step.facts)
            for batch in step.micro_batches():
                padded = pad(batch)
                tensors = to_tensors(padded)
                mask = tensors["loss_mask"]
                logprobs = model.logprobs(
                    tensors["input_tokens"], tensors["target_tokens"], mask, divisor
                )
                difference = logprobs.double() - tensors["old_logprobs"].double()
                differences.append(difference[mask > 0].numpy())
    if not differences:
        raise ValueError("Expected a step with datums, got none")
    signed = np.concatenate(differences)
    sizes = np.abs(signed)
    return Gap(
        tokens=len(sizes),
        mean=float(sizes.mean()),
        quantile_999=float(np.quantile(sizes, 0.999)),
        max=float(sizes.max()),
        bias=float(signed.mean()),
    )


def find_datums(run: Path, steps: list[int] | None = None) -> list[Path]:
    """Of a run folder's first step: later ones of a training were sampled from other weights. A file is itself."""
    if run.is_file():
        return [run]
    finished = count_finished(run)
    chosen = [0] if steps is None else steps
    missing = [step for step in chosen if not 0 <= step < finished]
    if missing:
        raise ValueError(f"Expected steps below {finished}, as {run} has finished, got {missing}")
    return [run / f"step-{step:06d}" / "datums.arrow" for step in chosen]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m interlace_learner.gap")
    parser.add_argument("run", type=Path, help="run folder, or a datums.arrow")
    parser.add_argument("policy", type=Path, help="folder of the weights that sampled it")
    parser.add_argument("--step", type=int, action="append", help="from 0; may be given again")
    parser.add_argument("--backend", choices=["auto", "builtin", "transformers"], default="auto")
    parser.add_argument("--temperature", type=float, help="divides the learner's logits")
    given = parser.parse_args(arguments)
    try:
        files = find_datums(given.run, given.step)
        gap = measure_gap(files, given.policy, given.backend, given.temperature)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps(asdict(gap)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
