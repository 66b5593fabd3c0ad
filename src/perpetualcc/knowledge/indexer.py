"""
The files of a project, taken apart: all of them, or those that changed.

Reading and parsing use up to two processes, because a parse of 300,000 lines is seconds of work
that must not stand in an event loop's way.
"""

import multiprocessing
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.knowledge.parse.layout import ProjectLayout, read_layout
from perpetualcc.knowledge.scan.filters import skipped_by_path
from perpetualcc.knowledge.scan.listing import list_files
from perpetualcc.knowledge.values import CodeFile, FileStamp, KnownFile

BATCH = 40
"""Files that travel to a worker together."""
FEW = 60
"""Up to this many files are parsed here: starting workers costs more."""
WORKERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What a project holds now, before anything is opened."""

    files: dict[str, FileStamp]
    layout: ProjectLayout

    def changed_since(self, known: Mapping[str, KnownFile]) -> list[str]:
        """Files that are new, differ in time or size, or may have changed unseen."""
        return [path for path, stamp in self.files.items() if _may_differ(known.get(path), stamp)]

    def gone_since(self, known: Mapping[str, KnownFile]) -> list[str]:
        return [path for path in known if path not in self.files]


def _may_differ(known: KnownFile | None, stamp: FileStamp) -> bool:
    return (
        known is None
        or (known.stamp.mtime_ns, known.stamp.size) != (stamp.mtime_ns, stamp.size)
        or not known.is_settled
    )


class CodebaseIndexer:
    """Scans one project (seed 000, Phase 7)."""

    def __init__(self, project_path: Path, *, workers: int | None = None) -> None:
        """
        Args:
            project_path: an existing folder.
            workers: processes to parse with; by default two, or one on a machine with one core.

        Raises:
            PerpetualError: there is no such folder.
        """
        self.project = project_path.resolve()
        if not self.project.is_dir():
            raise PerpetualError(
                f"{str(project_path)!r} is not a folder", hint="Give the folder of the project"
            )
        self._workers = workers or min(WORKERS, os.cpu_count() or 1)

    def scan(self) -> list[CodeFile]:
        """Every file worth indexing, parsed, in the order of paths."""
        listing = self.look()
        files = self.read(sorted(listing.files), listing.layout)
        return sorted((file for file in files if file.chunks), key=lambda file: file.path)

    def look(self) -> Listing:
        """The files that pass the sieve by name and size."""
        files = {
            path: FileStamp(mtime_ns=metadata.st_mtime_ns, size=metadata.st_size)
            for path, metadata in sorted(list_files(self.project), key=itemgetter(0))
            if skipped_by_path(path, metadata.st_size) is None and _is_encodable(path)
        }
        return Listing(files=files, layout=read_layout(self.project, files))

    def read(self, paths: Sequence[str], layout: ProjectLayout) -> Iterator[CodeFile]:
        """
        Parse files in any order. Those that cannot be read are left out.

        A file that ends its worker (a parser's crash, the kernel's memory killer) is left out, too.
        """
        if len(paths) <= FEW or self._workers == 1:
            yield from _parse_batch(self.project, tuple(paths), layout)
            return
        batches = [tuple(paths[at : at + BATCH]) for at in range(0, len(paths), BATCH)]
        lost: list[tuple[str, ...]] = []
        came_back = 0
        for files in self._in_processes(batches, layout, lost):
            came_back += 1
            yield from files
        if not came_back:
            # No worker ever started: the program that asks cannot be started twice.
            yield from _parse_batch(self.project, tuple(paths), layout)
            return
        for batch in lost:
            yield from self._parse_alone(batch, layout)

    def _parse_alone(self, batch: tuple[str, ...], layout: ProjectLayout) -> Iterator[CodeFile]:
        """Halve a batch that ended its worker until the one file that did it is left out."""
        lost: list[tuple[str, ...]] = []
        for files in self._in_processes([batch], layout, lost):
            yield from files
        if lost and len(batch) > 1:
            middle = len(batch) // 2
            yield from self._parse_alone(batch[:middle], layout)
            yield from self._parse_alone(batch[middle:], layout)

    def _in_processes(
        self,
        batches: Iterable[tuple[str, ...]],
        layout: ProjectLayout,
        lost: list[tuple[str, ...]],
    ) -> Iterator[list[CodeFile]]:
        """Parse in workers with few batches under way, so that memory stays flat."""
        pending: dict[Future[list[CodeFile]], tuple[str, ...]] = {}
        waiting = iter(batches)
        with _pool(self._workers) as pool:
            while True:
                while len(pending) < self._workers * 2 and (batch := next(waiting, None)):
                    try:
                        pending[pool.submit(_parse_batch, self.project, batch, layout)] = batch
                    except BrokenProcessPool:
                        lost.append(batch)
                if not pending:
                    return
                future = next(iter(pending))
                batch = pending.pop(future)
                try:
                    yield future.result()
                except BrokenProcessPool:
                    lost.append(batch)


def _pool(workers: int) -> ProcessPoolExecutor:
    """Fresh interpreters: a fork would copy the locks and threads of whoever asks."""
    return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))


def _parse_batch(project: Path, paths: tuple[str, ...], layout: ProjectLayout) -> list[CodeFile]:
    from perpetualcc.knowledge.parse.file import parse_file  # noqa: PLC0415  # grammars, when used

    parsed = (parse_file(project, path, layout) for path in paths)
    return [file for file in parsed if file is not None]


def _is_encodable(path: str) -> bool:
    """Names that are not UTF-8 cannot be shown or stored."""
    return path.isprintable()  # surrogates, which stand for other bytes, are not
