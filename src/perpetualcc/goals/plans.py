"""
A goal's plan: the tasks that Claude proposes for it, before anything is changed.

What Claude says is read with care: a plan that could not be followed goes back to it with why.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.ids import SessionId, TaskId, new_task_id
from perpetualcc.domain.tasks import CONTINUES, Behind, NewTask, Planning, Task
from perpetualcc.domain.texts import counted, cut

MOST_PARTS = 30
"""More is a goal of its own, or several: nobody reads a longer plan before agreeing to it."""
_MOST_CHECKS = 5
_TITLE = 100
_PROMPT = 8_000
_COMMAND = 500
"""Characters."""
_SHAPE = "Call the tool again with the whole plan."


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One task of a plan."""

    title: str
    prompt: str
    after: tuple[int, ...] = ()
    """Earlier parts that must be done first, counted from 1."""
    checks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a goal is cut into."""

    parts: tuple[Part, ...]
    is_agreed: bool = False
    """It is followed as soon as it can be."""

    @property
    def checks(self) -> tuple[str, ...]:
        """Every command that it would run, once."""
        return tuple(dict.fromkeys(check for part in self.parts for check in part.checks))

    def data(self) -> list[dict[str, Any]]:
        """As JSON, and as `plan_from` reads it."""
        return [
            {
                "title": part.title,
                "prompt": part.prompt,
                "after": list(part.after),
                "checks": list(part.checks),
            }
            for part in self.parts
        ]


class Plans(Protocol):
    """Where plans are kept: one a goal at most."""

    async def get(self, goal: TaskId) -> Plan | None: ...

    async def put(self, goal: TaskId, plan: Plan) -> None:
        """In the place of the one before; durable before anything acts on it."""
        ...

    async def drop(self, goal: TaskId) -> None: ...


def plan_from(tasks: Any) -> Plan:
    """
    What Claude proposes.

    Raises:
        PerpetualError: it cannot be followed; the words are for Claude.
    """
    if not isinstance(tasks, Sequence) or isinstance(tasks, str) or not tasks:
        raise PerpetualError("A plan is a list of one task or more", hint=_SHAPE)
    if len(tasks) > MOST_PARTS:
        raise PerpetualError(
            f"A plan has {MOST_PARTS} tasks at most, and this one {len(tasks)}",
            hint="Put small ones together",
        )
    return Plan(parts=tuple(_part(place, one) for place, one in enumerate(tasks, start=1)))


def _part(place: int, given: Any) -> Part:
    if not isinstance(given, Mapping):
        raise PerpetualError(f"Task {place} is no object", hint=_SHAPE)
    prompt = _text(place, given, "prompt", _PROMPT)
    title = " ".join(_text(place, given, "title", _TITLE).split())
    after = given.get("after") or []
    if not isinstance(after, list) or any(not _is_earlier(one, place) for one in after):
        raise PerpetualError(
            f"Task {place} comes after {after!r}",
            hint="Name the numbers of earlier tasks, counted from 1, and put those first",
        )
    return Part(
        title=title,
        prompt=prompt,
        after=tuple(dict.fromkeys(after)),
        checks=_checks(place, given.get("checks") or []),
    )


def _is_earlier(one: Any, place: int) -> bool:
    return isinstance(one, int) and not isinstance(one, bool) and 1 <= one < place


def _checks(place: int, given: Any) -> tuple[str, ...]:
    if not isinstance(given, list) or len(given) > _MOST_CHECKS:
        raise PerpetualError(f"Task {place} has a list of up to {_MOST_CHECKS} checks", hint=_SHAPE)
    for one in given:
        is_command = isinstance(one, str) and 0 < len(one.strip()) <= _COMMAND and "\0" not in one
        if not is_command or "\n" in one.strip():
            raise PerpetualError(
                f"A check of task {place} is no command of one line: {cut(str(one), 80)!r}",
                hint="Such as: make test",
            )
    return tuple(one.strip() for one in given)


def _text(place: int, given: Mapping[str, Any], name: str, most: int) -> str:
    text = given.get(name)
    if not isinstance(text, str) or not text.strip():
        raise PerpetualError(f"Task {place} has no {name}", hint=_SHAPE)
    if len(text) > most:
        raise PerpetualError(
            f"The {name} of task {place} has {len(text):,} characters", hint=f"{most:,} at most"
        )
    return text.strip()


def followed(plan: Plan, goal: Task) -> Behind:
    """
    The goal behind the tasks of its plan. They go before what else was queued beside the goal: what
    was begun is finished first.
    """
    tasks: list[NewTask] = []
    for part in plan.parts:
        checks = {"checks": list(part.checks)} if part.checks else {}
        task = NewTask(
            id=new_task_id(),
            group=SessionId(goal.group),
            prompt=part.prompt if part.prompt.startswith(part.title) else _headed(part),
            priority=goal.priority + 1,
            after=tuple(tasks[first - 1].id for first in part.after),
            lane=goal.lane,
            max_attempts=goal.max_attempts,
            payload={"goal": cut(goal.prompt.strip(), _PROMPT), **checks},
        )
        tasks.append(task)
    # The look at the whole is with fresh eyes, whatever conversation the plan came from.
    kept = {name: value for name, value in goal.payload.items() if name != CONTINUES}
    return Behind(
        first=tuple(tasks),
        payload={**kept, "plan": Planning.MADE.value},
        result=f"Planned: {counted(len(tasks), 'task')}",
    )


def _headed(part: Part) -> str:
    return f"{part.title}\n\n{part.prompt}"


def lines_of(plan: Plan) -> list[str]:
    """For people: a line a task, with what comes first and what proves it."""
    lines = []
    for place, part in enumerate(plan.parts, start=1):
        after = f" (after {', '.join(map(str, part.after))})" if part.after else ""
        lines.append(f"{place}. {part.title}{after}")
        lines += [f"   check: {check}" for check in part.checks]
    return lines
