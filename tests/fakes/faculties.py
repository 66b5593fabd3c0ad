"""What the agent works with, in memory: each remembers what it was told."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from perpetualcc.domain.decisions import Decision, Ruling, Verdict
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.escalations import Escalation, EscalationRequest
from perpetualcc.domain.events import Event
from perpetualcc.domain.ids import RequestId, RunId, SessionId, TaskId
from perpetualcc.domain.limits import WindowUse
from perpetualcc.domain.questions import BrainAnswer, Question
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.tasks import Task
from perpetualcc.domain.tools import Risk, ToolCall
from perpetualcc.domain.words import Word, WordState
from perpetualcc.sessions.budget import BudgetScope, Grant, Refusal


@dataclass
class ToldClaude:
    """`agent.ports.ClaudeCode`: what Claude Code was answered."""

    permissions: dict[RequestId, Decision] = field(default_factory=dict)
    answers: dict[RequestId, Mapping[str, str]] = field(default_factory=dict)
    last: list[RequestId] = field(default_factory=list)
    """Calls after which the turn was to end."""
    interruptions: int = 0
    said: dict[str, str] = field(default_factory=dict)
    """By message."""
    is_stopped: bool = False
    costs: list[float | None] = field(default_factory=list)
    """What it says it cost, asked once more and once more; the last stays."""

    async def cost_usd(self) -> float | None:
        told = self.costs[:1] or [0.0]
        del self.costs[: len(self.costs) > 1]
        return told[0]

    async def respond_permission(
        self, request: RequestId, decision: Decision, *, is_last: bool = False
    ) -> None:
        self.permissions.setdefault(request, decision)
        self.last += [request] if is_last else []

    async def respond_answer(self, request: RequestId, answers: Mapping[str, str]) -> None:
        self.answers.setdefault(request, answers)

    async def interrupt(self) -> None:
        self.interruptions += 1

    async def say(self, text: str, message: str) -> None:
        self.said[message] = text


@dataclass
class MemoryJournal:
    """`agent.ports.Journal`, as far as a run needs it: events and decisions in order."""

    written: list[Event] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    results: list[RequestId] = field(default_factory=list)
    """What was asked about, until there was something new."""
    repeated: frozenset[str] = frozenset()
    """Calls that an earlier run of the task had made."""

    async def record(self, *events: Event) -> None:
        self.written += events

    def note(self, *events: Event) -> None:
        self.written += events

    async def decide(
        self, session: SessionId, decision: Decision, call: ToolCall, *events: Event
    ) -> None:
        self.decisions.append(decision)
        self.written += events

    async def got_on(self, run: RunId, task: Task, request: RequestId) -> bool:
        self.results.append(request)
        return request not in self.repeated

    def kinds(self) -> list[str]:
        return [event.kind for event in self.written]


@dataclass
class SettledGatekeeper:
    """`agent.ports.Gatekeeper`: Write, Agent: yes; Bash: a person's; the rest: refused."""

    judged: list[ToolCall] = field(default_factory=list)
    why_outdated: str = ""
    risk: Risk = Risk.HIGH
    """Of everything but Write."""

    async def outdated(self, session: Session) -> PerpetualError | None:
        return PerpetualError(self.why_outdated) if self.why_outdated else None

    async def judge(self, call: ToolCall, session: Session) -> Ruling:
        self.judged.append(call)
        verdicts = {"Write": Verdict.ALLOW, "Agent": Verdict.ALLOW, "Bash": Verdict.ASK}
        return Ruling(
            verdict=verdicts.get(call.tool, Verdict.DENY),
            risk=Risk.LOW if call.tool == "Write" else self.risk,
            confidence=0.5,
            reason=f"{call.tool} is what it is.",
        )


@dataclass
class SettledAnswerer:
    """`agent.ports.Answerer`: the first option, with the confidence it was given."""

    confidence: float = 0.0

    async def answer(
        self, questions: Sequence[Question], session: Session, task: Task
    ) -> Sequence[BrainAnswer]:
        return [
            BrainAnswer(
                selected=tuple(option.label for option in question.options[:1]),
                confidence=self.confidence,
                reasoning="It is the first.",
            )
            for question in questions
        ]


@dataclass
class MemoryPeople:
    """`agent.ports.People`: numbers requests, and keeps answers that no run could take."""

    is_attached: bool = True
    asked: list[EscalationRequest] = field(default_factory=list)
    known: dict[str, Escalation] = field(default_factory=dict)
    """By digest."""
    used: list[int] = field(default_factory=list)
    expired: deque[int] = field(default_factory=deque)

    def attached(self, session: SessionId) -> bool:
        return self.is_attached

    async def escalate(self, request: EscalationRequest) -> int:
        self.asked.append(request)
        return len(self.asked)

    async def expire(self, number: int) -> None:
        self.expired.append(number)

    async def stored(self, task: TaskId, digest: str) -> Escalation | None:
        found = self.known.get(digest)
        return found if found is not None and found.number not in self.used else None

    async def unused(self, task: TaskId) -> Sequence[Escalation]:
        return [one for one in self.known.values() if one.number not in self.used]

    async def use(self, number: int) -> bool:
        is_first = number not in self.used
        self.used.append(number)
        return is_first

    def answer_before(self, request: EscalationRequest, answer: Mapping[str, Any]) -> None:
        """A person answered this while no run could take it."""
        number = 100 + len(self.known)
        self.known[request.digest] = Escalation(
            number=number, request=request, raised_at=0, settled_at=1, answer=answer
        )


@dataclass
class MemoryWords:
    """`agent.ports.Words`: what was said, and how far it has come."""

    said: list[Word] = field(default_factory=list)

    def say(self, text: str, task: str) -> Word:
        word = Word(
            number=len(self.said) + 1, session="s", task=task, text=text, said_at=0.0, by="test"
        )
        self.said.append(word)
        return word

    async def waiting(self, task: TaskId) -> Sequence[Word]:
        return [one for one in self.said if one.state is WordState.WAITING]

    async def all(self, task: TaskId) -> Sequence[Word]:
        return list(self.said)

    async def give(self, numbers: Sequence[int], message: str, conversation: str) -> None:
        self._become(numbers, state=WordState.GIVEN, message=message, conversation=conversation)

    async def use(self, numbers: Sequence[int]) -> None:
        self._become(numbers, state=WordState.USED)

    def _become(self, numbers: Sequence[int], **more: Any) -> None:
        self.said = [replace(w, **more) if w.number in numbers else w for w in self.said]

    def states(self) -> list[str]:
        return [one.state.value for one in self.said]


@dataclass
class OpenMeter:
    """`agent.ports.Meter`: counts, and refuses once more than `allowed` was spent."""

    allowed: float = float("inf")
    usd_allowed: float | None = None
    tokens: int = 0
    usd: float = 0.0
    windows: list[WindowUse] = field(default_factory=list)

    def allowance(self, task: TaskId) -> Grant:
        return Grant(usd=self.usd_allowed)

    async def spent(
        self, task: TaskId, session: SessionId, tokens: int, usd: float = 0.0
    ) -> Refusal | None:
        self.tokens += tokens
        self.usd += usd
        if self.usd_allowed is not None and self.usd >= self.usd_allowed:
            return Refusal(
                scope=BudgetScope.RUN, limit="run_usd", used=self.usd, allowed=self.usd_allowed
            )
        if self.tokens <= self.allowed:
            return None
        return Refusal(
            scope=BudgetScope.RUN, limit="run_tokens", used=self.tokens, allowed=self.allowed
        )

    def saw_window(self, use: WindowUse) -> None:
        self.windows.append(use)
