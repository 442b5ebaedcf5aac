"""The reference learner with a low-rank adapter: what learns, what stays, and what a sampler gets."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from policy_rows import draw_rows, split
from support import POLICY, as_file, make_table
from torch import Tensor

from interlace_learner import open_datums, pad
from interlace_learner.reference import (
    CausalLM,
    CheckpointError,
    Learner,
    LearnerConfig,
    Llama,
)
from interlace_learner.reference.learner import to_tensors

pytest.importorskip("peft")
transformers = pytest.importorskip("transformers")

LORA = {"lora_rank": 4, "learning_rate": 1e-3}


def new_learner(folder: Path = POLICY, **config: Any) -> Learner:
    return Learner(folder, LearnerConfig(**{**LORA, **config}))


@pytest.fixture
def steps(tmp_path: Path) -> list[Path]:
    """Four steps that the shipped policy sampled."""
    model = Learner(POLICY, LearnerConfig()).model
    assert isinstance(model, Llama)
    paths = [tmp_path / f"step-{i}.arrow" for i in range(4)]
    for i, path in enumerate(paths):
        rows = draw_rows(model, 6, seed=i)
        path.write_bytes(as_file(*make_table(split(rows, [2, 4]), scored=8)))
    return paths


@pytest.fixture
def gpt2(tmp_path: Path) -> Path:
    """Its linear layers are `Conv1D`, whose weights lie the other way round."""
    torch.manual_seed(3)
    shape = transformers.GPT2Config(
        vocab_size=512,
        n_embd=32,
        n_layer=2,
        n_head=2,
        n_positions=128,
        bos_token_id=0,
        eos_token_id=0,
    )
    folder = tmp_path / "gpt2"
    transformers.GPT2LMHeadModel(shape).save_pretrained(folder)
    return folder


def logprobs(model: Any, step: Path) -> Tensor:
    found = []
    with open_datums(step) as opened, torch.no_grad():
        for batch in opened.micro_batches():
            tensors = to_tensors(pad(batch))
            names = ("input_tokens", "target_tokens", "loss_mask")
            found.append(model.logprobs(*(tensors[name] for name in names)).flatten())
    return torch.cat(found)


def base_weights(learner: Learner) -> dict[str, Tensor]:
    assert isinstance(learner.model, CausalLM)
    return {
        name: parameter.clone()
        for name, parameter in learner.model.model.named_parameters()
        if not parameter.requires_grad
    }


def test_only_the_adapter_has_gradients_and_moments(steps: list[Path]) -> None:
    learner = new_learner(lora_targets=["all-linear"])
    before = base_weights(learner)
    adapter = {name: value.clone() for name, value in learner.model.state_dict().items()}
    assert len(adapter) == 3 * 7 * 2
    assert {value.shape[0] for name, value in adapter.items() if "lora_A" in name} == {4}
    learner.update(steps[0])
    assert isinstance(learner.model, CausalLM)
    for name, parameter in learner.model.model.named_parameters():
        assert (parameter.grad is not None) == (name in adapter)
    assert len(learner.optimizer.state) == len(adapter)
    assert sum(p.numel() for p in learner.model.parameters()) < 60_000
    for name, value in base_weights(learner).items():
        assert torch.equal(value, before[name])
    # B was 0, so A's first gradient is 0 and B's is not.
    for name, value in learner.model.state_dict().items():
        assert torch.equal(value, adapter[name]) == ("lora_A" in name)


def test_the_first_update_starts_from_ratio_1_and_the_next_is_better(steps: list[Path]) -> None:
    learner = new_learner(learning_rate=1e-4)
    first, second = learner.update(steps[0]), learner.update(steps[0])
    assert first.metrics["ratio_mean"] == pytest.approx(1, abs=1e-5)
    assert first.metrics["logprob_difference_max"] < 5e-4
    assert second.metrics["logprob_difference_max"] > 5e-4
    assert second.metrics["loss"] < first.metrics["loss"]


def test_the_gradient_is_that_of_full_training_through_the_product(steps: list[Path]) -> None:
    """dL/dB = (alpha / rank)·dL/dW·Aᵀ, with dL/dW by the learner that trains all weights."""
    full = Learner(POLICY, LearnerConfig(backend="transformers"))
    learner = new_learner(lora_alpha=8)
    for each in (full, learner):
        with open_datums(steps[0]) as step:
            each.accumulate(list(step.micro_batches()), step.facts)
    whole = {name: p.grad for name, p in full.model.named_parameters()}
    parameters = dict(learner.model.named_parameters())
    for name, parameter in parameters.items():
        if "lora_B" not in name:
            continue
        layer = name.removeprefix("model.").removesuffix(".lora_B.default.weight")
        dense = whole[f"{layer}.weight"]
        assert dense is not None
        expected = 8 / 4 * dense @ parameters[name.replace("lora_B", "lora_A")].detach().T
        assert parameter.grad is not None
        scale = float(expected.abs().max())
        torch.testing.assert_close(parameter.grad, expected, rtol=0, atol=scale * 1e-4)


def test_merged_weights_are_the_policy_that_learns(steps: list[Path], tmp_path: Path) -> None:
    learner = new_learner()
    untouched = (POLICY / "model.safetensors").read_bytes()
    before = logprobs(learner.model, steps[3])
    for step in steps[:3]:
        learner.update(step)
    state = {name: value.clone() for name, value in learner.model.state_dict().items()}
    base = base_weights(learner)
    expected = logprobs(learner.model, steps[3])
    version = learner.save_weights(tmp_path / "weights")
    assert version.startswith("sha256-")
    # The adapter moved the policy far more than a merge may.
    assert float((expected - before).abs().max()) > 0.1
    merged = Learner(tmp_path / "weights", LearnerConfig()).model
    assert isinstance(merged, Llama)
    torch.testing.assert_close(logprobs(merged, steps[3]), expected, rtol=1e-4, atol=5e-4)
    theirs = CausalLM(tmp_path / "weights")
    torch.testing.assert_close(logprobs(theirs, steps[3]), expected, rtol=1e-4, atol=5e-4)
    # Nothing of the training model has changed, nor what it came from.
    assert torch.equal(logprobs(learner.model, steps[3]), expected)
    for now, then in ((learner.model.state_dict(), state), (base_weights(learner), base)):
        assert all(torch.equal(now[name], value) for name, value in then.items())
    assert (POLICY / "model.safetensors").read_bytes() == untouched


def test_the_artefact_is_that_of_full_training(steps: list[Path], tmp_path: Path) -> None:
    learner, full = new_learner(), Learner(POLICY, LearnerConfig(backend="transformers"))
    learner.save_weights(tmp_path / "lora")
    full.save_weights(tmp_path / "full")
    names = [sorted(each.name for each in (tmp_path / kind).iterdir()) for kind in ("lora", "full")]
    assert names[0] == names[1]
    # Before the first update B is 0: it is the policy itself.
    assert torch.equal(
        logprobs(CausalLM(tmp_path / "lora"), steps[0]), logprobs(full.model, steps[0])
    )


def test_layers_that_lie_the_other_way_round_are_merged_rightly(
    gpt2: Path, steps: list[Path], tmp_path: Path
) -> None:
    learner = new_learner(gpt2, lora_targets=["c_attn", "mlp.c_proj"])
    assert len(learner.model.state_dict()) == 2 * 2 * 2
    before = logprobs(learner.model, steps[3])
    for step in steps[:3]:
        learner.update(step)
    expected = logprobs(learner.model, steps[3])
    assert float((expected - before).abs().max()) > 1e-3
    learner.save_weights(tmp_path / "weights")
    merged = CausalLM(tmp_path / "weights")
    torch.testing.assert_close(logprobs(merged, steps[3]), expected, rtol=1e-4, atol=2e-5)


def test_resuming_goes_on_bit_for_bit(steps: list[Path], tmp_path: Path) -> None:
    straight = new_learner(warmup_steps=3, gradient_clip=1.0, lora_targets=["q_proj", "down_proj"])
    for step in steps[:2]:
        straight.update(step)
    straight.save_state(tmp_path / "state", cursor=7)
    for step in steps[2:]:
        straight.update(step)
    straight.save_weights(tmp_path / "straight")
    # In a process of its own: nothing can be left over in memory.
    requests = [
        {"type": "resume", "state": str(tmp_path / "state")},
        *({"type": "update", "datums": str(step)} for step in steps[2:]),
        {"type": "export", "weights": str(tmp_path / "resumed")},
    ]
    done = subprocess.run(
        [sys.executable, "-m", "interlace_learner"],
        input="".join(json.dumps(each) + "\n" for each in requests),
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(Path(__file__).parents[1] / "src")},
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert answers[0] == {"type": "ready", "step": 2, "cursor": 7}
    seen = (tmp_path / "resumed/model.safetensors").read_bytes()
    assert seen == (tmp_path / "straight/model.safetensors").read_bytes()
    # The state is the adapter's, not the model's: A and B of two layers in each of three blocks.
    assert (tmp_path / "state/model.safetensors").stat().st_size < 40_000


def test_the_seed_draws_the_adapter_and_moves_no_other_generator(tmp_path: Path) -> None:
    torch.manual_seed(1)
    first = new_learner(seed=5).model.state_dict()
    drawn = torch.rand(3)
    torch.manual_seed(1)
    assert torch.equal(torch.rand(3), drawn)
    same, other = new_learner(seed=5).model.state_dict(), new_learner(seed=6).model.state_dict()
    for name, value in first.items():
        assert torch.equal(same[name], value)
        assert torch.equal(other[name], value) == ("lora_B" in name)


def test_an_adapter_goes_on_only_from_the_weights_it_was_trained_on(tmp_path: Path) -> None:
    folder = tmp_path / "policy"
    shutil.copytree(POLICY, folder)
    new_learner(folder).save_state(tmp_path / "state")
    Learner.resume(tmp_path / "state")
    moved = Learner(folder, LearnerConfig(backend="transformers"))
    with torch.no_grad():
        next(moved.model.parameters()).add_(1e-3)
    moved.save_weights(folder)
    with pytest.raises(CheckpointError, match=r"expected the weights sha256-\w+ in .*policy, got"):
        Learner.resume(tmp_path / "state")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"lora_rank": 0},
            "lora_rank to be an integer of at least 1, got 0",
        ),
        ({"lora_rank": 2.5}, r"lora_rank to be an integer of at least 1.*, got 2\.5"),
        ({"lora_alpha": 0}, "lora_alpha to be an integer of at least 1, got 0"),
        (
            {"lora_targets": []},
            r"lora_targets to be all-linear or a list of layers' names, got \[\]",
        ),
        ({"lora_targets": "q_proj"}, "all-linear or a list of layers' names, got q_proj"),
        ({"backend": "builtin"}, "backend to be auto or transformers for LoRA, got builtin"),
        (
            {"lora_targets": ["q_proj", "query"]},
            r"all-linear or linear layers of this model \(down_proj, .*, v_proj\), got query",
        ),
        ({"lora_targets": ["embed_tokens"]}, "linear layers of this model .*, got embed_tokens"),
        ({"lora_targets": ["lm_head"]}, "without tied weights, got lm_head"),
    ],
)
def test_mistaken_options_are_refused_by_name(values: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as refused:
        Learner(POLICY, LearnerConfig.from_json({**LORA, **values}))
    assert "\n" not in str(refused.value)


def test_without_peft_the_error_names_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(ValueError, match=r"pip install 'interlace-learner\[lora\]'"):
        new_learner()
