"""Muon (Keller Jordan, 2024): momentum, made orthogonal by five Newton-Schulz steps; for matrices inside layers."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn


class Muon:
    def __init__(self, weights: Iterable[nn.Parameter], momentum: float = 0.95, decay: float = 0.01):
        self.weights = list(weights)
        self.buffers = [torch.zeros_like(w) for w in self.weights]
        self.momentum, self.decay = momentum, decay

    @torch.no_grad()
    def step(self, rate: float) -> None:
        for weight, buffer in zip(self.weights, self.buffers, strict=True):
            buffer.mul_(self.momentum).add_(weight.grad)
            update = orthogonal(weight.grad + self.momentum * buffer)
            aspect = max(1.0, weight.shape[0] / weight.shape[1]) ** 0.5
            weight.mul_(1 - rate * self.decay).add_(update, alpha=-rate * aspect)


def orthogonal(matrix: Tensor) -> Tensor:
    """Nearly the nearest matrix whose singular values are all 1 (quintic Newton-Schulz)."""
    tall = matrix.shape[0] > matrix.shape[1]
    x = matrix.T if tall else matrix
    x = x / (x.norm() + 1e-7)
    for _ in range(5):
        gram = x @ x.T
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
    return x.T if tall else x
