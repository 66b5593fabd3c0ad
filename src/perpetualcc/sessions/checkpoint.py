"""
Checkpoints: what a session was doing, in a file that outlives its conversation.

The Claude conversation is what a session goes on with. A checkpoint tells what changed while it
waited, and begins a fresh conversation where the old one is lost (seed 000, Component 4).
"""

import contextlib
import hashlib
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from perpetualcc.domain.clock import Clock
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.folders import canonical
from perpetualcc.domain.foreign_files import read_regular
from perpetualcc.domain.ids import SessionId
from perpetualcc.domain.private_files import write_whole
from perpetualcc.domain.secrets import redact
from perpetualcc.domain.tasks import Task

log = logging.getLogger(__name__)

_VERSION = 1
_LARGEST_FILE = 32 * 1024 * 1024
"""Bytes; of larger files only size and time are compared: a checkpoint takes 20 ms, not seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileMark:
    """A file as it was."""

    path: str
    """Relative to the project."""
    hash: str
    """SHA-256; empty when there was no such file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyDecision:
    """A question of Claude's, and how it was answered."""

    question: str
    answer: str
    rationale: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """What is worth keeping of a session, gathered by whoever knows it."""

    session_id: SessionId
    project_path: str
    current_task: str
    reason: str
    """Why now: a limit, a pause, a stop."""
    completed_subtasks: Sequence[str] = ()
    pending_subtasks: Sequence[str] = ()
    modified_files: Sequence[str] = ()
    """Paths relative to the project."""
    conversation_summary: str = ""
    key_decisions: Sequence[KeyDecision] = ()
    next_action: str = ""
    claude_session: str = ""
    transcript_bytes: int = 0
    """How long Claude Code's transcript is; one that got shorter is damaged."""
    task_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCheckpoint:
    """One file. The first ten fields are the seed's."""

    session_id: str
    timestamp: float
    """UTC epoch seconds."""
    project_path: str
    current_task: str
    completed_subtasks: tuple[str, ...] = ()
    pending_subtasks: tuple[str, ...] = ()
    modified_files: tuple[FileMark, ...] = ()
    conversation_summary: str = ""
    key_decisions: tuple[KeyDecision, ...] = ()
    next_action: str = ""
    reason: str = ""
    claude_session: str = ""
    transcript_bytes: int = 0
    task_id: str = ""
    """Empty in files of older versions."""
    version: int = field(default=_VERSION)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Raises: KeyError, TypeError, ValueError for what is no checkpoint."""
        if int(data["version"]) > _VERSION:
            raise ValueError("a newer version wrote it")
        return cls(
            session_id=str(data["session_id"]),
            project_path=str(data["project_path"]),
            current_task=str(data["current_task"]),
            conversation_summary=str(data["conversation_summary"]),
            next_action=str(data["next_action"]),
            reason=str(data["reason"]),
            timestamp=float(data["timestamp"]),
            completed_subtasks=tuple(map(str, data["completed_subtasks"])),
            pending_subtasks=tuple(map(str, data["pending_subtasks"])),
            modified_files=tuple(FileMark(**mark) for mark in data["modified_files"]),
            key_decisions=tuple(KeyDecision(**one) for one in data["key_decisions"]),
            claude_session=str(data["claude_session"]),
            transcript_bytes=int(data["transcript_bytes"]),
            task_id=str(data.get("task_id", "")),
        )

    def is_about(self, task: Task) -> bool:
        """Whether it was made while this task was worked on."""
        if self.task_id:
            return self.task_id == task.id
        return self.current_task == redact(task.prompt)

    def is_of(self, project: Path) -> bool:
        """Whether it was made in this directory, whatever links lead to it."""
        return canonical(Path(self.project_path)) == canonical(project)


class Change(StrEnum):
    """What happened to a file since a checkpoint."""

    CHANGED = "changed"
    GONE = "gone"
    CAME_BACK = "is there again"


class CheckpointManager:
    """Checkpoints below `<data>/checkpoints`, one directory a session, one file a checkpoint."""

    def __init__(self, data_dir: Path, clock: Clock, *, retention: timedelta) -> None:
        self._directory = data_dir / "checkpoints"
        self._clock = clock
        self._retention = retention

    def save(self, session: SessionState) -> SessionCheckpoint:
        """
        Write a checkpoint atomically, 0600, without secrets, and drop what is too old.

        Raises:
            PerpetualError: the directory cannot be written.
        """
        project = Path(session.project_path)
        checkpoint = SessionCheckpoint(
            session_id=session.session_id,
            timestamp=self._clock.now(),
            project_path=session.project_path,
            current_task=redact(session.current_task),
            completed_subtasks=tuple(map(redact, session.completed_subtasks)),
            pending_subtasks=tuple(map(redact, session.pending_subtasks)),
            modified_files=tuple(
                FileMark(path=path, hash=file_hash(project / path))
                for path in session.modified_files
            ),
            conversation_summary=redact(session.conversation_summary),
            key_decisions=tuple(
                KeyDecision(
                    question=redact(one.question),
                    answer=redact(one.answer),
                    rationale=redact(one.rationale),
                )
                for one in session.key_decisions
            ),
            next_action=redact(session.next_action),
            reason=session.reason,
            claude_session=session.claude_session,
            transcript_bytes=session.transcript_bytes,
            task_id=session.task_id,
        )
        try:
            self._write(checkpoint)
            self._drop_old(self._folder(session.session_id))
        except OSError as error:
            raise PerpetualError(
                f"The checkpoint cannot be written: {error.strerror}",
                hint=f"Check the permissions and the space of '{self._directory}'",
            ) from error
        return checkpoint

    def forget_old(self) -> None:
        """Drop what is too old, also of sessions that save no more."""
        with contextlib.suppress(OSError):
            for folder in self._directory.iterdir():
                self._drop_old(folder)

    def list_checkpoints(self, session_id: SessionId) -> list[SessionCheckpoint]:
        """The session's checkpoints, oldest first. Damaged ones are left out."""
        return list(self._read(session_id))

    def latest(self, session_id: SessionId, project: Path) -> SessionCheckpoint | None:
        """The newest one that can be read and is of this project."""
        for found in self._read(session_id, newest_first=True):
            if found.is_of(project):
                return found
            log.warning("a checkpoint of '%s' is left out: it is not of here", found.project_path)
        return None

    def restore(self, checkpoint: SessionCheckpoint, project: Path) -> str:
        """
        The prompt that begins a fresh conversation from a checkpoint.

        Raises:
            PerpetualError: it is a checkpoint of another project.
        """
        if not checkpoint.is_of(project):
            raise PerpetualError(
                f"The checkpoint is of '{checkpoint.project_path}', not of '{project}'",
                hint=f"See this session's own with: pcc status {checkpoint.session_id}",
            )
        return restoration_prompt(checkpoint, changes_since(checkpoint, project))

    def _folder(self, session_id: str) -> Path:
        if not session_id.isalnum():
            raise PerpetualError(f"{session_id!r} is no session id", hint="See them with: pcc list")
        return self._directory / session_id

    def _read(self, session_id: str, *, newest_first: bool = False) -> Iterator[SessionCheckpoint]:
        folder = self._folder(session_id)
        for path in sorted(folder.glob("*.json"), reverse=newest_first):
            try:
                found = SessionCheckpoint.from_json(json.loads(read_regular(path, _LARGEST_FILE)))
            except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
                log.warning("the checkpoint '%s' is damaged; it is left out", path)
                continue
            if found.session_id == session_id:
                yield found

    def _write(self, checkpoint: SessionCheckpoint) -> None:
        folder = self._folder(checkpoint.session_id)
        at = datetime.fromtimestamp(checkpoint.timestamp, UTC)
        text = json.dumps(asdict(checkpoint), ensure_ascii=False, indent=1)
        write_whole(folder / f"{at:%Y%m%dT%H%M%S.%f}Z.json", text, durable=True)

    def _drop_old(self, folder: Path) -> None:
        """What is older than the retention, but never a session's newest."""
        before = self._clock.now() - self._retention.total_seconds()
        for path in sorted(folder.glob("*.json"))[:-1]:
            with contextlib.suppress(ValueError):
                at = datetime.strptime(path.stem, "%Y%m%dT%H%M%S.%fZ").replace(tzinfo=UTC)
                if at.timestamp() < before:
                    path.unlink(missing_ok=True)


def file_hash(path: Path) -> str:
    """SHA-256 of a file, or of its size and time when it is huge; empty when there is none."""
    try:
        stat = path.stat()
        if stat.st_size > _LARGEST_FILE:
            return hashlib.sha256(f"{stat.st_size} {stat.st_mtime_ns}".encode()).hexdigest()
        return hashlib.sha256(read_regular(path)).hexdigest()
    except OSError:
        return ""


def changes_since(checkpoint: SessionCheckpoint, project: Path) -> dict[str, Change]:
    """Which of the files that changed while the session worked are not as it left them."""
    found = {}
    for mark in checkpoint.modified_files:
        now = file_hash(project / mark.path)
        if now != mark.hash:
            found[mark.path] = (
                Change.GONE if not now else Change.CHANGED if mark.hash else Change.CAME_BACK
            )
    return found


def told_changes(changes: Mapping[str, Change]) -> str:
    """What Claude is told of them; empty when there are none."""
    if not changes:
        return ""
    lines = "\n".join(f"- {path}: {change}" for path, change in sorted(changes.items()))
    return (
        "These files are no longer as you left them. Read them again before you rely on them:\n"
        + lines
    )


def restoration_prompt(checkpoint: SessionCheckpoint, changes: Mapping[str, Change]) -> str:
    """In the order of the seed: task, done, left, decisions, progress, what to go on with."""
    decisions = [
        f"{one.question} → {one.answer}" + (f" (because {one.rationale})" if one.rationale else "")
        for one in checkpoint.key_decisions
    ]
    sections = (
        ("Project", [checkpoint.project_path]),
        ("Original task", [checkpoint.current_task]),
        ("Completed", checkpoint.completed_subtasks),
        ("Remaining", checkpoint.pending_subtasks),
        (
            "Files that changed while you worked",
            [mark.path for mark in checkpoint.modified_files if mark.hash],
        ),
        ("Key decisions", decisions),
        ("Progress", [checkpoint.conversation_summary]),
    )
    told = [
        f"## {title}\n" + "\n".join(f"- {line}" if len(lines) > 1 else line for line in lines)
        for title, lines in sections
        if any(lines)
    ]
    parts = (_LOST, *told, told_changes(changes), f"Continue from: {checkpoint.next_action}")
    return "\n\n".join(filter(None, parts))


_LOST = (
    "CONTEXT RESTORATION: you worked on this before, and the conversation is lost. This is what "
    "is known. Check what exists before you do anything a second time."
)
