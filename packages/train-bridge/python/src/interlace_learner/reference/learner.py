"""One optimizer step per training step, and none where there is nothing to learn.

In: `datums.arrow` of a step. Out: new weights and what happened. Refuses to know samplers and rollouts.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..diagnostics import describe_ratios
from ..losses import clip_objective, reduce_per_sample, reduce_token_mean, reduce_token_sum
from ..padding import PaddedBatch, pad, slices
from ..reader import MicroBatch, open_datums
from ..schema import RunFacts
from .causal_lm import CausalLM
from .checkpoint import (
    CheckpointError,
    base_version,
    read_state,
    write_model,
    write_state,
    write_weights,
)
from .config import LearnerConfig, learning_rate_at
from .policy import load_policy
from .slices import SLICE_TOKENS, GradientThreads, add_gradients, usable_cores


@dataclass(frozen=True, slots=True)
class Update:
    """What one training step did. Metrics are numbers by name, for `trainer/*`."""

    skipped: bool
    metrics: dict[str, float]


@dataclass(frozen=True, slots=True)
class _SliceNote:
    """What is told of a slice; arrays over its action tokens."""

    loss: float
    logprobs: NDArray[np.float32]
    old_logprobs: NDArray[np.float32]
    advantages: NDArray[np.float32]


class Learner:
    """Holds the model and the optimizer's moments; everything else is in `LearnerConfig` and the caller's hands."""

    def __init__(self, policy: Path, config: LearnerConfig) -> None:
        self.config = config
        self.source = policy
        self.step = 0
        """Training steps done, also those without an update: the next one's index."""
        self.model = load_policy(policy, config.backend, config.lora)
        self._threads: GradientThreads | None = None
        if isinstance(self.model, CausalLM):
            torch.set_num_threads(config.threads or 1)
        else:
            torch.set_num_threads(1)
            self._threads = GradientThreads(config.threads or usable_cores())
        self.base = None if config.lora is None else base_version(policy)
        """What the adapter stands on; None = all weights are trained, the state holds them."""
        self.optimizer = torch.optim.Adam(
            self.model.parameters(),
            lr=config.learning_rate,
            betas=(config.beta1, config.beta2),
            eps=config.epsilon,
        )

    def update(self, datums: str | Path) -> Update:
        """Read one step's file, accumulate the gradients of its micro-batches, make one optimizer step."""
        with open_datums(datums) as step:
            return self.learn(step.micro_batches(), step.facts)

    def learn(self, batches: Iterable[MicroBatch], facts: RunFacts) -> Update:
        """Raise without having changed anything when the data is damaged or the gradient is not finite."""
        known = list(batches)
        rate = learning_rate_at(self.config, self.step)
        if not known:
            self.step += 1
            return Update(skipped=True, metrics={"learning_rate": rate})
        self.optimizer.zero_grad(set_to_none=True)
        loss, description = self.accumulate(known, facts)
        bound = float("inf") if self.config.gradient_clip is None else self.config.gradient_clip
        norm = torch.nn.utils.clip_grad_norm_(
            self.model.parameters(), bound, error_if_nonfinite=True
        )
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.step += 1
        metrics = {"loss": loss, "gradient_norm": float(norm), "learning_rate": rate, **description}
        return Update(skipped=False, metrics=metrics)

    def accumulate(
        self, batches: list[MicroBatch], facts: RunFacts
    ) -> tuple[float, dict[str, float]]:
        """Add the step's gradient to the parameters'. The sum of the losses is the mean over the N scored samples."""
        if facts.vocab_size > self.model.vocab_size:
            raise ValueError(
                f"Expected ids below {self.model.vocab_size}, as the model has rows, "
                f"got a vocabulary of {facts.vocab_size}; is this the policy that was sampled?"
            )
        temperature = self.config.temperature or logit_temperature(facts)
        step_loss_tokens = sum(batch.loss_tokens for batch in batches)

        def compute(job: tuple[MicroBatch, list[int]]) -> tuple[Tensor, _SliceNote]:
            batch, rows = job
            padded = pad(batch, rows=rows)
            tensors = to_tensors(padded)
            logprobs = self.model.logprobs(
                tensors["input_tokens"],
                tensors["target_tokens"],
                tensors["loss_mask"],
                temperature,
            )
            loss = self._loss(logprobs, tensors, padded, step_loss_tokens, facts.scored_samples)
            # Every reduction is a mean over the micro-batch's samples, of which these are a part.
            loss = loss * (len(rows) / len(batch))
            chosen = padded.loss_mask > 0
            note = _SliceNote(
                float(loss.detach()),
                logprobs.detach().numpy()[chosen],
                padded.old_logprobs[chosen],
                padded.advantages[chosen],
            )
            return loss, note

        jobs = [(batch, rows) for batch in batches for rows in slices(batch, SLICE_TOKENS)]
        if self._threads is None:
            notes = add_gradients(jobs, compute)
        else:
            notes = self._threads.add(self.model.parameters(), jobs, compute)
        new, old, advantages = (
            np.concatenate([getattr(note, name) for note in notes])
            for name in ("logprobs", "old_logprobs", "advantages")
        )
        description = describe_ratios(
            new, old, advantages, np.ones(len(new)), self.config.ratio_low, self.config.ratio_high
        )
        return sum(note.loss for note in notes), description

    def _loss(
        self,
        logprobs: Tensor,
        tensors: dict[str, Tensor],
        padded: PaddedBatch,
        step_loss_tokens: int,
        scored_samples: int,
    ) -> Tensor:
        mask = tensors["loss_mask"]
        per_token = clip_objective(
            logprobs,
            tensors["old_logprobs"],
            # float32 × float32, as the packing's contract says.
            tensors["advantages"] * padded.sample_weight,
            mask,
            self.config.ratio_low,
            self.config.ratio_high,
            self.config.dual_clip,
        )
        match self.config.reduction:
            case "sample_mean":
                return reduce_per_sample(per_token, mask)
            case "token_sum":
                return reduce_token_sum(per_token, mask)
            case "token_mean":
                return reduce_token_mean(per_token, mask, step_loss_tokens, scored_samples)

    def save_weights(self, folder: Path) -> str:
        """For the sampler and for evaluation. Returns the weight version."""
        if isinstance(self.model, CausalLM):
            return write_model(folder, self.model.write, self.source)
        return write_weights(folder, self.model.state_dict(), self.source)

    def save_state(self, folder: Path, cursor: Any = None) -> None:
        """To go on from. `cursor`: any JSON value of the caller's, given back by `resume`."""
        moments: dict[str, Tensor] = {}
        for name, parameter in self.model.named_parameters():
            for kind, value in self.optimizer.state.get(parameter, {}).items():
                moments[f"{name}/{kind}"] = value
        state = {
            "step": self.step,
            "source": str(self.source.resolve()),
            "base": self.base,
            "config": asdict(self.config),
            "cursor": cursor,
            "random_state": base64.b64encode(torch.get_rng_state().numpy().tobytes()).decode(),
        }
        write_state(folder, self.model.state_dict(), moments, state)

    @staticmethod
    def resume(folder: Path) -> tuple[Learner, Any]:
        """A learner that goes on bit for bit, and the cursor that was saved with it.

        Raise CheckpointError where the weights that an adapter stands on are not those that it was trained on.
        """
        weights, moments, state = read_state(folder)
        learner = Learner(Path(state["source"]), LearnerConfig.from_json(state["config"]))
        if learner.base != state.get("base"):
            raise CheckpointError(
                f"{folder}: expected the weights {state.get('base')} in {learner.source}, got {learner.base}; "
                "an adapter goes on only from what it was trained on"
            )
        learner.model.load_state_dict(weights)
        learner.step = state["step"]
        for name, parameter in learner.model.named_parameters():
            prefix = f"{name}/"
            own = {
                key.removeprefix(prefix): value
                for key, value in moments.items()
                if key.startswith(prefix)
            }
            if own:
                learner.optimizer.state[parameter] = own
        random_state = np.frombuffer(base64.b64decode(state["random_state"]), np.uint8)
        torch.set_rng_state(torch.from_numpy(random_state.copy()))
        return learner, state["cursor"]


def logit_temperature(facts: RunFacts) -> float:
    """T so that log_softmax(logits / T) means what the file's logprobs mean. Raise where nothing can."""
    match facts.logprob_kind:
        case "raw":
            return 1.0
        case "temperature_scaled" | "processed" if facts.temperature > 0:
            # Truncation by top_p or top_k renormalises; no temperature undoes that, so ratios stay biased.
            return facts.temperature
        case "unknown" if facts.temperature == 1:
            return 1.0
        case _:
            raise ValueError(
                f"Expected logprobs whose meaning is known, got {facts.logprob_kind} at temperature "
                f"{facts.temperature}; set temperature in the learner's options if you know it"
            )


def to_tensors(padded: PaddedBatch) -> dict[str, Tensor]:
    """Views of the padded arrays, [samples, width]."""
    return {
        name: torch.from_numpy(getattr(padded, name))
        for name in ("input_tokens", "target_tokens", "old_logprobs", "advantages", "loss_mask")
    }
