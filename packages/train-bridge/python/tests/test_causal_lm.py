"""The reference learner through transformers: the same policy, the same numbers as the built-in module."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from policy_rows import draw_rows, split
from support import POLICY, as_file, make_table
from torch import Tensor

from interlace_learner import open_datums
from interlace_learner.padding import pad
from interlace_learner.reference import CausalLM, Learner, LearnerConfig, Llama
from interlace_learner.reference.learner import to_tensors

transformers = pytest.importorskip("transformers")


def new_learner(**config: Any) -> Learner:
    return Learner(POLICY, LearnerConfig(backend="transformers", **config))


@pytest.fixture
def datums(tmp_path: Path) -> Path:
    model = Learner(POLICY, LearnerConfig()).model
    assert isinstance(model, Llama)
    rows = draw_rows(model, 8, drift=0.4)
    path = tmp_path / "datums.arrow"
    path.write_bytes(as_file(*make_table(split(rows, [3, 5]), scored=10)))
    return path


@pytest.fixture
def qwen(tmp_path: Path) -> Path:
    """A shape that the built-in module refuses: untied, with norms on queries and keys."""
    torch.manual_seed(3)
    shape = transformers.Qwen3Config(
        vocab_size=512,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=128,
        tie_word_embeddings=False,
    )
    folder = tmp_path / "qwen"
    transformers.Qwen3ForCausalLM(shape).save_pretrained(folder)
    return folder


def gradients(learner: Learner, path: Path) -> tuple[float, dict[str, Tensor]]:
    learner.optimizer.zero_grad(set_to_none=True)
    with open_datums(path) as step:
        loss, _ = learner.accumulate(list(step.micro_batches()), step.facts)
    return loss, {
        n: p.grad.clone() for n, p in learner.model.named_parameters() if p.grad is not None
    }


def test_logprobs_are_those_of_the_built_in_module(datums: Path) -> None:
    ours, theirs = Learner(POLICY, LearnerConfig()).model, new_learner().model
    assert isinstance(theirs, CausalLM)
    with open_datums(datums) as step, torch.no_grad():
        for batch in step.micro_batches():
            tensors = to_tensors(pad(batch))
            arguments = [tensors[n] for n in ("input_tokens", "target_tokens", "loss_mask")]
            for temperature in (1.0, 0.5):
                seen = theirs.logprobs(*arguments, temperature)
                expected = ours.logprobs(*arguments, temperature)
                torch.testing.assert_close(seen, expected, rtol=1e-4, atol=2e-4)
                assert torch.all(seen[tensors["loss_mask"] == 0] == 0)


def test_gradients_are_those_of_the_built_in_module(datums: Path) -> None:
    loss, expected = gradients(Learner(POLICY, LearnerConfig()), datums)
    seen_loss, seen = gradients(new_learner(), datums)
    assert seen_loss == pytest.approx(loss, rel=1e-5)
    assert set(seen) == set(expected)
    for name, gradient in expected.items():
        scale = float(gradient.abs().max())
        torch.testing.assert_close(seen[name], gradient, rtol=0, atol=scale * 1e-4)


def test_one_step_makes_the_same_weights_and_metrics(datums: Path) -> None:
    # A large epsilon: where a gradient is next to nothing, Adam would make a whole step of its rounding.
    config = {"learning_rate": 1e-3, "epsilon": 1e-3, "gradient_clip": 1.0}
    ours, theirs = Learner(POLICY, LearnerConfig(**config)), new_learner(**config)
    expected, seen = ours.update(datums), theirs.update(datums)
    assert seen.metrics == pytest.approx(expected.metrics, rel=1e-3, abs=1e-6)
    weights = theirs.model.state_dict()
    for name, value in ours.model.state_dict().items():
        torch.testing.assert_close(weights[name], value, rtol=0, atol=2e-6)


def test_its_weights_are_a_policy_of_the_built_in_module(datums: Path, tmp_path: Path) -> None:
    learner = new_learner(learning_rate=1e-3)
    learner.update(datums)
    version = learner.save_weights(tmp_path / "weights")
    assert version.startswith("sha256-")
    assert (tmp_path / "weights/tokenizer.json").exists()
    again = Learner(tmp_path / "weights", LearnerConfig()).model
    assert isinstance(again, Llama)
    weights = learner.model.state_dict()
    for name, value in again.state_dict().items():
        assert torch.equal(value, weights[name])


def test_a_shape_that_is_not_built_in_goes_to_transformers_and_learns(
    qwen: Path, datums: Path
) -> None:
    learner = Learner(qwen, LearnerConfig(learning_rate=1e-3))
    assert isinstance(learner.model, CausalLM)
    before = learner.model.state_dict()["lm_head.weight"].clone()
    learner.update(datums)
    assert not torch.equal(learner.model.state_dict()["lm_head.weight"], before)
    with pytest.raises(ValueError, match=r"model_type to be llama in config\.json, got qwen3"):
        Learner(qwen, LearnerConfig(backend="builtin"))


def test_resuming_goes_on_bit_for_bit(qwen: Path, datums: Path, tmp_path: Path) -> None:
    for name, folder in (("tied", POLICY), ("untied", qwen)):
        straight = Learner(folder, LearnerConfig(learning_rate=1e-3, backend="transformers"))
        straight.update(datums)
        straight.save_state(tmp_path / name, cursor=7)
        straight.update(datums)
        resumed, cursor = Learner.resume(tmp_path / name)
        assert cursor == 7
        assert isinstance(resumed.model, CausalLM)
        resumed.update(datums)
        for key, value in straight.model.state_dict().items():
            assert torch.equal(resumed.model.state_dict()[key], value)


def test_the_process_takes_it_too(qwen: Path, datums: Path, tmp_path: Path) -> None:
    requests = [
        {"type": "open", "policy": str(qwen)},
        {"type": "update", "datums": str(datums)},
        {"type": "export", "weights": str(tmp_path / "weights")},
    ]
    done = subprocess.run(
        [sys.executable, "-m", "interlace_learner"],
        input="".join(json.dumps(each) + "\n" for each in requests),
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(Path(__file__).parents[1] / "src")},
    )
    kinds = [json.loads(line)["type"] for line in done.stdout.splitlines()]
    assert kinds == ["ready", "updated", "exported"]
    transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "weights")


def test_without_transformers_the_error_names_what_to_install(
    qwen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ValueError, match=r"pip install 'interlace-learner\[transformers\]'"):
        Learner(qwen, LearnerConfig())
