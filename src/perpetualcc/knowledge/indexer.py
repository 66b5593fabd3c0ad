"""
The files of a project, taken apart: all of them, or those that changed.

Reading and parsing use up to two processes, because a parse of 300,000 lines is seconds of work
that must not stand in an event loop's way.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.knowledge.parse.layout import ProjectLayout, read_layout
from perpetualcc.knowledge.scan.filters import HUGE, skipped_by_path
from perpetualcc.knowledge.scan.listing import list_files
from perpetualcc.knowledge.scan.remembered import SeenFolders, edited_files
from perpetualcc.knowledge.values import CodeFile, FileStamp, KnownFile

FEW = 60
"""Up to this many files are parsed here: starting workers costs more."""
WORKERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What a project holds now, before anything is opened."""

    files: dict[str, FileStamp]
    layout: ProjectLayout
    seen: SeenFolders | None = None
    """The folders walked; None where git answered."""

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

    def __init__(
        self,
        project_path: Path,
        *,
        is_secret: Callable[[str], bool] = lambda _: False,
        workers: int | None = None,
    ) -> None:
        """
        Args:
            project_path: an existing folder.
            is_secret: by its path in the project, whether a file is never to be read.
            workers: processes to parse with; by default two, or one on a machine with one core.

        Raises:
            PerpetualError: there is no such folder.
        """
        self.project = project_path.resolve()
        if not self.project.is_dir():
            raise PerpetualError(
                f"{str(project_path)!r} is not a folder", hint="Give the folder of the project"
            )
        self._is_secret = is_secret
        self._workers = workers or min(WORKERS, os.cpu_count() or 1)

    def scan(self) -> list[CodeFile]:
        """Every file worth indexing, parsed, in the order of paths."""
        listing = self.look()
        files = self.read(sorted(listing.files), listing.layout)
        return sorted((file for file in files if file.chunks), key=lambda file: file.path)

    def look(self) -> Listing:
        """The files that pass the sieve by name and size."""
        seen = SeenFolders(began_ns=time.time_ns())
        files = {}
        for path, metadata in sorted(list_files(self.project, seen), key=itemgetter(0)):
            reason = skipped_by_path(path, metadata.st_size)
            if reason is None and _is_encodable(path) and not self._is_secret(path):
                files[path] = FileStamp(mtime_ns=metadata.st_mtime_ns, size=metadata.st_size)
            elif reason == HUGE:
                seen.remember_strays([self.project / path])
        layout = read_layout(self.project, files)
        return Listing(files=files, layout=layout, seen=seen if seen.folders else None)

    def edited(self, seen: SeenFolders, known: Mapping[str, KnownFile]) -> list[str] | None:
        """The files edited in place since `seen`; None where everything has to be looked at."""
        return edited_files(self.project, seen, known)

    def layout_of(self, paths: Iterable[str]) -> ProjectLayout:
        """How the modules among these files are named."""
        return read_layout(self.project, paths)

    def read(self, paths: Sequence[str], layout: ProjectLayout) -> Iterator[CodeFile]:
        """
        Parse files in any order. Those that cannot be read are left out.

        A file that ends its worker (a parser's crash, the kernel's memory killer) is left out, too.
        """
        from perpetualcc.knowledge import workers  # noqa: PLC0415  # a search seldom parses

        if len(paths) <= FEW or self._workers == 1:
            return iter(workers.parse_batch(self.project, tuple(paths), layout))
        return workers.parse_in_processes(self.project, paths, layout, processes=self._workers)


def _is_encodable(path: str) -> bool:
    """Names that are not UTF-8 cannot be shown or stored."""
    return path.isprintable()  # surrogates, which stand for other bytes, are not
