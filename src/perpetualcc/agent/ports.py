"""What the master agent needs from outside, each as small as it can be."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol

from perpetualcc.agent.inbox import Inbox
from perpetualcc.domain.decisions import Decision, Ruling
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.escalations import Escalation, EscalationRequest
from perpetualcc.domain.events import Event
from perpetualcc.domain.ids import (
    ClaudeSessionId,
    MessageId,
    RequestId,
    RunId,
    SessionId,
    TaskId,
    new_message_id,
)
from perpetualcc.domain.limits import WindowUse
from perpetualcc.domain.questions import BrainAnswer, Question
from perpetualcc.domain.sessions import Run, Session
from perpetualcc.domain.tasks import Task
from perpetualcc.domain.tools import ToolCall
from perpetualcc.domain.words import Word
from perpetualcc.sessions.budget import Grant, Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How one Claude Code process is to start."""

    session: Session
    run: RunId
    claude_session: ClaudeSessionId
    resume: bool
    """Go on with the conversation of that id, instead of beginning it."""
    prompt: str
    copies: ClaudeSessionId | None = None
    """The conversation that this one begins as a copy of: a person's own, which stays as it is."""
    lost: bool = False
    """There was one to go on with, which is not on disk: the prompt tells what is on record."""
    goal: TaskId | None = None
    """The task whose plan it is to make, and nothing else."""
    may_compact: bool = False
    """Leave a full context to Claude Code's own compaction, instead of handing over."""
    message: MessageId = field(default_factory=new_message_id)
    """The prompt's: by it the transcript says whether it got there."""
    words: tuple[int, ...] = ()
    """What people said that the prompt tells."""


class ClaudeCode(Protocol):
    """
    One Claude Code process from connect to disconnect.

    What it says arrives in the inbox it was opened with; `Gone` is the last of it, always.
    """

    async def respond_permission(
        self, request: RequestId, decision: Decision, *, is_last: bool = False
    ) -> None:
        """
        Let the held tool call go on, or refuse it. A second answer is ignored.

        `is_last`: the turn ends well with the results of this reply's calls, however they come
        out, and nothing more is asked of the model.
        """
        ...

    async def respond_answer(self, request: RequestId, answers: Mapping[str, str]) -> None:
        """Answer the held questions: question text to label, labels joined by `, `."""
        ...

    async def interrupt(self) -> None:
        """
        End the turn. What was said stays in the conversation; what of `say` was not taken up yet
        is forgotten.
        """
        ...

    async def say(self, text: str, message: MessageId) -> None:
        """
        A word of a person's. It reaches the model with the next tool's result, or begins a turn
        of its own when this one ends before: `TurnEnded.heard` tells. Never raises: what a process
        that is going did not take, nobody has heard.
        """
        ...

    def remind(self, text: str) -> None:
        """Put the text before Claude with the result of the next tool that ends."""
        ...

    async def context_window(self) -> int | None:
        """Tokens that the model's context holds; None when it cannot be asked. Never raises."""
        ...

    async def cost_usd(self) -> float | None:
        """
        Dollars that this process has cost so far, by Claude Code's own count: whole replies, those
        of subagents and of compaction too. None when it cannot be asked. Never raises.
        """
        ...

    @property
    def is_stopped(self) -> bool:
        """A signal keeps the process from doing anything, also from hearing of a tool's end."""
        ...


class Claudes(Protocol):
    """Where Claude Code processes come from."""

    def open(self, launch: Launch, inbox: Inbox) -> AbstractAsyncContextManager[ClaudeCode]:
        """
        Start a process; leaving the context ends it and all it started.

        Raises:
            PerpetualError: it cannot start (binary missing, directory gone, not signed in).
        """
        ...

    async def can_resume(self, session: Session, conversation: ClaudeSessionId) -> bool:
        """Whether the conversation has something on disk to go on from."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What is known of a task that was begun before."""

    prompt: str
    """Begins a fresh conversation that goes on with it."""
    changes: str
    """What changed in the project meanwhile, for the conversation that goes on; or empty."""
    refuted: str = ""
    """What its checks came to when Claude said that it is done; or empty."""


class Checkpoints(Protocol):
    """What outlives a conversation."""

    async def recall(self, session: Session, task: Task) -> Recalled:
        """What to tell the run that goes on with a task; at least the task itself."""
        ...


class Meter(Protocol):
    """The budget, as a run meets it."""

    def allowance(self, task: TaskId) -> Grant:
        """What was reserved for the task's run before it started."""
        ...

    async def spent(
        self, task: TaskId, session: SessionId, tokens: int, usd: float = 0.0
    ) -> Refusal | None:
        """The run has used so much more. Not None: it must stop."""
        ...

    async def ended(self, task: TaskId, session: SessionId, tokens: int, usd: float) -> None:
        """
        The run is over, and these are its totals; zero: nobody told, and what was counted stands.
        """
        ...

    def saw_window(self, use: WindowUse) -> None:
        """How much of a subscription's window is used. May be told with every reply."""
        ...


class Journal(Protocol):
    """What is written down, before anything acts on it."""

    async def session(self, session: SessionId) -> Session: ...

    async def record(self, *events: Event) -> None: ...

    def note(self, *events: Event) -> None:
        """Write down what has happened already, before anything that is written later."""
        ...

    async def decide(
        self, session: SessionId, decision: Decision, call: ToolCall, *events: Event
    ) -> None:
        """Write the decision and its events in one transaction."""
        ...

    async def got_on(self, run: RunId, task: Task, request: RequestId) -> bool:
        """
        A call of this run has its result. True when no earlier run of the task made it: then the
        work got on, and the crashes before are forgotten.
        """
        ...

    async def open_run(self, run: Run, *events: Event) -> None:
        """Durable before the process starts."""
        ...

    async def has_begun(self, task: TaskId) -> bool:
        """Whether a process was ever started for it, or anything used: before, nothing was said."""
        ...

    async def close_run(self, run: Run, *events: Event) -> None: ...

    async def finished_tasks(self, session: SessionId) -> Sequence[Task]:
        """The session's tasks that are done, oldest first."""
        ...


class Gatekeeper(Protocol):
    """Think and decide about a tool call. Never raises; in doubt it asks."""

    async def judge(self, call: ToolCall, session: Session) -> Ruling: ...

    async def outdated(self, session: Session) -> PerpetualError | None:
        """
        Why the session's run must end and go on in a new one: what it began with counts no
        longer, or is not there. None as long as it does.
        """
        ...


class People(Protocol):
    """The persons who can be asked."""

    def attached(self, session: SessionId) -> bool:
        """Whether somebody looks at this session right now."""
        ...

    async def escalate(self, request: EscalationRequest) -> int:
        """Write the request down and tell people. Returns its number, for `pcc respond`."""
        ...

    async def expire(self, number: int) -> None:
        """Nobody answered: settle it with its default. What it came to arrives as `Settled`."""
        ...

    async def stored(self, task: TaskId, digest: str) -> Escalation | None:
        """The answer to this very request, given when no run could take it, and unused so far."""
        ...

    async def unused(self, task: TaskId) -> Sequence[Escalation]:
        """All such answers of a task."""
        ...

    async def use(self, number: int) -> bool:
        """The answer has reached Claude. False: it had before."""
        ...


class Words(Protocol):
    """What people say to a Claude at work, in the order in which they said it."""

    async def waiting(self, task: TaskId) -> Sequence[Word]:
        """What no Claude Code was given yet."""
        ...

    async def all(self, task: TaskId) -> Sequence[Word]:
        """
        All that was said to the task. Asked while no run of it is at work: what was given to one
        counts as used if the transcript has it, and as unheard if not.
        """
        ...

    async def give(
        self, numbers: Sequence[int], message: MessageId, conversation: ClaudeSessionId
    ) -> None:
        """Written down durably, before Claude Code is given them."""
        ...

    async def use(self, numbers: Sequence[int]) -> None:
        """They are in the conversation. Told twice is told once."""
        ...


class Answerer(Protocol):
    """Think about Claude's questions: brain, memory and code. Never raises."""

    async def answer(
        self, questions: Sequence[Question], session: Session, task: Task
    ) -> Sequence[BrainAnswer]:
        """One answer for each question, in order; confidence 0.0 leaves it to a person."""
        ...
