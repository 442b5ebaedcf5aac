"""In: a policy's folder and what shall compute it. Out: the model, with the folder's weights in float32."""

from __future__ import annotations

from pathlib import Path

from .causal_lm import CausalLM
from .checkpoint import read_config, read_tensors
from .config import Backend, LoraShape
from .llama import Llama, LlamaConfig
from .lora import LoraCausalLM

WEIGHTS = "model.safetensors"


def load_policy(folder: Path, backend: Backend, lora: LoraShape | None = None) -> Llama | CausalLM:
    """Raise ValueError where the folder holds no policy, or the backend cannot compute it.

    `lora`: None = all weights are parameters; else an adapter's are, and transformers computes the policy.
    """
    config = read_config(folder)
    if lora is not None:
        return LoraCausalLM(folder, lora)
    match backend:
        case "transformers":
            return CausalLM(folder)
        case "builtin":
            return _load_llama(folder, LlamaConfig.from_json(config))
        case "auto":
            try:
                shape = LlamaConfig.from_json(config)
            except (ValueError, KeyError):
                return CausalLM(folder)
            # Large models come in several files; those are not what the built-in module is for.
            if not (folder / WEIGHTS).exists():
                return CausalLM(folder)
            return _load_llama(folder, shape)


def _load_llama(folder: Path, shape: LlamaConfig) -> Llama:
    model = Llama(shape)
    tensors = read_tensors(folder / WEIGHTS)
    # Some write tied weights twice.
    tensors.pop("lm_head.weight", None)
    model.load_state_dict({name: value.float() for name, value in tensors.items()})
    return model
