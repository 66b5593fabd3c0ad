"""
What happened, in the past tense. Append-only: `attach`, `logs` and recovery read this log.

Every event that comes from a run carries the run's id; one from a run that is no longer current
is dropped before it gets here.

Over 500 lines because it is one list: a class for each kind.
"""

import dataclasses
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Protocol, Self

from perpetualcc.domain.ids import RequestId, RunId, SessionId, TaskId


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened."""

    level: ClassVar[str] = "info"
    """For `pcc logs --level`: debug, info, warn or error."""

    session: SessionId | None = None
    run: RunId | None = None
    task: TaskId | None = None

    @property
    def kind(self) -> str:
        return type(self).__name__

    def data(self) -> dict[str, Any]:
        """The fields beyond session, run and task, ready for JSON."""
        return {name: getattr(self, name) for name in _own_fields(self.kind)}

    @classmethod
    def from_data(cls, data: dict[str, Any], **ids: Any) -> Self:
        """The opposite of `data`. Unknown fields of a newer version are left out."""
        known = _own_fields(cls.__name__)
        return cls(**{k: v for k, v in data.items() if k in known}, **ids)


@cache
def _own_fields(kind: str) -> dict[str, None]:
    """Without whose it is. At each event, and again at each reader's."""
    names = (field.name for field in dataclasses.fields(EVENT_TYPES[kind]))
    return dict.fromkeys(name for name in names if name not in {"session", "run", "task"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCreated(Event):
    """A person started a session."""

    name: str
    project: str
    brain: str = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStatusChanged(Event):
    """The session went from one status to another."""

    before: str
    after: str
    detail: str = ""
    resumes_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskAdded(Event):
    """A task joined the queue."""

    prompt: str
    priority: int = 0
    due: float = 0.0
    """It begins then, and no sooner."""
    every: str = ""
    """And again then, in a person's words."""
    passed: int = 0
    """Times that are left out since the one before."""
    when: str = ""
    """It begins when this command succeeds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskStarted(Event):
    """A dispatch of a task began."""

    prompt: str
    attempt: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSettled(Event):
    """A dispatch of a task ended: `state` says how. Or it was never begun: missed."""

    state: str
    result: str = ""
    due: float | None = None
    repeats: bool = False
    """It was one time of several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(Event):
    """A Claude Code process is about to start; its session id is already stored."""

    claude_session: str
    resumed: bool = False
    lost: bool = False
    """There was a conversation to go on with, but not its transcript: a fresh one begins."""
    copies: str = ""
    """A person's own conversation with Claude Code that this one begins as a copy of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInitialized(Event):
    """Claude Code reported its init event: only now is the start a success."""

    model: str
    permission_mode: str
    claude_version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextSaid(Event):
    """Claude said something to the person."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WordSaid(Event):
    """A person said something to Claude, which goes on working."""

    text: str
    number: int
    by: str = ""
    """What the client called itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRequested(Event):
    """Claude wants to use a tool. Nothing has run yet."""

    level: ClassVar[str] = "debug"
    request: RequestId
    tool: str
    summary: str
    """One line: the file, command, pattern or address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDecided(Event):
    """A tool call was allowed or refused."""

    request: RequestId
    tool: str
    summary: str
    verdict: str
    risk: str
    reason: str
    decided_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished(Event):
    """A tool ran, or failed."""

    level: ClassVar[str] = "debug"
    request: RequestId
    is_error: bool
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFailed(Event):
    """
    A tool that was let through did not work, or Claude Code refused the call before anybody was
    asked: told beside `ToolFinished`, with the call.
    """

    request: RequestId
    tool: str
    summary: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAsked(Event):
    """Claude asked a question."""

    request: RequestId
    questions: list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAnswered(Event):
    """A question was answered."""

    request: RequestId
    answers: dict[str, str]
    decided_by: str
    reason: str = ""
    confidence: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EscalationRaised(Event):
    """A person must decide."""

    level: ClassVar[str] = "warn"
    number: int
    """What `pcc respond` takes."""
    request: RequestId
    type: str
    """permission, question, error or review."""
    title: str
    options: list[dict[str, str]]
    severity: str = "normal"
    context: str = ""
    questions: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    """All of them, when Claude asked several at once."""
    suggestion: str = ""
    confidence: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EscalationReminded(Event):
    """Nobody has reacted for a while, and people are told again."""

    level: ClassVar[str] = "warn"
    number: int
    type: str
    title: str
    reminders: int
    """How often, this time included."""
    raised_at: float
    options: list[dict[str, str]] = dataclasses.field(default_factory=list)
    context: str = ""
    questions: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    suggestion: str = ""
    confidence: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EscalationSettled(Event):
    """Somebody decided, or its time ran out."""

    number: int
    request: RequestId
    answer: str
    decided_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitReached(Event):
    """A usage limit stopped the run."""

    level: ClassVar[str] = "warn"
    window: str
    resets_at: float | None
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitApproached(Event):
    """A usage limit is near."""

    level: ClassVar[str] = "warn"
    window: str
    utilization: float
    resets_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumePlanned(Event):
    """A session will go on by itself at a time: said before it happens."""

    resumes_at: float
    """UTC epoch seconds."""
    reason: str = ""
    model: str = ""
    """It goes on with another model than before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetApproached(Event):
    """A budget is nearly used up."""

    level: ClassVar[str] = "warn"
    name: str
    used: float
    allowed: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetUsedUp(Event):
    """A budget is used up, and work waits or is parked for it."""

    level: ClassVar[str] = "warn"
    name: str
    used: float
    allowed: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointSaved(Event):
    """What the session was doing is in a file now."""

    level: ClassVar[str] = "debug"
    reason: str
    files: int = 0
    """How many files the session has written so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotTaken(Event):
    """The project's files as they are before a task are kept in its repository."""

    level: ClassVar[str] = "debug"
    ref: str
    commit: str
    left_out: list[str] = dataclasses.field(default_factory=list)
    """`NAME: why`, where that was not said before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotMissed(Event):
    """There is none of the files before a task, nor will there be of those after it."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoBegan(Event):
    """A person puts the files back as they were in a snapshot; what they are is kept before."""

    to: str
    """The snapshot: a task's id, or `undo-1` and so on."""
    kept: str
    """The one that leads back: `undo-1` and so on."""
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeBegan(Event):
    """A person merges a worktree's branch: the commit is made, and the files are written next."""

    level: ClassVar[str] = "debug"
    branch: str
    into: str
    before: str
    """The commit that `into` was at."""
    after: str
    files: int
    """So many differ between both."""
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeDone(Event):
    """The branch of the main working tree has what was made in the worktree."""

    branch: str
    into: str
    before: str
    """The commit that `into` was at."""
    after: str
    files: int
    """So many differ between both."""
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PushBegan(Event):
    """A person pushes a worktree's branch, for a pull request."""

    level: ClassVar[str] = "debug"
    branch: str
    remote: str
    address: str
    """Without a name and a password."""
    commit: str
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PushDone(Event):
    """The remote has a worktree's branch."""

    branch: str
    remote: str
    address: str
    """Without a name and a password."""
    commit: str
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscardBegan(Event):
    """A person throws a worktree away: all of it is kept, and it is removed next."""

    level: ClassVar[str] = "debug"
    branch: str
    kept: str
    """The snapshot that leads back: `undo-1` and so on."""
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscardDone(Event):
    """A worktree is gone, with its branch."""

    branch: str
    kept: str
    """The snapshot that leads back: `undo-1` and so on."""
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageReported(Event):
    """How full the context is, as Claude Code counts it."""

    level: ClassVar[str] = "debug"
    context_tokens: int
    context_window: int
    """0: Claude Code has not said it yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextMeasured(Event):
    """How far a perpetual session is from its handover: what status.txt says."""

    level: ClassVar[str] = "debug"
    iteration: int
    status: str
    """NORMAL, WARNING or CRITICAL."""
    tokens: int
    hard_tokens: int
    minutes: float
    hard_minutes: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoverDue(Event):
    """The work must move to a fresh run: Claude was told, or is being interrupted."""

    level: ClassVar[str] = "warn"
    iteration: int
    status: str
    """WARNING: asked to finish its unit of work. CRITICAL: interrupted."""
    reason: str
    tokens: int
    minutes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoverDone(Event):
    """An iteration is over; what it leaves to the next one is on file."""

    iteration: int
    manner: str
    """written (by Claude), forced (from what is known) or emergency (something died)."""
    reason: str
    tokens: int
    minutes: float
    findings: list[str]
    """Where the document and the repository disagree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded(Event):
    """A Claude Code process is gone."""

    outcome: str
    """
    What becomes of its task: done, wait (for a person), later (at a time), again (at once, in a
    new run), behind (the tasks of its plan), failed, parked, or interrupted.
    """
    turns: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemNoticed(Event):
    """Something is wrong that a person may want to know."""

    level: ClassVar[str] = "error"
    text: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOutgrown(Event):
    """A run held too much of the machine's memory, and is ended; its work goes on in another."""

    level: ClassVar[str] = "warn"
    text: str
    held: int
    """Bytes, of all its processes together."""
    largest: str
    """Which program held the most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiUnanswered(Event):
    """The model's server does not answer, or not with a reply; Claude Code tries it again."""

    level: ClassVar[str] = "warn"
    text: str
    attempt: int
    http_status: int | None
    """None: nobody answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundAwaited(Event):
    """Claude has ended its turn while something of its own works on; the task is not done yet."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionMet(Event):
    """What a task waited for is so: it begins."""

    command: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanProposed(Event):
    """Claude says into which tasks a goal is cut; none of them is queued yet."""

    lines: list[str]
    """For people: a line a task, with what comes before it and the commands that prove it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecksBegan(Event):
    """Claude says the task is done; the commands that are to prove it are run."""

    commands: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckEnded(Event):
    """One of them succeeded, or, when there is `trouble`, failed."""

    command: str
    trouble: str = ""
    seconds: float = 0.0
    text: str = ""
    """The last line it printed, where it failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedInPassing(Event):
    """Claude ended its turn with a question instead of asking it; it is told, and goes on."""

    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineStarted(Event):
    """The engine came up and recovered what an earlier one left."""

    level: ClassVar[str] = "debug"
    version: str
    recovered: int = 0
    """Tasks taken over from an engine that died."""
    orphans: int = 0
    """Processes of an earlier engine that were ended."""


EVENT_TYPES: dict[str, type[Event]] = {kind.__name__: kind for kind in Event.__subclasses__()}


class Record(Protocol):
    """The event log, as whoever tells it something sees it."""

    async def __call__(self, *events: Event) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedEvent:
    """An event with its place in the log."""

    seq: int
    """Grows by at least one with each event of the whole log."""
    at: float
    event: Event
