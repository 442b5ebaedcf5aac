from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from support import POLICY

from interlace_learner.reference import Llama, LlamaConfig
from interlace_learner.reference.checkpoint import read_tensors


def load() -> Llama:
    model = Llama(LlamaConfig.from_json(json.loads((POLICY / "config.json").read_text())))
    tensors = read_tensors(POLICY / "model.safetensors")
    model.load_state_dict({name: value.float() for name, value in tensors.items()})
    return model.eval()


def test_logits_are_those_of_transformers() -> None:
    transformers = pytest.importorskip("transformers")
    theirs = transformers.LlamaForCausalLM.from_pretrained(POLICY, dtype=torch.float32).eval()
    ids = torch.from_numpy(np.random.default_rng(0).integers(0, 512, (3, 200)))
    with torch.no_grad():
        expected = theirs(ids).logits
        seen = load().logits(ids)
    torch.testing.assert_close(seen, expected, rtol=1e-4, atol=2e-4)


def test_grouped_keys_and_values_are_those_of_transformers() -> None:
    transformers = pytest.importorskip("transformers")
    shape = {
        "vocab_size": 64,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "max_position_embeddings": 64,
        "rope_theta": 5000.0,
        "rms_norm_eps": 1e-5,
        "tie_word_embeddings": True,
    }
    torch.manual_seed(0)
    theirs = transformers.LlamaForCausalLM(transformers.LlamaConfig(**shape)).eval()
    ours = Llama(LlamaConfig.from_json(shape)).eval()
    weights = {
        name: value for name, value in theirs.state_dict().items() if name != "lm_head.weight"
    }
    ours.load_state_dict(weights)
    ids = torch.randint(0, 64, (2, 40))
    with torch.no_grad():
        torch.testing.assert_close(ours.logits(ids), theirs(ids).logits, rtol=1e-5, atol=1e-5)


def test_logprobs_are_at_action_positions_only() -> None:
    model = load()
    ids = torch.from_numpy(np.random.default_rng(1).integers(0, 512, (2, 30)))
    mask = torch.zeros(2, 29)
    mask[0, 3:9] = 1
    mask[1, 20:] = 1
    with torch.no_grad():
        seen = model.logprobs(ids[:, :-1], ids[:, 1:], mask)
        for temperature in (1.0, 0.5):
            full = (model.logits(ids[:, :-1]) / temperature).log_softmax(-1)
            expected = full.gather(-1, ids[:, 1:, None])[..., 0] * mask
            seen = model.logprobs(ids[:, :-1], ids[:, 1:], mask, temperature)
            torch.testing.assert_close(seen, expected, rtol=1e-5, atol=1e-5)
    assert torch.all(seen[mask == 0] == 0)


def test_right_padding_changes_nothing_before_it() -> None:
    model = load()
    ids = torch.from_numpy(np.random.default_rng(2).integers(0, 505, (1, 20)))
    padded = torch.cat([ids, torch.full((1, 30), 505)], 1)
    with torch.no_grad():
        torch.testing.assert_close(
            model.hidden(padded)[:, :20], model.hidden(ids), rtol=1e-5, atol=1e-5
        )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model_type": "qwen3"}, "model_type to be llama in config.json, got qwen3"),
        ({"tie_word_embeddings": False}, "tie_word_embeddings to be True"),
        ({"attention_bias": True}, "attention_bias to be False"),
        ({"rope_scaling": {"rope_type": "llama3"}}, "no rope_scaling"),
    ],
)
def test_other_shapes_are_refused(change: dict[str, object], message: str) -> None:
    config = {**json.loads((POLICY / "config.json").read_text()), **change}
    with pytest.raises(ValueError, match=message):
        LlamaConfig.from_json(config)


def test_too_many_positions_are_refused() -> None:
    with pytest.raises(ValueError, match="at most 512 positions, got 513"):
        load().hidden(torch.zeros(1, 513, dtype=torch.int64))
