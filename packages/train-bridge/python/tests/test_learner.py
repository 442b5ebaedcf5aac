from __future__ import annotations

import dataclasses
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from policy_rows import draw_rows, split
from support import POLICY, Row, as_file, make_table
from torch import Tensor

from interlace_learner import RunFacts, open_datums
from interlace_learner.reference import (
    CheckpointError,
    Learner,
    LearnerConfig,
    learning_rate_at,
)
from interlace_learner.reference import learner as learner_module
from interlace_learner.reference.learner import logit_temperature

SCORED = 40


def new_learner(**config: Any) -> Learner:
    return Learner(POLICY, LearnerConfig(**config))


def write_step(
    path: Path, micro_batches: list[list[Row]], scored: int = SCORED, **metadata: str
) -> Path:
    path.write_bytes(as_file(*make_table(micro_batches, scored, **metadata)))
    return path


def gradients(learner: Learner, path: Path) -> tuple[float, dict[str, Tensor]]:
    learner.optimizer.zero_grad(set_to_none=True)
    with open_datums(path) as step:
        loss, _ = learner.accumulate(list(step.micro_batches()), step.facts)
    found = {}
    for name, parameter in learner.model.named_parameters():
        assert parameter.grad is not None
        found[name] = parameter.grad.clone()
    return loss, found


def assert_same_gradients(seen: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    for name, gradient in expected.items():
        # Only the order of float32 sums differs; the largest entry sets the scale.
        scale = float(gradient.abs().max())
        torch.testing.assert_close(seen[name], gradient, rtol=0, atol=scale * 2e-5)


class TestTheGradient:
    @pytest.mark.parametrize("reduction", ["sample_mean", "token_sum", "token_mean"])
    @pytest.mark.parametrize("drift", [0.0, 0.6])
    def test_of_any_packing_is_that_of_one_big_batch(
        self, reduction: str, drift: float, tmp_path: Path
    ) -> None:
        learner = new_learner(reduction=reduction)
        rows = draw_rows(learner.model, 16, drift=drift)
        whole, expected = gradients(learner, write_step(tmp_path / "whole", [rows]))
        draw = np.random.default_rng(3)
        for sizes in ([1] * 16, [15, 1], [5, 5, 6], [1, 7, 3, 5]):
            order = draw.permutation(16)
            packed = split([rows[i] for i in order], sizes)
            loss, seen = gradients(learner, write_step(tmp_path / "packed", packed))
            assert loss == pytest.approx(whole, rel=1e-5, abs=1e-6)
            assert_same_gradients(seen, expected)

    def test_of_the_first_update_is_the_weighted_policy_gradient(self, tmp_path: Path) -> None:
        """ratio = 1, so the gradient is Σ_i (1/N) (1/|mask_i|) Σ_t A·∇log p: written out here without any loss."""
        learner = new_learner()
        rows = draw_rows(learner.model, 6)
        path = write_step(tmp_path / "datums.arrow", split(rows, [2, 4]))
        _, seen = gradients(learner, path)
        learner.optimizer.zero_grad(set_to_none=True)
        for row in rows:
            mask = torch.tensor([row.loss_mask], dtype=torch.float32)
            inputs = torch.tensor([row.input_tokens])
            logits = learner.model.logits(inputs)
            chosen = logits.log_softmax(-1).gather(-1, torch.tensor([row.target_tokens])[..., None])
            advantage = max(row.advantages, key=abs)
            objective = (chosen[..., 0] * mask).sum() * advantage / mask.sum() / SCORED
            (-objective).backward()
        expected = {
            name: parameter.grad
            for name, parameter in learner.model.named_parameters()
            if parameter.grad is not None
        }
        assert_same_gradients(seen, expected)

    def test_has_the_same_bits_with_any_number_of_threads(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # Several slices a micro-batch, more than there are threads.
        monkeypatch.setattr(learner_module, "SLICE_TOKENS", 60)
        one, *more = (new_learner(threads=threads) for threads in (1, 2, 5))
        path = write_step(tmp_path / "datums.arrow", split(draw_rows(one.model, 16), [9, 7]))
        loss, expected = gradients(one, path)
        for learner in more:
            for _ in range(3):
                again, seen = gradients(learner, path)
                assert again == loss
                for name, gradient in expected.items():
                    assert torch.equal(seen[name], gradient), name

    def test_that_cannot_be_computed_in_one_slice_changes_nothing(self, tmp_path: Path) -> None:
        learner = new_learner(threads=2)
        before = {name: value.clone() for name, value in learner.model.state_dict().items()}
        rows = draw_rows(learner.model, 4)
        long = rows[0].but(
            input_tokens=[1] * 600,
            target_tokens=[1] * 600,
            old_logprobs=[-1] * 600,
            advantages=[1] * 600,
            loss_mask=[1] * 600,
        )
        with pytest.raises(ValueError, match="at most 512 positions, got 600"):
            learner.update(write_step(tmp_path / "long", [[*rows, long]]))
        assert learner.step == 0
        for name, value in learner.model.state_dict().items():
            assert torch.equal(value, before[name])
        assert not learner.update(write_step(tmp_path / "good", [rows])).skipped

    def test_does_not_change_with_tokens_that_carry_no_signal(self, tmp_path: Path) -> None:
        """Targets after the last action token are no one's context and masked: any value gives the same bits."""
        learner = new_learner()
        [row] = draw_rows(learner.model, 1, seed=5)
        last = max(i for i, bit in enumerate(row.loss_mask) if bit)
        longer = [
            row.but(
                input_tokens=[*row.input_tokens, tail, 3],
                target_tokens=[*row.target_tokens, 3, tail],
                old_logprobs=[*row.old_logprobs, 0, 0],
                advantages=[*row.advantages, 0, 0],
                loss_mask=[*row.loss_mask, 0, 0],
            )
            for tail in (1, 400)
        ]
        assert last < len(longer[0].loss_mask) - 2
        found = [
            gradients(learner, write_step(tmp_path / f"{i}", [[each]]))[1]
            for i, each in enumerate(longer)
        ]
        for name in found[0]:
            torch.testing.assert_close(found[0][name], found[1][name], rtol=0, atol=1e-9)


class TestAnUpdate:
    def test_moves_the_policy_towards_what_was_good(self, tmp_path: Path) -> None:
        # Small: the rows are random text, whose logprobs are steep.
        learner = new_learner(learning_rate=1e-5)
        rows = draw_rows(learner.model, 8)
        path = write_step(tmp_path / "datums.arrow", split(rows, [3, 5]), scored=8)
        first = learner.update(path)
        assert not first.skipped
        assert first.metrics["ratio_mean"] == pytest.approx(1, abs=1e-5)
        assert first.metrics["logprob_difference_max"] < 1e-4
        assert first.metrics["clip_fraction_high"] == first.metrics["clip_fraction_low"] == 0
        # −Σ A / N on the first update, by the mean over samples.
        means = [max(row.advantages, key=abs) for row in rows]
        assert first.metrics["loss"] == pytest.approx(-sum(means) / 8, rel=1e-4)
        second = learner.update(path)
        assert second.metrics["loss"] < first.metrics["loss"]
        assert learner.step == 2

    def test_is_adam_at_the_scheduled_rate_written_out(self, tmp_path: Path) -> None:
        learner = new_learner(learning_rate=4e-3, warmup_steps=4)
        path = write_step(tmp_path / "datums.arrow", [draw_rows(learner.model, 4)])
        before = {name: value.clone() for name, value in learner.model.state_dict().items()}
        _, gradient = gradients(learner, path)
        learner.update(path)
        after = learner.model.state_dict()
        for name, value in before.items():
            # First step: m̂ = g, v̂ = g².
            expected = value - 1e-3 * gradient[name] / (gradient[name].abs() + 1e-8)
            torch.testing.assert_close(after[name], expected, rtol=0, atol=2e-6)

    def test_clips_the_norm_of_the_whole_gradient(self, tmp_path: Path) -> None:
        free, bound = new_learner(), new_learner(gradient_clip=1e-3)
        path = write_step(tmp_path / "datums.arrow", [draw_rows(free.model, 4)])
        norm = free.update(path).metrics["gradient_norm"]
        assert norm > 1e-3
        assert bound.update(path).metrics["gradient_norm"] == pytest.approx(norm, rel=1e-5)
        total = torch.stack(
            [p.grad.square().sum() for p in bound.model.parameters() if p.grad is not None]
        ).sum()
        assert float(total.sqrt()) == pytest.approx(1e-3, rel=1e-3)

    def test_without_datums_makes_no_step_but_counts(self, tmp_path: Path) -> None:
        learner = new_learner()
        before = {name: value.clone() for name, value in learner.model.state_dict().items()}
        update = learner.update(write_step(tmp_path / "datums.arrow", []))
        assert update.skipped
        assert learner.step == 1
        assert not learner.optimizer.state
        for name, value in learner.model.state_dict().items():
            assert torch.equal(value, before[name])

    def test_that_cannot_be_made_changes_nothing(self, tmp_path: Path) -> None:
        learner = new_learner()
        rows = draw_rows(learner.model, 4)
        path = write_step(tmp_path / "whole", split(rows, [2, 2]))
        before = {name: value.clone() for name, value in learner.model.state_dict().items()}
        cut = tmp_path / "cut"
        cut.write_bytes(path.read_bytes()[:-30])
        alien = write_step(tmp_path / "alien", [rows], vocab_size="151936")
        greedy = write_step(tmp_path / "greedy", [rows], logprob_kind="processed", temperature="0")
        for broken, message in [
            (cut, "whole Arrow file"),
            (alien, "Expected ids below 512"),
            (greedy, "logprobs whose meaning is known"),
        ]:
            with pytest.raises(ValueError, match=message):
                learner.update(broken)
        assert learner.step == 0
        for name, value in learner.model.state_dict().items():
            assert torch.equal(value, before[name])


class TestCheckpoints:
    def test_resuming_goes_on_bit_for_bit(self, tmp_path: Path) -> None:
        config = {"learning_rate": 1e-3, "warmup_steps": 3, "gradient_clip": 1.0}
        straight = new_learner(**config)
        paths = [
            write_step(tmp_path / f"{i}", split(draw_rows(straight.model, 6, seed=i), [2, 4]))
            for i in range(4)
        ]
        for path in paths[:2]:
            straight.update(path)
        straight.save_state(tmp_path / "state", cursor={"problem": 32})
        for path in paths[2:]:
            straight.update(path)
        straight.save_weights(tmp_path / "straight")
        # In a process of its own: nothing can be left over in memory.
        program = (
            "import sys; from pathlib import Path; from interlace_learner.reference import Learner\n"
            "learner, cursor = Learner.resume(Path(sys.argv[1]))\n"
            "assert (learner.step, cursor) == (2, {'problem': 32}), (learner.step, cursor)\n"
            "for path in sys.argv[3:]: learner.update(path)\n"
            "learner.save_weights(Path(sys.argv[2]))\n"
        )
        subprocess.run(
            [
                sys.executable,
                "-c",
                program,
                str(tmp_path / "state"),
                str(tmp_path / "resumed"),
                *map(str, paths[2:]),
            ],
            check=True,
            env={"PYTHONPATH": str(Path(__file__).parents[1] / "src")},
        )
        seen = (tmp_path / "resumed/model.safetensors").read_bytes()
        assert seen == (tmp_path / "straight/model.safetensors").read_bytes()

    def test_a_state_before_the_first_update_is_a_state(self, tmp_path: Path) -> None:
        new_learner().save_state(tmp_path / "state")
        learner, cursor = Learner.resume(tmp_path / "state")
        assert (learner.step, cursor, dict(learner.optimizer.state)) == (0, None, {})

    def test_weights_load_in_transformers_and_are_named_by_content(self, tmp_path: Path) -> None:
        transformers = pytest.importorskip("transformers")
        learner = new_learner(learning_rate=1e-3)
        version = learner.save_weights(tmp_path / "a")
        assert learner.save_weights(tmp_path / "b") == version
        path = write_step(tmp_path / "datums.arrow", [draw_rows(learner.model, 4)])
        learner.update(path)
        changed = learner.save_weights(tmp_path / "a")
        assert changed != version
        digest = hashlib.sha256((tmp_path / "a/model.safetensors").read_bytes()).hexdigest()
        assert changed == f"sha256-{digest[:16]}"
        assert sorted(each.name for each in (tmp_path / "a").iterdir()) == [
            "config.json",
            "model.safetensors",
            "tokenizer.json",
            "tokenizer_config.json",
        ]
        assert json.loads((tmp_path / "a/config.json").read_text())["torch_dtype"] == "float32"
        theirs = transformers.LlamaForCausalLM.from_pretrained(tmp_path / "a").eval()
        ids = torch.arange(40)[None]
        with torch.no_grad():
            torch.testing.assert_close(
                theirs(ids).logits, learner.model.logits(ids), rtol=1e-4, atol=2e-4
            )

    def test_a_failed_save_leaves_the_old_one(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        learner = new_learner()
        learner.save_state(tmp_path / "state", cursor=1)

        def full(*_: object, **__: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("interlace_learner.reference.checkpoint.save_file", full)
        with pytest.raises(CheckpointError, match=r"Could not write .*state: .*No space left"):
            learner.save_state(tmp_path / "state", cursor=2)
        with pytest.raises(CheckpointError, match="Could not write"):
            learner.save_weights(tmp_path / "fresh")
        assert [each.name for each in tmp_path.iterdir()] == ["state"]
        assert Learner.resume(tmp_path / "state")[1] == 1

    def test_what_is_no_checkpoint_is_refused(self, tmp_path: Path) -> None:
        learner = new_learner()
        learner.save_state(tmp_path / "state")
        with pytest.raises(CheckpointError, match=r"state\.json: expected a JSON file"):
            Learner.resume(tmp_path)
        whole = (tmp_path / "state/optimizer.safetensors").read_bytes()
        (tmp_path / "state/optimizer.safetensors").write_bytes(whole[:-1])
        with pytest.raises(CheckpointError, match="expected a whole safetensors file"):
            Learner.resume(tmp_path / "state")
        state = json.loads((tmp_path / "state/state.json").read_text())
        (tmp_path / "state/state.json").write_text(json.dumps({**state, "version": 2}))
        with pytest.raises(CheckpointError, match="expected a state of version 1, got 2"):
            Learner.resume(tmp_path / "state")


class TestConfig:
    def test_the_described_defaults(self) -> None:
        seen = LearnerConfig()
        assert (seen.learning_rate, seen.beta1, seen.beta2, seen.epsilon) == (4e-5, 0.9, 0.95, 1e-8)
        assert (seen.ratio_low, seen.ratio_high, seen.dual_clip) == (0.8, 1.28, None)
        assert seen.reduction == "sample_mean"

    def test_the_rate_warms_up_holds_and_falls_to_its_floor(self) -> None:
        config = LearnerConfig(
            learning_rate=1.2e-3, warmup_steps=3, decay_from=50, decay_to=110, decay_floor=0.1
        )
        rates = [learning_rate_at(config, step) for step in (0, 1, 2, 3, 50, 80, 110, 500)]
        expected = [0.4e-3, 0.8e-3, 1.2e-3, 1.2e-3, 1.2e-3, 0.66e-3, 0.12e-3, 0.12e-3]
        assert rates == pytest.approx(expected)

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ({"learning_rat": 1}, "among .*learning_rate.*, got learning_rat"),
            ({"learning_rate": 0}, "learning_rate to be greater than 0, got 0"),
            ({"beta2": 1}, r"beta2 to be in \[0, 1\)"),
            ({"ratio_low": 1.1}, "ratio_low to be low ≤ 1 ≤ high"),
            ({"dual_clip": 0.5}, "dual_clip to be greater than 1"),
            ({"reduction": "mean"}, "reduction to be a known reduction, got mean"),
            ({"decay_from": 3}, "decay_from and decay_to together"),
            ({"decay_from": 3, "decay_to": 3}, "decay_to to be after decay_from"),
        ],
    )
    def test_bad_values_are_refused_by_name(self, values: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            LearnerConfig.from_json(values)

    def test_the_temperature_follows_what_the_logprobs_mean(self, tmp_path: Path) -> None:
        with open_datums(write_step(tmp_path / "a", [], temperature="0.5")) as step:
            facts: RunFacts = step.facts
        scaled = dataclasses.replace(facts, logprob_kind="temperature_scaled")
        unknown = dataclasses.replace(facts, logprob_kind="unknown")
        assert logit_temperature(facts) == 1.0
        assert logit_temperature(scaled) == 0.5
        assert logit_temperature(dataclasses.replace(unknown, temperature=1.0)) == 1.0
        with pytest.raises(ValueError, match=r"got unknown at temperature 0\.5"):
            logit_temperature(unknown)
