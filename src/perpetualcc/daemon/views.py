"""What clients are shown of sessions, tasks, events, budgets, decisions: plain JSON that fits."""

import json
import math
from bisect import bisect_right
from dataclasses import asdict, fields
from itertools import accumulate
from typing import Any

from perpetualcc.daemon.budget import day_shares
from perpetualcc.domain.events import RecordedEvent
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.tasks import Task, checks_of, condition_of, goal_of
from perpetualcc.sessions.budget import BudgetLimits, Spent
from perpetualcc.sessions.checkpoint import SessionCheckpoint
from perpetualcc.store.decisions import RecordedDecision
from perpetualcc.store.text import shortened

_PAGE_CHARACTERS = 1_000_000
"""In one answer, well below the protocol's limit of a frame."""
_MOST_CHARACTERS = 4_000_000
"""Where the rows are so many that even cut they take more: what a frame has room for."""
_MOST_OF_A_TEXT = (4_000, 1_000, 200, 60)
"""Characters of a text, where an answer would not fit otherwise."""
_MOST_OF_AN_EVENT = 600_000
"""Characters of a text: a frame holds one however JSON writes them, and no model says more."""
_WORDY = frozenset(
    {
        "task",
        "tasks",
        "checkpoints",
        "title",
        "context",
        "packet",
        "raw",
        "summary",
        "reason",
        "body",
        "answers",
        "refused",
        "problems",
    }
)
"""What holds the texts that people and Claude wrote."""
_MOST_ROWS = 2_000
"""In one answer: more would hold up everybody else."""


def rows_for(asked: int | None, usual: int = 100) -> int:
    """How many rows an answer has; a negative number would be no limit to SQLite."""
    return min(max(1, asked or usual), _MOST_ROWS)


def session_data(session: Session) -> dict[str, Any]:
    """A session as clients see it."""
    return {
        "id": session.id,
        "name": session.name,
        "project": str(session.project),
        "status": session.status.value,
        "detail": session.detail,
        "brain": session.options.brain,
        "confidence": session.options.confidence,
        "created_at": session.created_at,
        "updated_at": session.updated_at,
        "resumes_at": session.resumes_at,
        "tokens": session.tokens,
        "context_window": session.context_window,
        "perpetual": asdict(perpetual) if (perpetual := session.options.perpetual) else None,
    }


def task_data(task: Task) -> dict[str, Any]:
    return {
        "id": task.id,
        "prompt": task.prompt,
        "state": task.state.value,
        "lane": task.lane.value,
        "priority": task.priority,
        "after": list(task.after),
        "attempts": task.attempts,
        "result": task.result,
        "packet": task.packet,
        "due": None if task.due == math.inf else task.due,
        "when": condition_of(task),
        "every": task.payload.get("every", ""),
        "checks": list(checks_of(task)),
        "plan": task.payload.get("plan", ""),
        "goal": goal_of(task),
    }


def event_data(recorded: RecordedEvent) -> dict[str, Any]:
    event = recorded.event
    return {
        "seq": recorded.seq,
        "at": recorded.at,
        "kind": event.kind,
        "level": event.level,
        "session": event.session,
        "run": event.run,
        "task": event.task,
        **shortened(event.data(), _MOST_OF_AN_EVENT),
    }


def budget_data(limits: BudgetLimits, spent: Spent) -> list[dict[str, Any]]:
    """Every budget; `used` where it is one of the day or the week."""
    used = {name: amount for name, (amount, _) in day_shares(limits, spent).items()}
    if limits.weekly_share:
        used["weekly_share"] = spent.week_used
    return [
        {"name": one.name, "allowed": getattr(limits, one.name), "used": used.get(one.name)}
        for one in fields(BudgetLimits)
    ]


def newest_that_fit(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """At least one, however large."""
    room = _PAGE_CHARACTERS
    for place in range(len(events) - 1, -1, -1):
        room -= len(json.dumps(events[place], ensure_ascii=False))
        if room < 0:
            return events[min(place + 1, len(events) - 1) :]
    return events


def that_fits(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """
    As it is; where that is more than one answer holds, with its texts cut, and then as many of the
    first as fit: at least one.
    """
    for most in _MOST_OF_A_TEXT:
        if len(json.dumps(found)) <= _PAGE_CHARACTERS:
            return found
        found = [
            {
                name: shortened(value, most) if name in _WORDY else value
                for name, value in one.items()
            }
            for one in found
        ]
    sizes = accumulate(len(json.dumps(one)) + 2 for one in found)
    return found[: max(1, bisect_right(list(sizes), _MOST_CHARACTERS))]


def checkpoint_data(checkpoint: SessionCheckpoint) -> dict[str, Any]:
    return {
        "at": checkpoint.timestamp,
        "reason": checkpoint.reason,
        "task": checkpoint.current_task,
        "files": [mark.path for mark in checkpoint.modified_files],
        "next": checkpoint.next_action,
    }


def decision_data(recorded: RecordedDecision) -> dict[str, Any]:
    decision = recorded.decision
    return {
        "id": recorded.id,
        "at": recorded.at,
        "session": recorded.session,
        "tool": recorded.tool,
        "summary": recorded.summary,
        "verdict": decision.verdict.value,
        "risk": decision.risk.value,
        "confidence": decision.confidence,
        "reason": decision.reason,
        "decided_by": decision.decided_by.value,
    }
