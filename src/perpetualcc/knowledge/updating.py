"""
Bringing the index up to date: only what changed is read, and any moment is a good one to die.

Each batch of files is one transaction, so what is in the index is always whole; whoever comes
next goes on from there.
"""

import json
import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from perpetualcc.knowledge.indexer import FEW, CodebaseIndexer, Listing
from perpetualcc.knowledge.parse.layout import ProjectLayout
from perpetualcc.knowledge.ports import ChunkSearch, FileIndex, IndexDamaged
from perpetualcc.knowledge.scan.remembered import read_note
from perpetualcc.knowledge.values import CodeFile, KnownFile

log = logging.getLogger(__name__)

SETTLE_AFTER = 500
"""Changed files after which the word index is put in order."""
_CHUNKS_AT_ONCE = 2_000
"""Of one transaction: some 300 ms, which is as long as another writer waits."""
_WITHOUT_MEANING_FOR_OTHERS = frozenset(
    """
    python javascript typescript tsx go rust java c cpp csharp ruby php bash markdown sql
    """.split()  # noqa: SIM905  # words read better as words
)
"""Languages of files whose content says nothing of what is ignored, or where imports lead."""
_SIEVE = "1"
"""Which files are indexed at all; another number has each project walked anew, once."""
_NAMED_BY_SETTINGS = frozenset({"javascript", "typescript", "tsx", "go"})

Progress = Callable[[int, int], None]
"""Called with files done and files to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateReport:
    """What an update found and did."""

    changed: int = 0
    """Files read because they are new or different."""
    gone: int = 0
    seconds: float = 0.0
    is_complete: bool = True
    """False when another process is indexing, and the work was left to it."""


def no_progress(done: int, total: int) -> None:
    """For those who do not watch."""


class IndexUpdater:
    """Keeps the index of one project as the project is."""

    def __init__(self, indexer: CodebaseIndexer, files: FileIndex, chunks: ChunkSearch) -> None:
        self._indexer = indexer
        self._files = files
        self._chunks = chunks
        self._layout: ProjectLayout | None = None

    def update(
        self, *, wait: bool = False, afresh: bool = False, progress: Progress = no_progress
    ) -> UpdateReport:
        """
        Read what changed since the last time. A damaged index is built again.

        Args:
            wait: for another process that is indexing; otherwise the work is left to it.
            afresh: throw the index away first.
            progress: told after each file.
        """
        began = time.monotonic()
        with self._files.writing(wait=wait) as is_ours:
            if not is_ours:
                return UpdateReport(is_complete=False)
            try:
                if afresh:
                    self._files.reset()
                changed, gone = self._update(progress)
            except IndexDamaged as damage:
                log.warning("%s; building it again", damage.message)
                self._files.reset()
                changed, gone = self._update(progress)
        return UpdateReport(changed=changed, gone=gone, seconds=time.monotonic() - began)

    def update_paths(self, paths: Collection[str]) -> UpdateReport:
        """
        Read these files again and nothing else, where that is enough; otherwise `update`.

        It is enough for code and documents that are known: a new file may be ignored, and settings
        may change what the others import.

        Args:
            paths: relative to the project, with forward slashes.
        """
        began = time.monotonic()
        with self._files.writing(wait=False) as is_ours:
            if not is_ours:
                return UpdateReport(is_complete=False)
            known = self._files.known_of(paths)
            layout = self._layout
            if layout is not None and all(_stands_alone(known.get(path)) for path in paths):
                files = list(self._indexer.read(sorted(paths), layout))
                if len(files) == len(paths):
                    changed = self._take_in(files, known)
                    return UpdateReport(changed=changed, seconds=time.monotonic() - began)
        return self.update()

    def is_first_time(self, what: str) -> bool:
        """True once for this index."""
        is_first = not self._files.noted(what)
        self._note(what, "yes")
        return is_first

    def _update(self, progress: Progress) -> tuple[int, int]:
        known = self._files.known_files()
        quickly = self._update_edited(known)
        if quickly is not None:
            return quickly, 0
        listing = self._indexer.look()
        self._layout = listing.layout
        self._follow_layout(listing, known)
        gone = listing.gone_since(known)
        paths = listing.changed_since(known)
        progress(0, len(paths))
        if gone:
            self._files.apply([], gone=gone)
        changed = 0
        unread = set(paths)
        for batch in _batches(self._watched(paths, listing.layout, progress)):
            unread.difference_update(file.path for file in batch)
            changed += self._take_in(batch, known)
        self._note("layout", _layout_note(listing.layout))
        self._note("sieve", _SIEVE)
        self._remember(listing, unread)
        if changed + len(gone) >= SETTLE_AFTER or (changed and not self._files.noted("settled")):
            self._chunks.settle()
            self._note("settled", "yes")
        return changed, len(gone)

    def _update_edited(self, known: dict[str, KnownFile]) -> int | None:
        """Read what was edited in place; None where more may have happened."""
        if self._files.noted("sieve") != _SIEVE:
            return None
        seen = read_note(self._files.noted("folders"))
        edited = None if seen is None else self._indexer.edited(seen, known)
        if edited is None or not all(_stands_alone(known[path]) for path in edited):
            return None
        if not edited:
            return 0
        if len(edited) > FEW:
            return None
        if self._layout is None:
            self._layout = self._indexer.layout_of(sorted(known))
        files = list(self._indexer.read(edited, self._layout))
        if len(files) != len(edited):
            return None
        return self._take_in(files, known)

    def _take_in(self, files: list[CodeFile], known: Mapping[str, KnownFile]) -> int:
        """Index what is new of them, note of the others that they were seen. How many are new."""
        new = [file for file in files if _is_new(known.get(file.path), file)]
        same = [file for file in files if not _is_new(known.get(file.path), file)]
        self._files.apply(new, touched=same)
        return len(new)

    def _remember(self, listing: Listing, unread: Collection[str]) -> None:
        """Note the folders that were walked, and what is in them but not in the index."""
        if listing.seen is None:
            self._note("folders", "")
            return
        listing.seen.remember_strays(self._indexer.project / path for path in unread)
        self._note("folders", listing.seen.to_note())

    def _note(self, key: str, value: str) -> None:
        if self._files.noted(key) != value:
            self._files.note({key: value})

    def _watched(
        self, paths: list[str], layout: ProjectLayout, progress: Progress
    ) -> Iterator[CodeFile]:
        for done, file in enumerate(self._indexer.read(paths, layout), start=1):
            yield file
            progress(done, len(paths))

    def _follow_layout(self, listing: Listing, known: dict[str, KnownFile]) -> None:
        """Forget files whose imports mean something else since packages or settings changed."""
        noted = self._files.noted("layout")
        if not noted or noted == _layout_note(listing.layout):
            return
        before = json.loads(noted)
        moved = listing.layout.python_packages.symmetric_difference(before["packages"])
        settings_changed = before["settings"] != listing.layout.settings_fingerprint
        stale = [
            path
            for path, file in known.items()
            if (settings_changed and file.language in _NAMED_BY_SETTINGS)
            or (file.language == "python" and any(_is_below(path, folder) for folder in moved))
        ]
        for path in stale:
            del known[path]


def _stands_alone(known: KnownFile | None) -> bool:
    return known is not None and known.language in _WITHOUT_MEANING_FOR_OTHERS


def _is_below(path: str, folder: str) -> bool:
    return not folder or path.startswith(folder + "/")


def _is_new(known: KnownFile | None, file: CodeFile) -> bool:
    return known is None or known.stamp.digest != file.stamp.digest


def _layout_note(layout: ProjectLayout) -> str:
    packages = sorted(layout.python_packages)
    return json.dumps({"packages": packages, "settings": layout.settings_fingerprint})


def _batches(files: Iterable[CodeFile]) -> Iterator[list[CodeFile]]:
    batch: list[CodeFile] = []
    size = 0
    for file in files:
        batch.append(file)
        size += len(file.chunks) + 1
        if size >= _CHUNKS_AT_ONCE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
