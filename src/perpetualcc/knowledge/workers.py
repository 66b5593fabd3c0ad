"""
Parsing in other processes: a parse of 300,000 lines is seconds of work for two cores.

Workers are fresh interpreters, because a fork would copy the locks and threads of whoever asks.
"""

import multiprocessing
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from perpetualcc.knowledge.parse.file import parse_file
from perpetualcc.knowledge.parse.layout import ProjectLayout
from perpetualcc.knowledge.values import CodeFile

BATCH = 40
"""Files that travel to a worker together."""

Batch = tuple[str, ...]


def parse_batch(project: Path, paths: Batch, layout: ProjectLayout) -> list[CodeFile]:
    """Parse files in this process; those that cannot be read are left out."""
    parsed = (parse_file(project, path, layout) for path in paths)
    return [file for file in parsed if file is not None]


def parse_in_processes(
    project: Path, paths: Sequence[str], layout: ProjectLayout, *, processes: int
) -> Iterator[CodeFile]:
    """
    Parse files in so many processes, in any order.

    A file that ends its worker is left out. Where no worker ever starts (a program that cannot be
    started twice, a machine without semaphores) this process does the work.
    """
    pool = _Workers(project, layout, processes)
    batches = [tuple(paths[at : at + BATCH]) for at in range(0, len(paths), BATCH)]
    lost: list[Batch] = []
    came_back = False
    for files in pool.parse(batches, lost):
        came_back = True
        yield from files
    if not came_back:
        yield from parse_batch(project, tuple(paths), layout)
        return
    for batch in lost:
        yield from pool.parse_alone(batch)


def _end_with_parent() -> None:
    """
    End this worker when whoever started it is killed.

    Each worker holds both ends of the queue it reads, so none sees it close and all would stay.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_outlive, args=(parent,), name="parent", daemon=True).start()


def _outlive(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)


class _Workers:
    """One project's parsing; each call has workers of its own."""

    def __init__(self, project: Path, layout: ProjectLayout, processes: int) -> None:
        self._project = project
        self._layout = layout
        self._processes = processes

    def parse(self, batches: Iterable[Batch], lost: list[Batch]) -> Iterator[list[CodeFile]]:
        """With few batches under way, so that memory stays flat; broken ones go to `lost`."""
        pending: dict[Future[list[CodeFile]], Batch] = {}
        waiting = iter(batches)
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(
            self._processes, mp_context=context, initializer=_end_with_parent
        ) as pool:
            while True:
                while len(pending) < self._processes * 2 and (batch := next(waiting, None)):
                    try:
                        future = pool.submit(parse_batch, self._project, batch, self._layout)
                    except BrokenProcessPool:
                        lost.append(batch)
                    else:
                        pending[future] = batch
                if not pending:
                    return
                future = next(iter(pending))
                batch = pending.pop(future)
                try:
                    yield future.result()
                except BrokenProcessPool:
                    lost.append(batch)

    def parse_alone(self, batch: Batch) -> Iterator[CodeFile]:
        """Halve a batch that ended its worker, until the one file that did it is left out."""
        lost: list[Batch] = []
        for files in self.parse([batch], lost):
            yield from files
        if lost and len(batch) > 1:
            middle = len(batch) // 2
            yield from self.parse_alone(batch[:middle])
            yield from self.parse_alone(batch[middle:])
