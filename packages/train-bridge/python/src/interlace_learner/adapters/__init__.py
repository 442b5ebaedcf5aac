"""Micro-batches in the layouts of other trainers: pure functions, which need nothing of those projects."""

from .prime_rl import to_prime_rl
from .tinker import to_tinker
from .trl import to_trl
from .verl import to_verl

__all__ = ["to_prime_rl", "to_tinker", "to_trl", "to_verl"]
