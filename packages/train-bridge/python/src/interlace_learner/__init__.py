"""Interlace's learner: reads datums without copying, pads them, and tells how far the policy has moved.

Everything here needs NumPy and pyarrow only. `interlace_learner.losses` and the reference learner
(`interlace_learner.reference`) need PyTorch: `pip install interlace-learner[torch]`.
"""

from .advantages import dr_grpo, group_centred, grpo_std, reinforce_plus_plus, rloo
from .diagnostics import describe_ratios, merge_descriptions
from .padding import PaddedBatch, pad, slices
from .reader import Datums, MicroBatch, open_datums, read_micro_batch
from .schema import RunFacts, SchemaError
from .spool import SpooledStep, watch
from .transport import Connection, EngineLost, StreamedStep, TransportError, connect

__all__ = [
    "Connection",
    "Datums",
    "EngineLost",
    "MicroBatch",
    "PaddedBatch",
    "RunFacts",
    "SchemaError",
    "SpooledStep",
    "StreamedStep",
    "TransportError",
    "connect",
    "describe_ratios",
    "dr_grpo",
    "group_centred",
    "grpo_std",
    "merge_descriptions",
    "open_datums",
    "pad",
    "read_micro_batch",
    "reinforce_plus_plus",
    "rloo",
    "slices",
    "watch",
]
