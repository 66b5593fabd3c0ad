"""The methods about what sessions make in worktrees: taken over, or thrown away."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import DiscardDone, Event, MergeBegan, MergeDone, Record
from perpetualcc.gateway.methods import Connection, Method, Params, checked_params
from perpetualcc.sessions.manager import SessionManager

_MERGE = {"branch": str, "into": str, "before": str, "after": str, "files": int}
_FACTS: Mapping[type[Event], Mapping[str, type]] = {
    MergeBegan: _MERGE,
    MergeDone: _MERGE,
    DiscardDone: {"branch": str, "kept": str},
}
"""What a client tells that does it itself: a terminal, where git may take its time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultApi:
    """A part of the engine's methods."""

    manager: SessionManager
    record: Record

    def methods(self) -> Mapping[str, Method]:
        return {
            "result.tell": Method(
                call=self.tell,
                params={"session": str, "kind": str, "facts": dict},
                is_decision=True,
            ),
        }

    async def tell(self, params: Params, connection: Connection) -> Any:
        """
        Write into the log what a person does with a session's worktree: the event `MergeBegan`,
        `MergeDone` or `DiscardDone`, with its `facts`. Who they are is known.
        """
        kinds = {one.__name__: one for one in _FACTS}
        kind = kinds.get(params["kind"])
        if kind is None:
            raise PerpetualError(f"That is told by nobody; known: {', '.join(kinds)}")
        session = await self.manager.get_session(params["session"])
        facts = checked_params(_FACTS[kind], params["facts"])
        await self.record(kind.from_data({**facts, "by": connection.client}, session=session.id))
        return {}
