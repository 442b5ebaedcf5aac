"""A Llama-shaped transformer for two CPU cores. In: ids. Out: hidden states and logits. Parameter names are Hugging
Face's, so the saved folder loads as LlamaForCausalLM without conversion."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import Tensor, nn


@dataclass(frozen=True)
class Shape:
    vocab_size: int = 512
    hidden_size: int = 128
    intermediate_size: int = 256
    num_hidden_layers: int = 3
    num_attention_heads: int = 4
    max_position_embeddings: int = 512
    rope_theta: float = 10000.0
    rms_norm_eps: float = 1e-6

    @property
    def head_size(self) -> int:
        return self.hidden_size // self.num_attention_heads


class Norm(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(shape.hidden_size))
        self.eps = shape.rms_norm_eps

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, self.weight.shape, self.weight, self.eps)


class Attention(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        width = shape.hidden_size
        self.heads = shape.num_attention_heads
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (
            nn.Linear(width, width, bias=False) for _ in range(4)
        )

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        batch, length, width = x.shape
        # One matrix product instead of three: a third of the overhead at this size.
        joint = torch.cat([self.q_proj.weight, self.k_proj.weight, self.v_proj.weight])
        split = F.linear(x, joint).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = split.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(
            rotate(q, cos, sin), rotate(k, cos, sin), v, is_causal=True
        )
        return self.o_proj(mixed.transpose(1, 2).reshape(batch, length, width))


class FeedForward(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        self.gate_proj = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=False)
        self.up_proj = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=False)
        self.down_proj = nn.Linear(shape.intermediate_size, shape.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        gate, up = F.linear(x, torch.cat([self.gate_proj.weight, self.up_proj.weight])).chunk(2, -1)
        return self.down_proj(F.silu(gate) * up)


class Block(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        self.input_layernorm, self.post_attention_layernorm = Norm(shape), Norm(shape)
        self.self_attn, self.mlp = Attention(shape), FeedForward(shape)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        return x + self.mlp(self.post_attention_layernorm(x))


class Trunk(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        self.embed_tokens = nn.Embedding(shape.vocab_size, shape.hidden_size)
        self.layers = nn.ModuleList(Block(shape) for _ in range(shape.num_hidden_layers))
        self.norm = Norm(shape)


class TinyLlama(nn.Module):
    """Tied embeddings, no bias. Right padding changes nothing before it."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.shape, self.model = shape, Trunk(shape)
        cos, sin = rotations(shape)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                spread = 0.02 if "embed" in name else 0.8 / math.sqrt(weight.shape[1])
                nn.init.normal_(weight, std=spread)
                if name.endswith(("o_proj.weight", "down_proj.weight")):
                    weight.data /= math.sqrt(2 * shape.num_hidden_layers)

    def hidden(self, ids: Tensor) -> Tensor:
        """[batch, length] -> [batch, length, width]."""
        x = self.model.embed_tokens(ids)
        cos, sin = self.cos[: ids.shape[1]], self.sin[: ids.shape[1]]
        for block in self.model.layers:
            x = block(x, cos, sin)
        return self.model.norm(x)

    def logits(self, hidden: Tensor) -> Tensor:
        return F.linear(hidden, self.model.embed_tokens.weight)

    def save(self, folder: Path, eos: int, pad: int, dtype: torch.dtype) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        tensors = {name: t.detach().to(dtype).contiguous() for name, t in self.state_dict().items()}
        save_file(tensors, str(folder / "model.safetensors"), metadata={"format": "pt"})
        config = {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            **asdict(self.shape),
            "num_key_value_heads": self.shape.num_attention_heads,
            "head_dim": self.shape.head_size,
            "hidden_act": "silu",
            "attention_bias": False,
            "mlp_bias": False,
            "tie_word_embeddings": True,
            "torch_dtype": str(dtype).removeprefix("torch."),
            "bos_token_id": None,
            "eos_token_id": eos,
            "pad_token_id": pad,
        }
        (folder / "config.json").write_text(json.dumps(config, indent=1))

    @staticmethod
    def load(folder: Path) -> TinyLlama:
        config = json.loads((folder / "config.json").read_text())
        model = TinyLlama(Shape(**{name: config[name] for name in Shape.__dataclass_fields__}))
        weights = load_file(str(folder / "model.safetensors"))
        model.load_state_dict({name: tensor.float() for name, tensor in weights.items()})
        return model


def rotations(shape: Shape) -> tuple[Tensor, Tensor]:
    """cos and sin, [context, head size], both halves alike."""
    exponent = torch.arange(0, shape.head_size, 2).float() / shape.head_size
    frequency = 1.0 / shape.rope_theta**exponent
    angles = torch.outer(torch.arange(shape.max_position_embeddings).float(), frequency)
    angles = torch.cat([angles, angles], -1)
    return angles.cos(), angles.sin()


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat([-second, first], -1) * sin
