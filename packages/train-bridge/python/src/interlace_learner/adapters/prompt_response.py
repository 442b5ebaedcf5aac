"""Micro-batches as other trainers lay them out: prompts padded on the left, responses on the right.

A response begins at a datum's first sampled token and goes on to its end: later observations are in it, and the mask
tells them from what was sampled. Nothing is lost: prompt and response of a datum are its tokens, in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..reader import MicroBatch


@dataclass(frozen=True, slots=True)
class PromptsAndResponses:
    """Prompt arrays are [datums, longest prompt], response arrays [datums, longest response]."""

    prompts: NDArray[np.int64]
    prompt_mask: NDArray[np.int64]
    """1 = a token, 0 = padding."""
    responses: NDArray[np.int64]
    response_tokens: NDArray[np.int64]
    """1 = a token, be it sampled or observed; 0 = padding."""
    loss_mask: NDArray[np.int64]
    """1 = sampled."""
    old_logprobs: NDArray[np.float32]
    advantages: NDArray[np.float32]
    """Unscaled."""


def split_prompts(batches: Sequence[MicroBatch], pad_id: int = 0) -> PromptsAndResponses:
    """One row per datum of all batches, in order."""
    rows: list[tuple[NDArray[Any], ...]] = []
    for batch in batches:
        for start, end in zip(batch.offsets, batch.offsets[1:], strict=False):
            own = slice(start, end)
            mask = batch.loss_mask[own]
            # Target t is token t + 1: the first sampled one ends the prompt before it.
            first = int(np.argmax(mask))
            prompt = batch.input_tokens[own][: first + 1]
            of_response = (
                batch.target_tokens[own],
                np.ones(len(mask), np.int64),
                mask,
                batch.old_logprobs[own],
                batch.advantages[own],
            )
            rows.append((prompt, *(each[first:] for each in of_response)))
    prompts, responses, real, mask, old, advantages = zip(*rows, strict=True)
    return PromptsAndResponses(
        prompts=_rectangle(prompts, np.int64, pad_id, left=True),
        prompt_mask=_rectangle([np.ones(len(each)) for each in prompts], np.int64, left=True),
        responses=_rectangle(responses, np.int64, pad_id),
        response_tokens=_rectangle(real, np.int64),
        loss_mask=_rectangle(mask, np.int64),
        old_logprobs=_rectangle(old, np.float32),
        advantages=_rectangle(advantages, np.float32),
    )


def _rectangle(
    rows: Sequence[NDArray[Any]], dtype: Any, filler: int = 0, left: bool = False
) -> NDArray[Any]:
    out = np.full((len(rows), max(map(len, rows))), filler, dtype)
    for padded, row in zip(out, rows, strict=True):
        padded[len(padded) - len(row) if left else 0 :][: len(row)] = row
    return out
