"""How long what is remembered is kept."""

from collections.abc import Iterator, Mapping

from perpetualcc.domain.episodes import Provenance

RETENTION_DAYS: Mapping[Provenance, int] = {
    Provenance.USER: 3_650,
    Provenance.REPOSITORY: 365,
    Provenance.TOOL: 180,
    Provenance.WEB: 30,
}
"""What is trusted less is forgotten sooner. A record that was useful counts from that day."""


def overdue(now: float) -> Iterator[tuple[Provenance, float]]:
    """For each origin the time (UTC epoch) that what was neither made nor useful since is past."""
    for provenance, days in RETENTION_DAYS.items():
        yield provenance, now - days * 86_400
