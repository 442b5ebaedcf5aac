"""What one optimizer step is made of, with the described defaults; unknown names are refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

Reduction = Literal["sample_mean", "token_sum", "token_mean"]
Backend = Literal["auto", "builtin", "transformers"]

ALL_LINEAR = "all-linear"
"""peft's name for every linear layer but the output's."""


@dataclass(frozen=True, slots=True)
class LoraShape:
    """The shape of a low-rank adapter, and what its first weights are drawn from."""

    rank: int
    alpha: int
    targets: str | tuple[str, ...]
    """`all-linear`, or ends of layers' names."""
    seed: int


@dataclass(frozen=True, slots=True)
class LearnerConfig:
    learning_rate: float = 4e-5
    beta1: float = 0.9
    beta2: float = 0.95
    epsilon: float = 1e-8
    ratio_low: float = 0.8
    """Absolute bounds on the ratio."""
    ratio_high: float = 1.28
    dual_clip: float | None = None
    """None = off; 10 is usual."""
    reduction: Reduction = "sample_mean"
    gradient_clip: float | None = None
    """Largest norm of the whole gradient. None = off."""
    temperature: float | None = None
    """Divides the logits. None = what the file's `logprob_kind` asks for."""
    warmup_steps: int = 0
    decay_from: int | None = None
    """From this training step the rate falls linearly, to `decay_floor` × rate at `decay_to`. None = never."""
    decay_to: int | None = None
    decay_floor: float = 0.1
    backend: Backend = "auto"
    """What computes the policy. auto = the built-in module where it knows the shape, else transformers."""
    lora_rank: int | None = None
    """Rank of a low-rank adapter (by transformers and peft), which alone is trained. None = all weights are."""
    lora_alpha: int = 32
    """The adapter's product is scaled by alpha / rank."""
    lora_targets: str | Sequence[str] = ALL_LINEAR
    """all-linear = every linear layer but the output's; or names of layers, like q_proj, in a list."""
    seed: int = 42
    """Draws the adapter's first weights."""
    threads: int | None = None
    """None = one per core for the built-in module, whose threads compute parts of a step each (the bits are the same
    for any number), and one for transformers, whose threads wait for each other at every kernel: more are slower on a
    busy small machine."""

    def __post_init__(self) -> None:
        for name in ("learning_rate", "epsilon", "ratio_high"):
            self._require(name, getattr(self, name) > 0, "greater than 0")
        for name in ("beta1", "beta2"):
            self._require(name, 0 <= getattr(self, name) < 1, "in [0, 1)")
        self._require("ratio_low", 0 <= self.ratio_low <= 1 <= self.ratio_high, "low ≤ 1 ≤ high")
        self._require("warmup_steps", self.warmup_steps >= 0, "at least 0")
        self._require("decay_floor", 0 <= self.decay_floor <= 1, "in [0, 1]")
        self._require("reduction", self.reduction in get_args(Reduction), "a known reduction")
        self._require("backend", self.backend in get_args(Backend), "a known backend")
        if self.threads is not None:
            self._require("threads", self.threads >= 1, "at least 1")
        if self.dual_clip is not None:
            self._require("dual_clip", self.dual_clip > 1, "greater than 1")
        if self.temperature is not None:
            self._require("temperature", self.temperature > 0, "greater than 0")
        if self.gradient_clip is not None:
            self._require("gradient_clip", self.gradient_clip > 0, "greater than 0")
        if self.lora_rank is not None:
            for name in ("lora_rank", "lora_alpha"):
                value = getattr(self, name)
                is_count = isinstance(value, int) and value >= 1
                self._require(name, is_count, "an integer of at least 1")
            self._require("backend", self.backend != "builtin", "auto or transformers for LoRA")
            targets = self.lora_targets
            is_known = targets == ALL_LINEAR or (not isinstance(targets, str) and len(targets) > 0)
            self._require("lora_targets", is_known, f"{ALL_LINEAR} or a list of layers' names")
        if (self.decay_from is None) != (self.decay_to is None):
            raise ValueError("Expected decay_from and decay_to together, got one of them")
        if self.decay_from is not None and self.decay_to is not None:
            self._require("decay_to", self.decay_to > self.decay_from, "after decay_from")

    def _require(self, name: str, holds: bool, expected: str) -> None:
        if not holds:
            raise ValueError(f"Expected {name} to be {expected}, got {getattr(self, name)}")

    @property
    def lora(self) -> LoraShape | None:
        """None = all weights are trained."""
        if self.lora_rank is None:
            return None
        names = () if isinstance(self.lora_targets, str) else tuple(self.lora_targets)
        targets = ALL_LINEAR if names in ((), (ALL_LINEAR,)) else names
        return LoraShape(self.lora_rank, self.lora_alpha, targets, self.seed)

    @staticmethod
    def from_json(values: dict[str, Any]) -> LearnerConfig:
        known = {field.name for field in fields(LearnerConfig)}
        unknown = sorted(set(values) - known)
        if unknown:
            raise ValueError(
                f"Expected learner options among {', '.join(sorted(known))}, got {', '.join(unknown)}"
            )
        return LearnerConfig(**values)


def learning_rate_at(config: LearnerConfig, step: int) -> float:
    """Rate of training step `step`, from 0: a linear warm-up, a plateau, a linear fall to the floor."""
    rate = config.learning_rate
    if step < config.warmup_steps:
        return rate * (step + 1) / config.warmup_steps
    if config.decay_from is None or config.decay_to is None:
        return rate
    progress = (step - config.decay_from) / (config.decay_to - config.decay_from)
    return rate * (1 - (1 - config.decay_floor) * min(1.0, max(0.0, progress)))
