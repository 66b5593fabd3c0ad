"""
What the shell offers for SESSION: the newest sessions, as they are on disk.

Nothing is started for it. Whatever goes wrong shows as no suggestion, because a shell has no place
for an error here.
"""

from collections.abc import Iterator
from typing import Any

from perpetualcc.cli.statuses import SHOWN
from perpetualcc.domain.session_status import SessionStatus

_MOST = 100
"""Sessions that are looked at, newest first."""


def sessions(ctx: Any, incomplete: str) -> list[tuple[str, str]]:
    """Ids with a name and status; once something is typed, names too."""
    from perpetualcc import config  # noqa: PLC0415  # only when a key is pressed
    from perpetualcc.store.recorded import newest_sessions  # noqa: PLC0415

    database = config.locate(ctx.find_root().params.get("data_dir")).database
    found = newest_sessions(database, _MOST)
    return [pair for session in found for pair in _offered(*session, incomplete)]


def _offered(identity: str, name: str, status: str, incomplete: str) -> Iterator[tuple[str, str]]:
    _, word, _ = SHOWN[SessionStatus(status)]
    yield identity, f"{name}, {word.lower()}"
    if incomplete and " " not in name:
        yield name, f"{identity}, {word.lower()}"
