"""Micro-batches in the layouts of other trainers: pure functions, which need nothing of those projects."""

from .tinker import to_tinker

__all__ = ["to_tinker"]
