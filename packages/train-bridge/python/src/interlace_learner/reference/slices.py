"""A step's gradient, slice by slice: what fits a core's cache at once, and several cores at a time.

In: pieces of work that each give a loss. Out: its gradient added to the parameters', in the order of the pieces: so the
bits do not depend on the number of threads. Refuses to know what a loss is made of.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import torch
from torch import Tensor, nn

SLICE_TOKENS = 1_024
"""Padded tokens of one slice. On the policy in the box (width 128) 512 and 2,048 are slower by a tenth."""
MOST_THREADS = 8

Job = TypeVar("Job")
Note = TypeVar("Note")


def usable_cores() -> int:
    """Cores that this process may run on, at most `MOST_THREADS`."""
    known = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(known or 1, MOST_THREADS)


class GradientThreads:
    """Threads that each compute whole slices, with kernels of one thread: nobody waits for another at every kernel."""

    def __init__(self, threads: int) -> None:
        self._window = 2 * threads
        # OpenMP's count belongs to the thread that sets it.
        self._pool = ThreadPoolExecutor(
            threads, "gradient", initializer=torch.set_num_threads, initargs=(1,)
        )

    def add(
        self,
        parameters: Iterable[nn.Parameter],
        jobs: Iterable[Job],
        compute: Callable[[Job], tuple[Tensor, Note]],
    ) -> list[Note]:
        """Add ∇loss of every job to the parameters' `grad`; the notes come in the order of the jobs."""
        wanted = list(parameters)

        def work(job: Job) -> tuple[tuple[Tensor, ...], Note]:
            loss, note = compute(job)
            return torch.autograd.grad(loss, wanted), note

        notes = []
        for gradients, note in self._in_order(work, jobs):
            for parameter, gradient in zip(wanted, gradients, strict=True):
                if parameter.grad is None:
                    parameter.grad = gradient
                else:
                    parameter.grad += gradient
            notes.append(note)
        return notes

    def _in_order(
        self, work: Callable[[Job], tuple[tuple[Tensor, ...], Note]], jobs: Iterable[Job]
    ) -> Iterator[tuple[tuple[Tensor, ...], Note]]:
        """A result is as large as the parameters: few are held at once."""
        under_way: deque[Future[tuple[tuple[Tensor, ...], Note]]] = deque()
        try:
            for job in jobs:
                under_way.append(self._pool.submit(work, job))
                if len(under_way) > self._window:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            for left in under_way:
                left.cancel()


def add_gradients(jobs: Iterable[Job], compute: Callable[[Job], tuple[Tensor, Note]]) -> list[Note]:
    """The same without threads of its own, for models so large that a second gradient would not fit."""
    notes = []
    for job in jobs:
        loss, note = compute(job)
        loss.backward()
        notes.append(note)
    return notes
