"""What a report says, in words: one wording for the terminal and the digest."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from perpetualcc.domain.limits import LIMIT_NAMES, LimitWindow
from perpetualcc.domain.session_status import WORDS, SessionStatus
from perpetualcc.domain.texts import counted, first_line, thousands

Told = Mapping[str, Any]
"""A `SessionReport` as clients see it, with its `session`."""
SIGNS = {"done": "✓", "cancelled": "■"}
OTHERWISE = "✗"


def sums(sessions: Sequence[Told]) -> str:
    """`3 tasks done, 1 not, 12K fresh tokens, $1.20`."""
    parts = [
        *_ended(task["state"] for one in sessions for task in one["tasks"]),
        f"{thousands(sum(one['tokens'] for one in sessions))} fresh tokens",
        f"${sum(one['usd'] for one in sessions):.2f}",
    ]
    return ", ".join(parts)


def _ended(states: Iterable[str]) -> list[str]:
    ended = Counter(states)
    done, stopped = ended.pop("done", 0), ended.pop("cancelled", 0)
    parts = [f"{counted(done, 'task')} done"]
    if failed := ended.total():
        parts.append(f"{failed} not")
    if stopped:
        parts.append(f"{stopped} stopped by you")
    return parts


def happened(one: Told) -> bool:
    """Whether there is anything to tell: that somebody was reminded is nothing that happened."""
    kinds = ("tasks", "answers", "refused", "files", "limits", "budgets", "problems", "checks")
    return bool(one["runs"] or any(one[kind] for kind in kinds))


def in_brief(one: Told) -> str:
    """`completed: 2 tasks done, 1 not, 3 refused`: how it stands, and counts, and no text."""
    parts = _ended(task["state"] for task in one["tasks"]) if one["tasks"] else []
    if refused := sum(call["times"] for call in one["refused"]):
        parts.append(f"{refused} refused")
    parts += [f"stopped: {LIMIT_NAMES[LimitWindow(name)]}" for name in dict.fromkeys(one["limits"])]
    parts += ["out of budget"] if one["budgets"] else []
    word = WORDS[SessionStatus(one["session"]["status"])].lower()
    return f"{word}: {', '.join(parts)}" if parts else word


def task_lines(one: Told) -> list[str]:
    return [
        f"{SIGNS.get(task['state'], OTHERWISE)} {first_line(task['prompt'])}"
        for task in one["tasks"]
    ]
