"""
Procedures from what people answer: asked before a brain is, and corrected by what came of it.

A habit makes a brain surer that came to the same answer by itself. It answers nothing alone, and
what is risky never reaches it: no risk class and no authority level is lifted by experience.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from perpetualcc.domain.decisions import Advice, DecidedBy, Verdict
from perpetualcc.domain.episodes import Provenance
from perpetualcc.domain.events import QuestionAnswered, TaskSettled, ToolDecided
from perpetualcc.domain.ids import TaskId
from perpetualcc.domain.questions import BrainAnswer
from perpetualcc.domain.tasks import TaskState
from perpetualcc.domain.tools import Risk
from perpetualcc.memory import ProceduralMemory, Procedure, exact_trigger, raised

QUESTION, CALL = "question", "tool"
FROM_A_PERSON = 0.7
"""What a person answered once: as sure as a brain must be by default (seed 000,
`confidence_threshold`)."""
_OVER = frozenset(state for state in TaskState if state.is_final)
_LONGEST = 1_000


class Habits:
    """Learns from events, and knows what was answered before."""

    def __init__(self, procedures: ProceduralMemory) -> None:
        self._procedures = procedures
        self._used: dict[TaskId, dict[int, Procedure]] = defaultdict(dict)

    async def for_question(self, project: str, question: str) -> Procedure | None:
        """What was answered to this question in this project."""
        return await self._procedures.match_procedure(QUESTION, _plain(question), project)

    async def for_call(self, project: str, tool: str, summary: str) -> Procedure | None:
        """What a person decided on this very call in this project."""
        call = _call(tool, summary)
        return await self._procedures.match_procedure(CALL, call, project) if call else None

    async def learn(self, event: object, project: str) -> None:
        """Take an event to heart: a person's answers and decisions, and how tasks ended."""
        match event:
            case QuestionAnswered(answers=answers, decided_by=DecidedBy.PERSON):
                for question, answer in answers.items():
                    await self._said(QUESTION, _plain(question), answer, project)
            case QuestionAnswered(answers=answers, task=task) if task is not None:
                await self._relied_on(task, answers, project)
            case ToolDecided(decided_by=DecidedBy.PERSON, risk=Risk.MEDIUM):
                call = _call(event.tool, event.summary)
                if call and event.verdict in {Verdict.ALLOW, Verdict.DENY}:
                    await self._said(CALL, call, event.verdict, project)
            case TaskSettled(state=state, task=task) if task is not None and state in _OVER:
                for procedure in self._used.pop(task, {}).values():
                    if state in {"done", "failed"}:
                        await self._procedures.settle(
                            procedure, "success" if state == "done" else "failure"
                        )
            case _:
                pass

    async def _said(self, kind: str, text: str, answer: str, project: str) -> None:
        known = await self._procedures.match_procedure(kind, text, project)
        if known is not None and known.action == answer:
            await self._procedures.settle(known, "success")
            return
        if known is not None:
            await self._procedures.settle(known, "failure")
        # Of the same words it takes the place of the old answer, and begins as unsure as that was.
        await self._procedures.add_procedure(
            kind, exact_trigger(text), answer, FROM_A_PERSON, Provenance.USER, project
        )

    async def _relied_on(self, task: TaskId, answers: Mapping[str, str], project: str) -> None:
        """A brain answered as the habit would have: how the task ends is its outcome too."""
        for question, answer in answers.items():
            known = await self.for_question(project, question)
            if known is not None and known.action == answer:
                self._used[task][known.id] = known


def surer_answer(answer: BrainAnswer, habit: Procedure | None) -> BrainAnswer:
    """The brain's answer, surer when it is the one that was given before. Pure."""
    if habit is None or ", ".join(answer.selected) != habit.action:
        return answer
    confidence = raised(answer.confidence, habit)
    if confidence == answer.confidence:
        return answer
    return replace(
        answer,
        confidence=confidence,
        reasoning=f"{answer.reasoning} ({in_words(habit)})",
    )


def surer_advice(advice: Advice, risk: Risk, habit: Procedure | None) -> Advice:
    """The brain's approval of a MEDIUM call, surer when a person gave it before. Pure."""
    if habit is None or habit.action != Verdict.ALLOW or risk is not Risk.MEDIUM:
        return advice
    return (
        replace(advice, confidence=raised(advice.confidence, habit)) if advice.approve else advice
    )


def in_words(habit: Procedure) -> str:
    """For the brain's prompt, and for the reason of a decision."""
    return (
        f"answered before: {habit.action!r}, confidence {habit.confidence:.2f}, "
        f"{habit.success_count} times right, {habit.failure_count} times wrong since"
    )


def _plain(question: str) -> str:
    return " ".join(question.split())[:_LONGEST]


def _call(tool: str, summary: str) -> str:
    """The call in one line; empty when it was cut, and may be any call."""
    return "" if not summary or summary.endswith("…") else f"{tool} {summary}"
