"""What is on record of snapshots: made once, before the work they are for begins."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from perpetualcc.domain.ids import SessionId, TaskId
from perpetualcc.sessions.snapshots.repository import REFS

UNDO = "undo-"
"""How those are called that are made before something is put back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The files of a project at a moment; or that, and why, there are none of it on record."""

    session: SessionId
    name: str
    """The task's id, or `undo-1`, `undo-2`, … of the session."""
    task: TaskId | None
    at: float
    top: str
    """The working tree it is of; empty: it is of none."""
    prefix: str = ""
    """The project in it, such as `api/`."""
    commit: str = ""
    """Holds the files. Empty: there is none."""
    head: str = ""
    """The commit that was checked out; empty: there was none yet."""
    branch: str = ""
    """The branch that was checked out; empty: none was."""
    left_out: tuple[str, ...] = ()
    """`NAME: why`, the first of them."""
    trouble: str = ""
    """Why there is none."""
    is_kept: bool = False
    """The ref leads to it."""

    @property
    def ref(self) -> str:
        return f"{REFS}{self.session}/{self.name}"


class Snapshots(Protocol):
    """Where they are on record."""

    async def get(self, session: SessionId, name: str) -> Snapshot | None: ...

    async def put(self, snapshot: Snapshot) -> None:
        """On the disk before it returns. One of that name is replaced."""
        ...

    async def of_session(self, session: SessionId) -> Sequence[Snapshot]:
        """Those that hold files or say why not, oldest first."""
        ...

    async def old(self, before: float) -> Sequence[Snapshot]:
        """Whose task was done with before that moment, or is gone."""
        ...

    async def drop(self, snapshot: Snapshot) -> None: ...
