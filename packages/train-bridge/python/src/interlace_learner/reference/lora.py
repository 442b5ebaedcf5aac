"""A causal language model of transformers of which only a low-rank adapter learns (Hu et al. 2021), by peft.

In: a policy's folder and the adapter's shape. Out: the calls of `CausalLM`, whose parameters and state are the
adapter's alone; `write` gives whole weights under the folder's own names, which a sampler loads like any others.
The folder's weights are never changed. Refuses layers that are not linear, and weights that two layers share.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from .causal_lm import CausalLM
from .config import ALL_LINEAR, LoraShape


class LoraCausalLM(CausalLM):
    """y = W·x + (alpha / rank)·B·A·x in every chosen layer. B begins at 0: the first policy is the folder's own."""

    def __init__(self, folder: Path, shape: LoraShape) -> None:
        """Raise ValueError where peft is missing or a target is no linear layer of this model."""
        try:
            import peft
        except ImportError as error:
            raise ValueError(
                "Expected peft for lora_rank, which is not installed; pip install 'interlace-learner[lora]'"
            ) from error
        super().__init__(folder)
        check_targets(self.model, shape.targets)
        config = peft.LoraConfig(
            r=shape.rank,
            lora_alpha=shape.alpha,
            target_modules=ALL_LINEAR if shape.targets == ALL_LINEAR else list(shape.targets),
            fan_in_fan_out=any(is_conv1d(layer) for layer in self.model.modules()),
            task_type="CAUSAL_LM",
        )
        # A is drawn: from the run's seed, and without moving anybody else's generator.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(shape.seed)
            self.model = peft.LoraModel(self.model, config, "default").eval()

    def parameters(self) -> Iterator[nn.Parameter]:
        return (parameter for _, parameter in self.named_parameters())

    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        """The adapter's: A [rank, inputs] and B [outputs, rank] of every chosen layer."""
        return ((name, p) for name, p in self.model.named_parameters() if p.requires_grad)

    def state_dict(self) -> dict[str, Tensor]:
        return {name: parameter.detach() for name, parameter in self.named_parameters()}

    def load_state_dict(self, weights: Mapping[str, Tensor]) -> None:
        """Raise ValueError on other names than `state_dict` has."""
        self.check_names(weights)
        self.model.load_state_dict(weights, strict=False)

    def write(self, folder: Path) -> None:
        """W + (alpha / rank)·B·A, merged in a copy: in place, the rounding would change what is trained."""
        merged = copy.deepcopy(self.model).merge_and_unload()
        merged.save_pretrained(folder, max_shard_size="1TB")


def check_targets(model: Any, targets: str | tuple[str, ...]) -> None:
    """Raise ValueError unless each target ends the names of linear layers, which share their weights with none."""
    layers = {name: layer for name, layer in model.named_modules() if is_linear(layer)}
    # all-linear leaves the output layer out, which is the one that may be tied.
    for target in () if targets == ALL_LINEAR else targets:
        chosen = [name for name in layers if f".{name}".endswith(f".{target}")]
        if not chosen:
            known = ", ".join(sorted({name.rpartition(".")[2] for name in layers}))
            raise ValueError(
                f"Expected lora_targets to be {ALL_LINEAR} or linear layers of this model ({known}), got {target}"
            )
        for name in chosen:
            own = layers[name].weight
            if any(other is own for other in other_weights(model, name)):
                raise ValueError(
                    f"Expected lora_targets without tied weights, got {target}, which are another layer's too; "
                    "a merge would change both"
                )


def is_linear(layer: Any) -> bool:
    return isinstance(layer, nn.Linear) or is_conv1d(layer)


def is_conv1d(layer: Any) -> bool:
    """GPT-2's family has its linear layers as transformers' own `Conv1D`, with weights [inputs, outputs]."""
    return type(layer).__name__ == "Conv1D"


def other_weights(model: Any, name: str) -> Iterator[nn.Parameter]:
    parameters = model.named_parameters(remove_duplicate=False)
    return (parameter for other, parameter in parameters if other != f"{name}.weight")
