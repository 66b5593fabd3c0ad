"""
What a walk outside git saw, so that the next one need not look at every folder again.

A folder in which a file appeared, went or got another name has a new change time; a file edited
in place has a new time of its own. So where no folder changed, asking each known file for its
metadata is enough: 200,000 files without reading a folder or an ignore rule. Whoever finds
anything else looks at everything again.
"""

import json
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from perpetualcc.knowledge.values import FileStamp, KnownFile

MOST_STRAYS = 1_000
"""Files seen and not indexed; with more of them it is simpler to look at everything."""


@dataclass(slots=True, kw_only=True)
class SeenFolders:
    """The folders of a walk, and the files that decide what belongs to it."""

    began_ns: int
    folders: dict[str, int] = field(default_factory=dict)
    """Relative path and change time, nanoseconds; those that were left out at a look, too."""
    strays: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Rule files, and files that are not in the index: change time and size, by full path."""

    def to_note(self) -> str:
        """As the index keeps it; empty where it would not help."""
        if len(self.strays) > MOST_STRAYS:
            return ""
        content = {"began": self.began_ns, "folders": self.folders, "strays": self.strays}
        return json.dumps(content)

    def remember_folder(self, project: Path, folder: str) -> None:
        """Keep its time from before it is read."""
        self.folders[folder] = _changed(project / folder)

    def remember_strays(self, paths: Iterable[Path | str]) -> None:
        """Keep what tells whether these change."""
        for path in paths:
            self.strays[str(path)] = _stamp(path)


def read_note(note: str) -> SeenFolders | None:
    """What `to_note` wrote, or None."""
    if not note:
        return None
    content = json.loads(note)
    strays = {path: (change, size) for path, (change, size) in content["strays"].items()}
    return SeenFolders(began_ns=content["began"], folders=content["folders"], strays=strays)


def edited_files(
    project: Path, seen: SeenFolders, known: Mapping[str, KnownFile]
) -> list[str] | None:
    """
    The known files that were edited in place since; None where more than that may have happened.
    """
    if _has_git(project) or any(_stamp(path) != old for path, old in seen.strays.items()):
        return None
    for folder, changed in seen.folders.items():
        if _changed(project / folder) != changed or not _is_settled(changed, seen.began_ns):
            return None
    edited = []
    root = f"{project}/"
    for path, file in known.items():
        try:
            metadata = os.lstat(root + path)
        except OSError:
            return None
        if not stat.S_ISREG(metadata.st_mode):
            return None
        stamp = file.stamp
        same = stamp.mtime_ns == metadata.st_mtime_ns and stamp.size == metadata.st_size
        if not same or not file.is_settled:
            edited.append(path)
    return edited


def _has_git(project: Path) -> bool:
    """Whether git might answer: then it is asked."""
    return any(os.path.lexists(folder / ".git") for folder in (project, *project.parents))


def _changed(path: Path) -> int:
    try:
        return os.lstat(path).st_ctime_ns
    except OSError:
        return -1


def _stamp(path: Path | str) -> tuple[int, int]:
    try:
        metadata = os.lstat(path)
    except OSError:
        return -1, -1
    return metadata.st_ctime_ns, metadata.st_size


def _is_settled(changed_ns: int, seen_ns: int) -> bool:
    """Whether an equal time proves that nothing happened since; see `KnownFile.is_settled`."""
    stamp = FileStamp(mtime_ns=changed_ns, size=0)
    return KnownFile(stamp=stamp, read_ns=seen_ns, language="").is_settled
