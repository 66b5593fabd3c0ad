"""
The packet of a task that stopped (seed 002): what a person needs to decide, without searching.

The agent says what went wrong; here it is put together with what the task was, how far it got,
what was tried last, and what can be done.
"""

from collections.abc import Sequence
from dataclasses import replace

from perpetualcc.domain.events import Event, TextSaid, ToolDecided, ToolFinished
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.tasks import Failed, Outcome, Parked, Task
from perpetualcc.domain.texts import cut, first_line
from perpetualcc.sessions.checkpoint import SessionCheckpoint

KINDS = (TextSaid.__name__, ToolDecided.__name__, ToolFinished.__name__)
LOOKED_AT = 40
"""The newest events that are read for what was tried last."""
_TRIED = 8
_FEW = 10

_OPTIONS = (
    "Mend the cause, then try again with: pcc resume {session}",
    'Say it differently with: pcc add {session} "…"',
    "Leave it: pcc stop {session}",
)


def completed(
    outcome: Outcome,
    task: Task,
    session: Session,
    kept: SessionCheckpoint | None,
    events: Sequence[Event],
    behind: Sequence[Task] = (),
) -> Outcome:
    """A stopped task's outcome with a whole packet, others as they are; the agent's word counts."""
    match outcome:
        case Parked(packet=packet) | Failed(packet=packet):
            told = {
                "context": _context(task, session),
                "attempts": task.attempts,
                "state": outcome.result,
                "progress": "" if kept is None else _progress(kept),
                "last": "\n".join(tried_last(events)),
                "behind": [first_line(one.prompt, 100) for one in behind],
                "options": [one.format(session=session.id) for one in _OPTIONS],
            }
            return replace(outcome, packet=told | {k: v for k, v in (packet or {}).items() if v})
        case _:
            return outcome


def _context(task: Task, session: Session) -> str:
    prompt = cut(task.prompt.strip(), 500)
    return f"{prompt}\nIn {session.project}, session {session.id} ({session.name})"


def _progress(kept: SessionCheckpoint) -> str:
    lines = (
        ("Done", kept.completed_subtasks),
        ("Left", kept.pending_subtasks),
        ("Files changed", [mark.path for mark in kept.modified_files]),
    )
    return "\n".join(f"{title}: {_listed(found)}" for title, found in lines if found)


def _listed(found: Sequence[str]) -> str:
    more = f" and {len(found) - _FEW} more" if len(found) > _FEW else ""
    return ", ".join(map(first_line, found[:_FEW])) + more


def tried_last(events: Sequence[Event]) -> list[str]:
    """What was said, refused and went wrong last, a line each, oldest first."""
    lines, calls = [], {}
    for event in events:
        match event:
            case TextSaid(text=text):
                lines.append(f"Claude: {_short(text)}")
            case ToolDecided(verdict=verdict, tool=tool, summary=summary, reason=reason):
                calls[event.request] = f"{tool} {summary}".strip()
                if verdict != "allow":
                    lines.append(f"Refused: {tool} {_short(summary)} ({_short(reason)})")
            case ToolFinished(is_error=True, summary=summary, request=request):
                if request in calls:
                    lines.append(f"Failed: {_short(calls[request])}: {_short(summary)}")
    return list(dict.fromkeys(lines))[-_TRIED:]


def _short(text: str) -> str:
    return cut(" ".join(text.split()), 160)
