"""Any causal language model of transformers, as the learner needs one: float32, on the CPU, dropout off.

In: a folder that `AutoModelForCausalLM` loads; no code of the folder is run. Out: log p of given targets, and weights
under the folder's own names. Refuses to know what is inside: logits are the model's own, so what a family does to them
(soft caps, scales) is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn


class CausalLM:
    """Holds the model; the same calls as `Llama`."""

    def __init__(self, folder: Path) -> None:
        try:
            from transformers import AutoModelForCausalLM
        except ImportError as error:
            raise ValueError(
                f"{folder} is no small Llama-shaped policy, and transformers, which would load it, is not installed; "
                "pip install 'interlace-learner[transformers]'"
            ) from error
        self.model: Any = AutoModelForCausalLM.from_pretrained(
            folder, dtype=torch.float32, local_files_only=True, trust_remote_code=False
        ).eval()

    @property
    def vocab_size(self) -> int:
        return int(self.model.get_output_embeddings().weight.shape[0])

    def parameters(self) -> Iterator[nn.Parameter]:
        return iter(self.model.parameters())

    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        """Tied weights once."""
        return iter(self.model.named_parameters())

    def state_dict(self) -> dict[str, Tensor]:
        """Tied weights once, under their first name."""
        seen: set[int] = set()
        kept: dict[str, Tensor] = {}
        for name, value in self.model.state_dict().items():
            if value.data_ptr() not in seen or value.numel() == 0:
                kept[name] = value
            seen.add(value.data_ptr())
        return kept

    def load_state_dict(self, weights: Mapping[str, Tensor]) -> None:
        """Raise ValueError on other names than `state_dict` has."""
        self.check_names(weights)
        self.model.load_state_dict(weights, strict=False)

    def check_names(self, weights: Mapping[str, Tensor]) -> None:
        odd = sorted(set(weights) ^ set(self.state_dict()))
        if odd:
            raise ValueError(f"Expected the weights of this model, got a difference in {odd[:5]}")

    def logits(self, ids: Tensor) -> Tensor:
        """[samples, width] → [samples, width, vocabulary]. Right padding changes nothing before it."""
        longest = getattr(self.model.config.get_text_config(), "max_position_embeddings", None)
        if longest is not None and ids.shape[1] > longest:
            raise ValueError(f"Expected at most {longest} positions, got {ids.shape[1]}")
        return self.model(input_ids=ids.long(), use_cache=False).logits

    def logprobs(
        self, input_tokens: Tensor, target_tokens: Tensor, mask: Tensor, temperature: float = 1.0
    ) -> Tensor:
        """log p(target) at temperature T where the mask is 1, else exactly 0. [samples, width]."""
        chosen = mask > 0
        logits = self.logits(input_tokens)[chosen] / temperature
        targets = target_tokens[chosen].long().unsqueeze(-1)
        picked = logits.log_softmax(-1).gather(-1, targets).squeeze(-1)
        return picked.new_zeros(mask.shape).masked_scatter(chosen, picked)

    def write(self, folder: Path) -> None:
        """`model.safetensors`, `config.json` and what else transformers writes, under the names of its hub."""
        self.model.save_pretrained(folder, max_shard_size="1TB")
