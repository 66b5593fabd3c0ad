"""
`.claude-handover/` in the project: status, document, state and trigger, all written atomically.

The agent may write in the project, so nothing here is trusted: links are never followed, files
are read up to a limit, and what must not change (the mission) is kept elsewhere.
"""

import contextlib
import errno
import os
import secrets
import shlex
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from perpetualcc.domain.errors import NoRoomError, PerpetualError, ProjectGoneError
from perpetualcc.domain.private_files import flush_to_disk
from perpetualcc.domain.tools import ToolCall
from perpetualcc.sessions.handover.document import LARGEST

NAME = ".claude-handover"
DOCUMENT = "handover.md"
STATUS = "status.txt"
STATE = "state.json"
TRIGGER = "trigger.flag"
LAST_GOOD = "handover.last-good.md"
"""The document as it was when it was last whole, in this iteration."""
ARCHIVE = "archive"
CLAUDES = frozenset({DOCUMENT, TRIGGER})
"""What Claude writes."""
_PASSING = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})
_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | _FLAGS


class HandoverFolder:
    """The files of one project's handovers. Calls are quick: small files on the local disk."""

    def __init__(self, project: Path) -> None:
        self.path = project / NAME

    @property
    def document(self) -> Path:
        return self.path / DOCUMENT

    @property
    def trigger(self) -> Path:
        return self.path / TRIGGER

    @property
    def status(self) -> Path:
        return self.path / STATUS

    def prepare(self) -> None:
        """
        Make the folder, invisible to git.

        Raises:
            PerpetualError: it is a link, a file, or cannot be written in.
        """
        try:
            with contextlib.suppress(FileExistsError):
                self.path.mkdir(mode=0o755)
            with self._open() as folder:
                _write(folder, ".gitignore", "*\n")
        except OSError as error:
            raise self._unusable(error) from error

    def write(self, name: str, text: str) -> None:
        """Raises: PerpetualError."""
        try:
            with self._open() as folder:
                _write(folder, name, text)
        except OSError as error:
            raise self._unusable(error) from error

    def read(self, name: str) -> str | None:
        """None when there is no such file, or it is none that we would read."""
        try:
            with self._open() as folder:
                return _read(folder, name)
        except (OSError, UnicodeDecodeError):
            return None

    def remove(self, name: str) -> None:
        with contextlib.suppress(OSError), self._open() as folder:
            os.unlink(name, dir_fd=folder)

    def take_trigger(self) -> bool:
        """Whether the trigger is there; it is gone afterwards, so it is seen once."""
        try:
            with self._open() as folder:
                _take(folder, TRIGGER)
        except OSError:
            return False
        return True

    def archive(self, iteration: str, files: Mapping[str, str]) -> None:
        """
        Keep the files of an iteration as `archive/<iteration>/`. The same again changes nothing.

        Raises: PerpetualError.
        """
        try:
            with (
                self._open() as folder,
                _below(folder, ARCHIVE) as archive,
                _below(archive, iteration) as place,
            ):
                _write(folder, ".gitignore", "*\n")  # a person may have made the folder
                for name, text in files.items():
                    _write(place, name, text)
        except OSError as error:
            raise self._unusable(error) from error

    def set_aside(self, owner: str) -> None:
        """Move the archive of another session to `archive-<owner>`, so that both are kept."""
        with contextlib.suppress(OSError), self._open() as folder:
            os.rename(ARCHIVE, f"{ARCHIVE}-{owner}", src_dir_fd=folder, dst_dir_fd=folder)

    @contextlib.contextmanager
    def _open(self) -> Iterator[int]:
        with _opened(str(self.path), None) as folder:
            yield folder

    def _unusable(self, error: OSError) -> PerpetualError:
        if not os.path.isdir(self.path.parent):  # noqa: PTH112  # False, whatever is wrong
            return ProjectGoneError(self.path.parent)
        what = "is a link" if self.path.is_symlink() else error.strerror or str(error)
        # A file that was to be replaced is named: what stands in its place is in the way.
        place = shlex.quote(str(self.path / os.fsdecode(error.filename2 or "")))
        hint = f"Make it a directory that you can write in, or remove it: ls -ld {place}"
        kind = NoRoomError if error.errno in _PASSING else PerpetualError
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            hint = f"Make room there: df -h {place}"
        elif error.filename2:
            hint = f"Remove what is in the way of a file: ls -ld {place}"
        elif not os.path.lexists(self.path):
            project = shlex.quote(str(self.path.parent))
            hint = f"Let it be made there: ls -ld {project}; df -h {project}"
        return kind(f"The handover folder '{self.path}' cannot be used: {what}", hint=hint)


def is_handover_file(call: ToolCall) -> bool:
    """Whether the call reads the handover's files, or writes those that are Claude's to write."""
    path = call.input.get("file_path")
    if not isinstance(path, str) or call.tool not in {"Read", "Write", "Edit"}:
        return False
    names = {*CLAUDES, STATUS, STATE} if call.tool == "Read" else CLAUDES
    folder, asked = call.project / NAME, (call.cwd or call.project) / path
    if asked.name not in names or asked.parent.name != NAME:
        return False
    try:
        is_here = asked.parent == folder or asked.parent.resolve() == folder.resolve()
        is_real = not folder.is_symlink() and not asked.is_symlink()
    except (OSError, ValueError, RuntimeError):
        return False
    return is_here and is_real


@contextlib.contextmanager
def _opened(name: str, parent: int | None) -> Iterator[int]:
    folder = os.open(name, _FOLDER, dir_fd=parent)
    try:
        yield folder
    finally:
        os.close(folder)


@contextlib.contextmanager
def _below(parent: int, name: str) -> Iterator[int]:
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, 0o755, dir_fd=parent)
    with _opened(name, parent) as folder:
        yield folder


def _take(folder: int, name: str) -> None:
    """Remove a file, or the empty directory that somebody made instead of it."""
    try:
        os.unlink(name, dir_fd=folder)
    except (IsADirectoryError, PermissionError):  # Linux says the one, macOS the other
        os.rmdir(name, dir_fd=folder)


def _write(folder: int, name: str, text: str) -> None:
    """All or nothing, also when the machine dies: a draft, flushed, in place of the old one."""
    draft = f".{name}.{secrets.token_hex(4)}"
    try:
        file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o644, dir_fd=folder)
        with os.fdopen(file, "wb") as out:
            out.write(text.encode("utf-8", "replace"))
            out.flush()
            if name != STATUS:  # it is written again in 30 s
                flush_to_disk(out.fileno())
        os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(draft, dir_fd=folder)
        raise


def _read(folder: int, name: str) -> str | None:
    file = os.open(name, os.O_RDONLY | os.O_NONBLOCK | _FLAGS, dir_fd=folder)
    with os.fdopen(file, "rb") as source:
        if not stat.S_ISREG(os.fstat(source.fileno()).st_mode):
            return None
        data = source.read(LARGEST + 1)
    return data.decode("utf-8") if len(data) <= LARGEST else None
