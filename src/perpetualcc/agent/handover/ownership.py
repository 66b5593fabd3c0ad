"""One folder, one session: several may work in a project, and each hands over its own work."""

from perpetualcc.agent.handover.status_board import owner_of
from perpetualcc.agent.ports import Journal
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.ids import SessionId
from perpetualcc.domain.session_status import ENDED
from perpetualcc.domain.sessions import Session
from perpetualcc.sessions.handover.folder import STATE, HandoverFolder


async def holder_of(folder: HandoverFolder, journal: Journal, me: str = "") -> Session | None:
    """The other session that hands over in the folder, unless it has ended."""
    owner = owner_of(folder.read(STATE))
    if owner in {"", me}:
        return None
    try:
        found = await journal.session(SessionId(owner))
    except PerpetualError:  # of another installation, or of nobody
        return None
    # A project that was copied brings the folder along.
    is_here = found.project == folder.path.parent
    return found if is_here and found.status not in ENDED else None


def in_use(folder: HandoverFolder, holder: Session) -> PerpetualError:
    return PerpetualError(
        f"Session {holder.name!r} ({holder.id}) hands over in '{folder.path}'",
        hint=f'Give it this task too: pcc add {holder.id} "…"; or end it: pcc stop {holder.id}',
    )
