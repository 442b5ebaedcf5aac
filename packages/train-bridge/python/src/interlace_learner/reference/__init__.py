"""A whole learner, for small Llama-shaped policies and what transformers loads.

Reads datums, makes one optimizer step per training step. Small enough to be read in one sitting and exact enough to
check others against; it is no training framework.
"""

from .causal_lm import CausalLM
from .checkpoint import CheckpointError
from .config import LearnerConfig, learning_rate_at
from .learner import Learner, Update
from .llama import Llama, LlamaConfig

__all__ = [
    "CausalLM",
    "CheckpointError",
    "Learner",
    "LearnerConfig",
    "Llama",
    "LlamaConfig",
    "Update",
    "learning_rate_at",
]
