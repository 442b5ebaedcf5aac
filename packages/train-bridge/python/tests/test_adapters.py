"""Other trainers' layouts, as literals; and their own types and losses on them, where they are installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from policy_rows import draw_rows, split
from support import POLICY, ROW, as_file, make_table
from torch import Tensor

from interlace_learner import MicroBatch, open_datums
from interlace_learner.adapters import to_prime_rl, to_tinker, to_trl, to_verl
from interlace_learner.losses import clip_objective
from interlace_learner.reference import Learner, LearnerConfig, Llama

# Two datums of three scored samples.      mask 1 0 1 and 1 1 1
OTHER = ROW.but(
    input_tokens=[5, 6, 7],
    target_tokens=[6, 7, 8],
    old_logprobs=[-1, -1, -1],
    advantages=[-0.5, -0.5, -0.5],
    loss_mask=[1, 1, 1],
)
# Its prompt has three tokens.             full 1 2 3 4 5; 4 and 5 were sampled
LATE = ROW.but(
    input_tokens=[1, 2, 3, 4],
    target_tokens=[2, 3, 4, 5],
    old_logprobs=[0, 0, -3, -4],
    advantages=[0, 0, 2, 2],
    loss_mask=[0, 0, 1, 1],
)


def batch() -> MicroBatch:
    with open_datums(as_file(*make_table([[ROW, OTHER]], scored=3))) as step:
        [only] = step.micro_batches()
    return only


def late_batch() -> MicroBatch:
    with open_datums(as_file(*make_table([[ROW, LATE]], scored=8))) as step:
        [only] = step.micro_batches()
    return only


class Step:
    """Two micro-batches of the shipped policy, with old logprobs of another: some tokens are clipped."""

    def __init__(self, folder: Path, reduction: Any = "sample_mean") -> None:
        config = LearnerConfig(reduction=reduction, learning_rate=1e-4, epsilon=1e-3)
        self.learner = Learner(POLICY, config)
        assert isinstance(self.learner.model, Llama)
        self.path = folder / "datums.arrow"
        rows = draw_rows(self.learner.model, 8, drift=0.6)
        self.path.write_bytes(as_file(*make_table(split(rows, [3, 5]), scored=10)))
        with open_datums(self.path) as step:
            self.batches = list(step.micro_batches())
            self.loss, _ = self.learner.accumulate(self.batches, step.facts)
        self.loss_tokens = sum(each.loss_tokens for each in self.batches)

    def gradients(self) -> dict[str, Tensor]:
        named = self.learner.model.named_parameters()
        return {name: p.grad.clone() for name, p in named if p.grad is not None}

    def model(self) -> Any:
        """The same policy, by transformers."""
        transformers = pytest.importorskip("transformers")
        return transformers.AutoModelForCausalLM.from_pretrained(POLICY, dtype=torch.float32)


def logprobs_of(model: Any, ids: Tensor) -> Tensor:
    """log p of ids[1:], [tokens − 1]"""
    logits = model(input_ids=ids[None]).logits[0, :-1]
    return logits.log_softmax(-1).gather(-1, ids[1:, None])[:, 0]


def assert_same_gradients(model: Any, expected: dict[str, Tensor]) -> None:
    seen = {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
    assert set(seen) == set(expected)
    for name, gradient in expected.items():
        scale = float(gradient.abs().max())
        torch.testing.assert_close(seen[name], gradient, rtol=0, atol=scale * 2e-4)


def test_tinker_gets_each_datum_with_advantages_that_sum_to_our_mean() -> None:
    first, second = to_tinker(batch())
    assert first["tokens"] == [10, 20, 30]
    inputs = first["loss_fn_inputs"]
    assert inputs["target_tokens"] == {"data": [20, 30, 40], "dtype": "int64", "shape": [3]}
    assert inputs["logprobs"]["data"] == [-0.5, 0, -2]
    # 1.5 / (2 tokens · 3 samples), and 0 where nothing was sampled.
    assert inputs["advantages"]["data"] == pytest.approx([0.25, 0, 0.25])
    assert second["loss_fn_inputs"]["advantages"]["data"] == pytest.approx([-0.5 / 9] * 3)


def test_tinker_takes_them_for_its_own() -> None:
    tinker = pytest.importorskip("tinker")
    for plain in to_tinker(batch()):
        datum = tinker.Datum(
            model_input=tinker.ModelInput.from_ints(plain["tokens"]),
            loss_fn_inputs={k: tinker.TensorData(**v) for k, v in plain["loss_fn_inputs"].items()},
        )
        assert datum.model_input.to_ints() == plain["tokens"]
        for name, expected in plain["loss_fn_inputs"].items():
            seen = datum.loss_fn_inputs[name].to_numpy()
            assert str(seen.dtype) == expected["dtype"]
            assert seen.tolist() == pytest.approx(expected["data"], rel=1e-6)


def test_trl_gets_prompts_on_the_left_and_responses_on_the_right() -> None:
    seen = {name: array.tolist() for name, array in to_trl(late_batch(), pad_id=9).items()}
    assert seen["prompt_ids"] == [[9, 9, 10], [1, 2, 3]]
    assert seen["prompt_mask"] == [[0, 0, 1], [1, 1, 1]]
    assert seen["completion_ids"] == [[20, 30, 40], [4, 5, 9]]
    # Observed tokens are part of the completion; the tool mask takes them out.
    assert seen["completion_mask"] == [[1, 1, 1], [1, 1, 0]]
    assert seen["tool_mask"] == [[1, 0, 1], [1, 1, 0]]
    assert seen["old_per_token_logps"] == [[-0.5, 0, -2], [-3, -4, 0]]
    # sample_weight 2 / 8
    assert seen["advantages"] == [[1.5 / 4, 0, 1.5 / 4], [0.5, 0.5, 0]]
    assert seen["num_items_in_batch"] == 4


def test_trl_divides_by_steps_or_by_tokens_and_advantages_know_it() -> None:
    spread = to_trl(late_batch(), accumulation_steps=4)
    assert spread["advantages"].tolist() == [[1.5, 0, 1.5], [2, 2, 0]]
    tokens = to_trl(late_batch(), step_loss_tokens=70)
    assert tokens["advantages"].tolist() == [[1.5, 0, 1.5], [2, 2, 0]]
    assert tokens["num_items_in_batch"] == 70


@pytest.fixture
def trl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    trl = pytest.importorskip("trl")
    monkeypatch.chdir(tmp_path)
    return trl


def trl_trainer(trl: Any, step: Step, **config: Any) -> Any:
    datasets = pytest.importorskip("datasets")
    steps = len(step.batches)
    inputs = iter(step.batches)
    of_tokens = {"step_loss_tokens": step.loss_tokens} if config["loss_type"] == "dapo" else {}

    class FromDatums(trl.GRPOTrainer):  # type: ignore[misc]
        def _prepare_inputs(self, generation_batch: Any) -> dict[str, Tensor]:
            arrays = to_trl(next(inputs), accumulation_steps=steps, **of_tokens)
            return {name: torch.from_numpy(array) for name, array in arrays.items()}

    options = trl.GRPOConfig(
        epsilon=0.2,
        epsilon_high=0.28,
        beta=0.0,
        temperature=1.0,
        num_generations=2,
        per_device_train_batch_size=2,
        gradient_accumulation_steps=steps,
        max_steps=1,
        learning_rate=1e-4,
        adam_beta2=0.95,
        adam_epsilon=1e-3,
        max_grad_norm=0,
        lr_scheduler_type="constant",
        bf16=False,
        use_cpu=True,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
        **config,
    )
    return FromDatums(
        model=step.model(),
        processing_class=pytest.importorskip("transformers").AutoTokenizer.from_pretrained(POLICY),
        reward_funcs=lambda completions, **_: [0.0 for _ in completions],
        args=options,
        train_dataset=datasets.Dataset.from_dict({"prompt": ["1 + 1?"] * 8}),
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("reduction", "loss_type"), [("sample_mean", "grpo"), ("token_mean", "dapo")]
)
def test_the_loss_of_trl_is_ours(trl: Any, reduction: str, loss_type: str, tmp_path: Path) -> None:
    step = Step(tmp_path, reduction)
    trainer = trl_trainer(trl, step, loss_type=loss_type)
    trainer.model.train()
    trainer.current_gradient_accumulation_steps = len(step.batches)
    total = 0.0
    for _ in step.batches:
        loss = trainer.compute_loss(trainer.model, trainer._prepare_inputs(None))
        loss.backward()
        total += float(loss)
    assert total == pytest.approx(step.loss, rel=1e-4)
    assert_same_gradients(trainer.model, step.gradients())


@pytest.mark.filterwarnings("ignore")
def test_a_step_of_trl_makes_our_weights(trl: Any, tmp_path: Path) -> None:
    step = Step(tmp_path)
    trainer = trl_trainer(trl, step, loss_type="grpo")
    before = {name: value.clone() for name, value in trainer.model.state_dict().items()}
    trainer.train()
    step.learner.update(step.path)
    seen = trainer.model.state_dict()
    for name, value in step.learner.model.state_dict().items():
        assert not torch.equal(value, before[name])
        torch.testing.assert_close(seen[name], value, rtol=0, atol=2e-7)


def test_verl_gets_a_whole_step_with_positions_that_skip_the_padding() -> None:
    seen = {name: array.tolist() for name, array in to_verl([late_batch()], pad_id=9).items()}
    assert seen["prompts"] == [[9, 9, 10], [1, 2, 3]]
    assert seen["responses"] == [[20, 30, 40], [4, 5, 9]]
    assert seen["input_ids"] == [[9, 9, 10, 20, 30, 40], [1, 2, 3, 4, 5, 9]]
    assert seen["attention_mask"] == [[0, 0, 1, 1, 1, 1], [1, 1, 1, 1, 1, 0]]
    assert seen["position_ids"] == [[0, 0, 0, 1, 2, 3], [0, 1, 2, 3, 4, 4]]
    assert seen["response_mask"] == [[1, 0, 1], [1, 1, 0]]
    assert seen["old_log_probs"] == seen["rollout_log_probs"] == [[-0.5, 0, -2], [-3, -4, 0]]
    # 2 datums of 8 samples.
    assert seen["advantages"] == [[1.5 / 4, 0, 1.5 / 4], [0.5, 0.5, 0]]
    both = to_verl([late_batch(), late_batch()], scale=1)
    assert both["advantages"].tolist() == [[1.5, 0, 1.5], [2, 2, 0]] * 2
    assert float(to_verl([late_batch(), late_batch()])["advantages"][0][0]) == 1.5 / 2
    with pytest.raises(ValueError, match="Expected a step with datums, got none"):
        to_verl([])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("reduction", "mode", "scale"),
    [("sample_mean", "seq-mean-token-mean", None), ("token_mean", "token-mean", 1.0)],
)
def test_the_loss_of_verl_is_ours(
    reduction: str, mode: str, scale: float | None, tmp_path: Path
) -> None:
    verl = pytest.importorskip("verl")
    algorithms = pytest.importorskip("verl.trainer.ppo.core_algos")
    padding = pytest.importorskip("verl.workers.utils.padding")
    config_of = pytest.importorskip("verl.workers.config").ActorConfig
    step = Step(tmp_path, reduction)
    arrays = to_verl(step.batches, scale=scale)
    data = verl.DataProto.from_dict({name: torch.from_numpy(a) for name, a in arrays.items()})
    assert len(data) == 8
    unpadded = padding.left_right_2_no_padding(data.to_tensordict())
    model = step.model()
    nested = torch.nested.as_nested_tensor(
        # The last position predicts nothing; verl rolls by one.
        [
            torch.cat([logprobs_of(model, ids), torch.zeros(1)])
            for ids in unpadded["input_ids"].unbind()
        ],
        layout=torch.jagged,
    )
    config = config_of(
        strategy="fsdp",
        rollout_n=1,
        ppo_mini_batch_size=8,
        ppo_micro_batch_size_per_gpu=8,
        clip_ratio_low=0.2,
        clip_ratio_high=0.28,
        clip_ratio_c=1e9,
        loss_agg_mode=mode,
    )
    loss, _ = algorithms.compute_policy_loss_vanilla(
        old_log_prob=data.batch["old_log_probs"],
        log_prob=padding.no_padding_2_padding(nested, unpadded),
        advantages=data.batch["advantages"],
        response_mask=data.batch["response_mask"],
        loss_agg_mode=mode,
        config=config,
    )
    loss.backward()
    assert float(loss) == pytest.approx(step.loss, rel=1e-4)
    assert_same_gradients(model, step.gradients())


def test_prime_rl_gets_a_token_and_what_is_said_of_it_at_one_position() -> None:
    first, second = to_prime_rl(late_batch(), step_loss_tokens=40, temperature=0.5, env_name="x")
    assert first["token_ids"] == [10, 20, 30, 40]
    assert first["mask"] == [False, True, False, True]
    assert first["logprobs"] == [0, -0.5, 0, -2]
    assert first["advantages"] == [0, 1.5, 0, 1.5]
    assert first["temperatures"] == [0.5] * 4
    assert first["env_name"] == "x"
    # T / (N · |mask|) = 40 / (8 · 2)
    assert first["rl_weights"] == [0, 2.5, 0, 2.5]
    assert second["token_ids"] == [1, 2, 3, 4, 5]
    assert second["rl_weights"] == [0, 0, 0, 2.5, 2.5]


def test_the_objective_of_prime_rl_with_our_clip_is_ours(tmp_path: Path) -> None:
    """Its reduction written out: Σ weight · cost over the step's tokens, divided by their number."""
    step = Step(tmp_path)
    model = step.model()
    samples = [each for b in step.batches for each in to_prime_rl(b, step.loss_tokens)]
    total, tokens = torch.zeros(()), 0
    for sample in samples:
        logprobs = logprobs_of(model, torch.tensor(sample["token_ids"]))
        mask, old, advantages, weights = (
            torch.tensor(sample[name][1:], dtype=torch.float32)
            for name in ("mask", "logprobs", "advantages", "rl_weights")
        )
        total = total + (clip_objective(logprobs, old, advantages, mask) * weights).sum()
        tokens += int(np.count_nonzero(sample["rl_weights"]))
    loss = total / tokens
    loss.backward()
    assert tokens == step.loss_tokens
    assert float(loss) == pytest.approx(step.loss, rel=1e-4)
    assert_same_gradients(model, step.gradients())


def test_prime_rl_takes_them_for_its_own() -> None:
    types = pytest.importorskip("prime_rl.transports.rollouts.types")
    packing = pytest.importorskip("prime_rl.trainer.batch")
    samples = [types.TrainingSample(**each) for each in to_prime_rl(late_batch(), 4)]
    [[packed]] = packing.prepare_batch(samples, 32, 1, packing.build_bin_cost(None))
    assert sorted(packed.sequence_lengths) == [4, 5]
    assert sum(packed.loss_mask) == late_batch().loss_tokens
    learnt = zip(packed.input_ids, packed.loss_mask, packed.inference_logprobs, strict=True)
    assert sorted((token, logp) for token, bit, logp in learnt if bit) == [
        (4, -3),
        (5, -4),
        (20, -0.5),
        (40, -2),
    ]


def clip_loss(inputs: Any, low: float = 0.8, high: float = 1.28) -> Any:
    """What the adapter's docstring shows."""
    outputs = pytest.importorskip("prime_rl.trainer.rl.loss").LossOutputs
    each = clip_objective(
        inputs.trainer_logprobs,
        inputs.inference_logprobs,
        inputs.advantages,
        inputs.loss_mask,
        low,
        high,
    )
    return outputs(loss=(each * inputs.loss_weights).sum(), metrics={})


def test_the_loss_of_prime_rl_is_ours(tmp_path: Path) -> None:
    types = pytest.importorskip("prime_rl.transports.rollouts.types")
    packing = pytest.importorskip("prime_rl.trainer.batch")
    losses = pytest.importorskip("prime_rl.trainer.rl.loss")
    step = Step(tmp_path)
    model = step.model()
    samples = [
        types.TrainingSample(**each)
        for batch in step.batches
        for each in to_prime_rl(batch, step.loss_tokens)
    ]
    [packed] = packing.prepare_batch(samples, 200, 1, packing.build_bin_cost(None))
    assert len(packed) > 1
    total = 0.0
    for each in packed:
        lengths = each.sequence_lengths

        def parts(values: Any, dtype: Any, lengths: list[int] = lengths) -> list[Tensor]:
            return list(torch.tensor(values, dtype=dtype).split(lengths))

        loss, _ = losses.compute_loss(
            trainer_logprobs=[
                torch.cat([torch.zeros(1), logprobs_of(model, ids)])
                for ids in parts(each.input_ids, torch.int64)
            ],
            inference_logprobs=parts(each.inference_logprobs, torch.float32),
            ref_logprobs=None,
            advantages=parts(each.advantages, torch.float32),
            loss_mask=parts(each.loss_mask, torch.bool),
            rl_weights=parts(each.rl_weights, torch.float32),
            ce_weights=None,
            ref_kl_weights=None,
            rl_loss_fn=clip_loss,
            rl_scale=step.loss_tokens,
            ce_scale=1,
            ref_kl_scale=1,
        )
        loss.backward()
        total += float(loss)
    assert total == pytest.approx(step.loss, rel=1e-4)
    assert_same_gradients(model, step.gradients())
