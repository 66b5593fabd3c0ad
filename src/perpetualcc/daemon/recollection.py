"""Episodes from events: recorded beside the work, never in its way."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from perpetualcc.daemon.habits import Habits
from perpetualcc.domain.clock import Clock
from perpetualcc.domain.episodes import Episode, Provenance
from perpetualcc.domain.errors import PassingError
from perpetualcc.domain.events import QuestionAnswered, RecordedEvent, TaskSettled, ToolDecided
from perpetualcc.domain.folders import main_tree
from perpetualcc.domain.texts import cut
from perpetualcc.memory import EpisodicMemory, SemanticMemory
from perpetualcc.store.events import EventLog
from perpetualcc.store.ledger import SqliteLedger
from perpetualcc.store.sessions import SessionStore

log = logging.getLogger(__name__)

_TELLING = ("QuestionAnswered", "ToolDecided", "TaskSettled")
"""The kinds of events that may make an episode."""
_BREATH = timedelta(milliseconds=100)
_ALIKE = 0.5
"""From this similarity on an episode is about the same."""
_SIMILAR = 3
"""Past episodes in a brain's prompt (seed 000, Component 8)."""
_WISH = 500
"""Characters of a task, by which it is found again."""
_FACTS = 10
"""Of a project, in a brain's prompt."""


class Recollection:
    """What happened, kept; and what of it resembles a question."""

    def __init__(
        self,
        events: EventLog,
        sessions: SessionStore,
        tasks: SqliteLedger,
        episodes: EpisodicMemory,
        facts: SemanticMemory,
        habits: Habits,
        clock: Clock,
    ) -> None:
        self.habits = habits
        self._events = events
        self._sessions = sessions
        self._tasks = tasks
        self._episodes = episodes
        self._facts = facts
        self._clock = clock

    async def run(self, since: int) -> None:
        """Record what follows `since`, until the database closes."""
        async for recorded in self._events.follow(since, kinds=_TELLING, breath=_BREATH):
            try:
                await self._record(recorded)
            except Exception:  # an episode lost is no work lost
                log.exception("event %s makes no episode", recorded.seq)

    async def forget_old(self) -> None:
        """What was trusted little and of no use for long."""
        await self._episodes.forget_old(self._clock.now())
        await self._facts.forget_old(self._clock.now())

    async def _record(self, recorded: RecordedEvent) -> None:
        event = recorded.event
        if event.session is None or _is_of_a_plan(event):
            return
        project = str(main_tree(await self._sessions.project(event.session)))
        await self.habits.learn(event, project)
        told = _told(event)
        if told is None:
            return
        context, action, outcome, rationale, provenance = told
        if isinstance(event, TaskSettled) and event.task is not None:
            context = cut((await self._tasks.get(event.task)).prompt, _WISH)
        await self._episodes.record_episode(
            Episode(
                session=event.session,
                project=project,
                timestamp=recorded.at,
                event_type=event.kind,
                context=context,
                action=action,
                outcome=outcome,
                rationale=rationale,
                provenance=provenance,
            )
        )

    async def about(self, project: Path, question: str) -> Sequence[str]:
        """
        Similar episodes and known facts, each one line, most relevant first. What happens in a git
        worktree is remembered of its repository's main working tree.
        """
        home = str(main_tree(project))
        similar = await self._episodes.find_similar(question, _SIMILAR, project=home)
        facts = (await self._facts.get_facts(home))[:_FACTS]
        # Put before a brain, it was of use, and is kept longer.
        with _in_passing():
            alike = [one for one in similar if one.similarity >= _ALIKE]
            await self._episodes.mark_useful(alike, self._clock.now())
            await self._facts.mark_useful(facts, self._clock.now())
        return [
            *(f"{one.episode.context} → {one.episode.action}" for one in similar),
            *(f"{fact.category.value}: {fact.fact}" for fact in facts),
        ]


@contextmanager
def _in_passing() -> Iterator[None]:
    """What the retention looks at ends no run, whatever the database does."""
    try:
        yield
    except PassingError:
        log.exception("what is remembered is kept as it was")


def _is_of_a_plan(event: object) -> bool:
    """No run holds for it: what is agreed to for one goal says nothing about another."""
    return isinstance(event, QuestionAnswered) and event.run == ""


def _told(event: object) -> tuple[str, str, str, str, Provenance] | None:
    """Context, action, outcome, rationale, provenance; None for what teaches nothing."""
    match event:
        case QuestionAnswered(answers=answers, decided_by=by, reason=reason):
            asked, said = "; ".join(answers), "; ".join(answers.values())
            source = Provenance.USER if by == "person" else Provenance.REPOSITORY
            return asked, said, "success", reason, source
        case ToolDecided(risk=risk, verdict=verdict) if risk != "LOW":
            is_theirs = event.decided_by in {"person", "rule"}
            source = Provenance.USER if is_theirs else Provenance.TOOL
            return f"{event.tool} {event.summary}", verdict, "", event.reason, source
        case TaskSettled(state="done" | "failed" | "parked" as state, result=result):
            outcome = "success" if state == "done" else "failure"
            return "task", state, outcome, result[:2000], Provenance.TOOL
        case _:
            return None
