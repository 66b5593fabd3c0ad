"""
What repeats: each time leaves the next one behind, with what becomes of a time that passed while
nothing could begin, because the machine was off, or the time before was still at work.
"""

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from perpetualcc.deferred.every import parse_every
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.ids import new_task_id
from perpetualcc.domain.spans import span_of
from perpetualcc.domain.tasks import NewTask, Repetition, Task, condition_of
from perpetualcc.domain.times import dated, duration

log = logging.getLogger(__name__)

ONCE, ALL, SKIP = "once", "all", "skip"
_ON_TIME = timedelta(minutes=5)
"""What is begun by then is not late (seed 003: within five minutes)."""
_MOST_COUNTED = 1_000
"""Times that passed; what is beyond is left out with them."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """A rule, and what becomes of a time that passed."""

    every: str
    missed: str = ONCE

    def check(self) -> None:
        """Raises PerpetualError for what is not understood."""
        parse_every(self.every)
        _latest(self.missed)

    def first(self, now: float) -> float:
        return parse_every(self.every)(now)

    def payload(self) -> Mapping[str, Any]:
        """For a task that is to repeat."""
        return {"every": self.every, "missed": self.missed}


def repeated(task: Task, now: float) -> Repetition | None:
    """`work.ledger.Repeats`. A rule of a newer version repeats nothing."""
    if not task.payload.get("every"):
        return None
    rule = Repeated(str(task.payload["every"]), str(task.payload.get("missed", ONCE)))
    try:
        newest, due, passed = _around(rule, task.due, now)
        missed = _why_missed(rule, task.due, newest, now)
    except (PerpetualError, ValueError, OverflowError, OSError):
        log.exception("task %s is the last of its kind", task.id)
        return None
    following = NewTask(
        id=new_task_id(),
        group=task.group,
        prompt=task.prompt,
        priority=task.priority,
        # A condition is looked at by its own watch.
        due=math.inf if condition_of(task) else due,
        lane=task.lane,
        max_attempts=task.max_attempts,
        payload=task.payload,
    )
    return Repetition(following=following, passed=passed, missed=missed)


def _around(rule: Repeated, due: float, now: float) -> tuple[float, float, int]:
    """The newest time that has come, the one after it, and how many before them are left out."""
    forward = parse_every(rule.every)
    newest, following, passed = due, forward(due), 0
    while following <= now and rule.missed != ALL:
        passed += 1
        newest, following = following, forward(following if passed < _MOST_COUNTED else now)
    return newest, following, passed


def _why_missed(rule: Repeated, due: float, newest: float, now: float) -> str:
    """What passed is made up for once, if it is not too late for the newest of it."""
    latest = _latest(rule.missed)
    if latest is None or now - newest <= latest.total_seconds():
        return ""
    return f"Was to begin {dated(due)}, and could not for {duration(now - due)}"


def _latest(missed: str) -> timedelta | None:
    """How late it may begin; None: whenever it can."""
    if missed in {ONCE, ALL}:
        return None
    if missed == SKIP:
        return _ON_TIME
    if (span := span_of(missed.strip().lower())) is None:
        raise PerpetualError(
            f"--missed cannot be {missed!r:.40}",
            hint="It is once, skip, all, or how late it may begin at most: 2h",
        )
    return span
