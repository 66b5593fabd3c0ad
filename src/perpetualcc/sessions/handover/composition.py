"""The final document of an iteration: Claude's, mended and completed from what is known."""

from collections.abc import Sequence
from dataclasses import replace

from perpetualcc.sessions.handover.document import HandoverDocument
from perpetualcc.sessions.handover.evidence import Evidence
from perpetualcc.sessions.handover.repository import RepositoryState

_WORDS = 1500
"""Characters of Claude's last words that stand in for a summary it did not write."""


def compose(
    written: HandoverDocument | None,
    previous: HandoverDocument | None,
    evidence: Evidence,
    repository: RepositoryState,
) -> HandoverDocument:
    """
    `written`: by Claude in this iteration; None when it wrote none, or a damaged one.
    `previous`: what this iteration began with. Its open steps are carried when none were written.
    """
    document = written or _carried(previous or HandoverDocument())
    if not document.summary:
        document = replace(document, summary=_summary(evidence, repository))
    if not document.files:
        files = tuple(f"{name} - changed" for name in evidence.files[:50])
        document = replace(document, files=files)
    if evidence.answers and (written is None or not document.decisions):
        answers = [f"- {one}" for one in evidence.answers]
        document = replace(document, decisions="\n".join([document.decisions, *answers]).strip())
    return document


def _carried(previous: HandoverDocument) -> HandoverDocument:
    """The previous document as the beginning of this one: what it did is not done again."""
    return replace(previous, summary="", files=(), completed=(), code="")


def _summary(evidence: Evidence, repository: RepositoryState) -> str:
    """What can be said of an iteration that said nothing itself."""
    parts = ["(Made from the record: the session ended before it wrote a summary.)"]
    if evidence.said:
        parts.append(f"Its last words: {' … '.join(evidence.said[-3:])[-_WORDS:]}")
    if evidence.files:
        parts.append(f"It wrote: {', '.join(evidence.files[:30])}")
    if evidence.commands:
        told = [
            f"{one.command} ({'ok' if one.succeeded else 'failed'})"
            for one in evidence.commands[-8:]
        ]
        parts.append(f"It ran: {'; '.join(told)}")
    if evidence.refused:
        parts.append(f"It was refused: {'; '.join(evidence.refused[-5:])}")
    if repository.changed:
        parts.append(f"Not committed: {', '.join(repository.changed[:30])}")
    if repository.commits:
        parts.append(f"Newest commits: {'; '.join(repository.commits)}")
    return "\n".join(parts)


def completed_so_far(before: Sequence[str], document: HandoverDocument) -> tuple[str, ...]:
    """Every completed step once, oldest first; the last 200."""
    return tuple(dict.fromkeys([*before, *document.completed]))[-200:]
