"""A Llama-shaped transformer with Hugging Face's parameter names, in float32, without a cache.

In: right-padded token ids. Out: log p of given targets. Refuses shapes that it does not implement, by name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

REQUIRED = {
    "model_type": "llama",
    "hidden_act": "silu",
    "attention_bias": False,
    "mlp_bias": False,
    "tie_word_embeddings": True,
}
"""What `config.json` must say; scaled rotary embeddings are refused apart."""


@dataclass(frozen=True, slots=True)
class LlamaConfig:
    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    max_position_embeddings: int
    rope_theta: float
    rms_norm_eps: float

    @staticmethod
    def from_json(config: dict[str, Any]) -> LlamaConfig:
        """Raise ValueError on a model that this module is not."""
        for key, expected in REQUIRED.items():
            if config.get(key, expected) != expected:
                raise ValueError(
                    f"Expected {key} to be {expected} in config.json, got {config[key]}; "
                    "the reference learner trains small Llama-shaped policies only"
                )
        if config.get("rope_scaling") is not None:
            raise ValueError(f"Expected no rope_scaling, got {config['rope_scaling']}")
        heads = config["num_attention_heads"]
        return LlamaConfig(
            vocab_size=config["vocab_size"],
            hidden_size=config["hidden_size"],
            intermediate_size=config["intermediate_size"],
            num_hidden_layers=config["num_hidden_layers"],
            num_attention_heads=heads,
            num_key_value_heads=config.get("num_key_value_heads", heads),
            head_dim=config.get("head_dim", config["hidden_size"] // heads),
            max_position_embeddings=config["max_position_embeddings"],
            rope_theta=config.get("rope_theta", 10_000.0),
            rms_norm_eps=config["rms_norm_eps"],
        )


class Norm(nn.Module):
    def __init__(self, size: int, epsilon: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        return functional.rms_norm(x, self.weight.shape, self.weight, self.epsilon)


class Attention(nn.Module):
    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        self.heads = (config.num_attention_heads, config.num_key_value_heads, config.head_dim)
        queries, keys, size = self.heads
        self.q_proj = nn.Linear(config.hidden_size, queries * size, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, keys * size, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, keys * size, bias=False)
        self.o_proj = nn.Linear(queries * size, config.hidden_size, bias=False)

    def forward(self, x: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
        queries, keys, size = self.heads

        def split(projected: Tensor, heads: int) -> Tensor:
            return projected.unflatten(-1, (heads, size)).transpose(1, 2)

        mixed = functional.scaled_dot_product_attention(
            rotate(split(self.q_proj(x), queries), rotation),
            rotate(split(self.k_proj(x), keys), rotation),
            split(self.v_proj(x), keys),
            is_causal=True,
            enable_gqa=keys != queries,
        )
        return self.o_proj(mixed.transpose(1, 2).flatten(-2))


class Mlp(nn.Module):
    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        self.input_layernorm = Norm(config.hidden_size, config.rms_norm_eps)
        self.self_attn = Attention(config)
        self.post_attention_layernorm = Norm(config.hidden_size, config.rms_norm_eps)
        self.mlp = Mlp(config)

    def forward(self, x: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), rotation)
        return x + self.mlp(self.post_attention_layernorm(x))


class Stack(nn.Module):
    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.norm = Norm(config.hidden_size, config.rms_norm_eps)

    def forward(self, ids: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x, rotation)
        return self.norm(x)


class Llama(nn.Module):
    def __init__(self, config: LlamaConfig) -> None:
        super().__init__()
        self.config = config
        self.model = Stack(config)

    @property
    def vocab_size(self) -> int:
        return self.config.vocab_size

    def hidden(self, ids: Tensor) -> Tensor:
        """[samples, width] → [samples, width, hidden]. Causal: right padding changes nothing before it."""
        width = ids.shape[1]
        if width > self.config.max_position_embeddings:
            raise ValueError(
                f"Expected at most {self.config.max_position_embeddings} positions, got {width}"
            )
        return self.model(ids, rotations(self.config, width))

    def logits(self, ids: Tensor) -> Tensor:
        """[samples, width] → [samples, width, vocabulary]."""
        return functional.linear(self.hidden(ids), self.model.embed_tokens.weight)

    def logprobs(
        self, input_tokens: Tensor, target_tokens: Tensor, mask: Tensor, temperature: float = 1.0
    ) -> Tensor:
        """log p(target) at temperature T where the mask is 1, else exactly 0. [samples, width].

        Logits are computed at action positions only: with a large vocabulary they are most of the memory.
        """
        chosen = mask > 0
        hidden = self.hidden(input_tokens)[chosen]
        logits = functional.linear(hidden, self.model.embed_tokens.weight) / temperature
        targets = target_tokens[chosen].long().unsqueeze(-1)
        picked = logits.log_softmax(-1).gather(-1, targets).squeeze(-1)
        return picked.new_zeros(mask.shape).masked_scatter(chosen, picked)


def rotations(config: LlamaConfig, width: int) -> tuple[Tensor, Tensor]:
    """cos and sin, [width, head_dim], as Hugging Face lays them out: both halves alike."""
    exponents = torch.arange(0, config.head_dim, 2, dtype=torch.float32) / config.head_dim
    angles = torch.outer(
        torch.arange(width, dtype=torch.float32), 1.0 / config.rope_theta**exponents
    )
    both = torch.cat([angles, angles], -1)
    return both.cos(), both.sin()


def rotate(x: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
    cos, sin = rotation
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat([-second, first], -1) * sin
