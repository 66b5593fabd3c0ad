"""What became of what sessions made in their worktrees, as the log has it."""

from collections.abc import Collection

from perpetualcc.domain.folders import WORKTREES
from perpetualcc.domain.ids import SessionId
from perpetualcc.store.database import Database
from perpetualcc.store.text import to_json

# The newest that counts, of every session there: it stands near the end of each one's log. Only
# in a worktree: elsewhere thousands may have worked, and a `CASE` is looked at in its order.
_TAKEN = """
SELECT s.id FROM sessions s JOIN projects p ON p.id = s.project
WHERE s.id IN (SELECT value FROM json_each(:ids))
AND CASE WHEN instr(p.path, :worktrees) THEN (SELECT kind FROM events WHERE seq = (
    SELECT max((
        SELECT seq FROM events
        WHERE session = t.id AND +kind IN ('MergeDone', 'PushDone', 'RunStarted', 'RunEnded')
        ORDER BY seq DESC LIMIT 1
    )) FROM sessions t WHERE t.project = s.project
)) END IN ('MergeDone', 'PushDone')
"""


class Results:
    """Reads the log, and keeps nothing."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def taken(self, sessions: Collection[SessionId]) -> frozenset[SessionId]:
        """Those whose worktree was merged or pushed, and where nothing has run since."""
        given = {"ids": to_json(list(sessions)), "worktrees": WORKTREES}
        rows = await self._database.rows(_TAKEN, given)
        return frozenset(SessionId(row["id"]) for row in rows)
