"""Tasks, and what one dispatch of a task may come to. A task outlives its session."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from perpetualcc.domain.events import Event, TaskAdded, TaskSettled
from perpetualcc.domain.ids import ClaudeSessionId, SessionId, TaskId
from perpetualcc.domain.limits import RateLimitInfo


class TaskState(StrEnum):
    """Where a task is in its life. `work.ledger.TRANSITIONS` says what may follow what."""

    QUEUED = "queued"
    """Due now or later, waiting for what must come first and for a free lane."""
    RUNNING = "running"
    """A run works on it, under a fencing number."""
    WAITING = "waiting"
    """For a due time or a signal. Costs a row."""
    DONE = "done"
    FAILED = "failed"
    """Gave up after its attempts."""
    PARKED = "parked"
    """Set aside for a person; never picked again by itself."""
    CANCELLED = "cancelled"
    MISSED = "missed"
    """Its time passed while nobody was there, and its policy says not to catch up."""

    @property
    def is_final(self) -> bool:
        """Whether only a person can bring it back."""
        return self in _FINAL


_FINAL = frozenset(
    {TaskState.DONE, TaskState.FAILED, TaskState.PARKED, TaskState.CANCELLED, TaskState.MISSED}
)


class Lane(StrEnum):
    """What kind of work it is. Each lane has its own number of places; only running counts."""

    INTERACTIVE = "interactive"
    """Sessions a person started."""
    GOAL = "goal"
    CRON = "cron"
    """Deferred and scheduled work (seed 003: at most two at once)."""
    MAINTENANCE = "maintenance"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTask:
    """A task as somebody asks for it."""

    id: TaskId
    group: str
    """At most one task of a group is in hand at a time: the session id, or the task's own id."""
    prompt: str
    priority: int = 0
    """Higher is sooner."""
    after: tuple[TaskId, ...] = ()
    """These must be done first. One that fails or is cancelled parks what comes after it."""
    due: float = 0.0
    """UTC epoch seconds; not before. Infinite: when its condition holds."""
    lane: Lane = Lane.INTERACTIVE
    max_attempts: int = 3
    payload: Mapping[str, Any] = field(default_factory=dict)
    """JSON for the handler. The ledger never looks inside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task as the ledger keeps it."""

    id: TaskId
    group: str
    prompt: str
    priority: int
    after: tuple[TaskId, ...]
    due: float
    lane: Lane
    state: TaskState
    attempts: int
    """Dispatches in a row that counted, this one included while it runs."""
    max_attempts: int
    fence: int
    """Grows with each claim; who settles must know it."""
    payload: Mapping[str, Any]
    signal: str | None
    """What it waits for, when it waits for more than time."""
    answer: Mapping[str, Any] | None
    """While running: the signal that woke it, consumed when the task leaves `running`."""
    result: str
    """What it came to: a summary when done, the packet's first line when failed or parked."""
    packet: Mapping[str, Any] | None
    """For a person: context, attempts, state, analysis, options (seed 002)."""
    created_at: float
    """When it was added. Of one that was for later, once it began: when that was due."""
    updated_at: float


def condition_of(task: Task | NewTask) -> str:
    """The command that must succeed before it begins; empty: none."""
    return str(task.payload.get("when", ""))


def checks_of(task: Task) -> tuple[str, ...]:
    """The commands that prove it done, in the order in which they are run."""
    return tuple(str(command) for command in task.payload.get("checks", ()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Continued:
    """A person's own conversation with Claude Code, which a task goes on with."""

    conversation: ClaudeSessionId
    folder: str
    """Where it was begun."""


CONTINUES = "continues"
"""In a task's payload: the fields of `Continued`."""


def continued_by(task: Task) -> Continued | None:
    """None: it begins afresh."""
    given = task.payload.get(CONTINUES)
    return None if given is None else Continued(**given)


class Planning(StrEnum):
    """What `plan` in a task's payload says of a goal: a task that is cut into others first."""

    ASK = "ask"
    """Claude makes a plan, and a person says whether it is followed."""
    ALONE = "alone"
    """Nobody is asked, unless the plan would run what Claude itself may not."""
    MADE = "made"
    """Its tasks come first; what is left is to look whether the goal is reached."""


def planning_of(task: Task) -> Planning | None:
    """None: it is no goal."""
    word = task.payload.get("plan")
    return None if word is None else Planning(word)


def is_to_plan(task: Task) -> bool:
    """Its next run makes the plan, and nothing else."""
    return planning_of(task) in {Planning.ASK, Planning.ALONE}


def goal_of(task: Task | NewTask) -> str:
    """The goal that it is a part of, in a person's words; empty: none."""
    return str(task.payload.get("goal", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Repetition:
    """What a task that repeats comes to when its time has come."""

    following: NewTask
    """It begins at the next time."""
    passed: int = 0
    """Times between the two that are left out."""
    missed: str = ""
    """Why this one is not begun; empty: it is."""

    def events(self, task: "Task") -> list[Event]:
        """What the log says of it."""
        following = self.following
        told: list[Event] = [added(following, passed=self.passed)]
        if self.missed:
            session = SessionId(task.group)
            missed = TaskState.MISSED.value
            told.append(
                TaskSettled(session=session, task=task.id, state=missed, result=self.missed)
            )
        return told


def added(task: NewTask, *, passed: int = 0) -> TaskAdded:
    """The event that tells of a new task."""
    return TaskAdded(
        session=SessionId(task.group),
        task=task.id,
        prompt=task.prompt,
        priority=task.priority,
        due=0.0 if task.due == math.inf else task.due,
        when=condition_of(task),
        every=str(task.payload.get("every", "")),
        passed=passed,
    )


STOPS: Mapping[str, Any] = MappingProxyType({"stops": True})
"""For the packet of a task that is parked for what concerns its whole group: a sign-in, money, a
person's word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """Go on at once, in a new run, with this prompt."""

    prompt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Later:
    """Go on at a time: a limit resets, a back-off ends."""

    due: float
    counts: bool = True
    """Whether this dispatch is one of the task's attempts. A limit's wait is not."""
    reason: str = ""
    keeps_answer: bool = False
    """The dispatch was cut short: the next one is given the same answer again."""
    limit: RateLimitInfo | None = None
    """The usage limit that stopped it. The wait itself is planned by whoever knows the policy."""
    got_somewhere: bool = False
    """Claude had worked before the limit stopped it: it is not the same limit met once more."""
    pauses: bool = False
    """The session is paused first: a person says when it goes on."""
    got_on: bool = False
    """It failed after new work: failures are counted in a row, this is the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Go on when somebody answers, or at the due time with no answer."""

    signal: str
    due: float | None = None
    """The next step of the escalation ladder; None waits for ever."""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """Others come first, which are queued with this; then it goes on, as if it had not begun."""

    first: tuple[NewTask, ...]
    """Each after those before it that it names. None that is there already."""
    payload: Mapping[str, Any]
    """Its own from now on."""
    result: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """It is finished."""

    result: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """It did not work and will not be tried again by itself."""

    result: str
    packet: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parked:
    """A person must look at it."""

    result: str
    packet: Mapping[str, Any] = field(default_factory=dict)
    """With `stops` (`STOPS`) when it is no reason of the task's own: whatever else there is to do
    would meet the same, or a person said so."""


Outcome = Again | Later | Wait | Behind | Done | Failed | Parked
