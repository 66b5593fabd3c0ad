"""Makes a handover from what is there: Claude's document, the event log, the repository."""

import asyncio
import re
import shlex
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from perpetualcc.agent.handover.status_board import owner_of
from perpetualcc.domain.clock import Clock
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import HandoverDone
from perpetualcc.domain.secrets import redact
from perpetualcc.domain.tasks import STOPS, Again, Outcome, Parked
from perpetualcc.sessions.handover.composition import completed_so_far, compose
from perpetualcc.sessions.handover.document import (
    DamagedDocumentError,
    HandoverDocument,
    Heading,
    parse_document,
    render_document,
)
from perpetualcc.sessions.handover.evidence import Evidence, differences, evidence_of
from perpetualcc.sessions.handover.folder import DOCUMENT, LAST_GOOD, STATE, STATUS, HandoverFolder
from perpetualcc.sessions.handover.records import (
    NOTHING_NEW,
    Handover,
    Manner,
    Records,
    full_from_the_start,
    goes_in_circles,
)
from perpetualcc.sessions.handover.repository import changed_since, repository_state

if TYPE_CHECKING:
    from perpetualcc.agent.handover.iteration import Iteration


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How an iteration ended."""

    manner: Manner
    tokens: int = 0
    seconds: float = 0.0
    error: str = ""
    """What the process or its last turn died of."""
    is_laid_out: bool = True
    """Claude was given a document to write."""
    good: str | None = None
    """Claude's document as it was when it was last whole."""
    full_from: int = 0
    """The hard limit in tokens, where the first reply of a fresh conversation reached it; or 0."""
    is_put_off: bool = False
    """Something else ended the run after the warning: a pause, a limit, a question, a stop."""


class HandoverMaker:
    """Repeating it after a crash at any point gives the same handover, once."""

    def __init__(self, records: Records, clock: Clock) -> None:
        self._records = records
        self._clock = clock

    async def make(self, begun: Handover, iteration: "Iteration", ending: Ending) -> Handover:
        """Compose, check, archive, write down. A folder that cannot be used costs only files."""
        conversation = begun.claude_session
        events = await self._records.evidence(conversation) if conversation else ()
        evidence = evidence_of(events)
        carried = iteration.carried
        # What earlier tasks of the session left uncommitted is not this document's.
        since = (carried and carried.done_at) or await self._records.began_at(begun.task)
        handover = await asyncio.to_thread(self._compose, begun, iteration, ending, evidence, since)
        is_excused = ending.is_put_off and not evidence.worked
        if (
            not handover.trouble
            and not is_excused
            and await self._is_standing_still(handover, iteration, evidence)
        ):
            handover = replace(handover, trouble=NOTHING_NEW)
        done = HandoverDone(
            session=begun.session,
            run=begun.run,
            task=begun.task,
            iteration=begun.iteration,
            manner=handover.manner.value,
            reason=handover.reason,
            tokens=ending.tokens,
            minutes=round(ending.seconds / 60, 2),
            findings=list(handover.findings),
        )
        await self._records.finish(handover, done)
        return handover

    async def _is_standing_still(
        self, handover: Handover, iteration: "Iteration", evidence: Evidence
    ) -> bool:
        """No call that worked was new to the task, and Claude calls nothing more completed."""
        carried = iteration.carried
        if set(handover.completed) - set(carried.completed if carried else ()):
            return False
        if not evidence.worked or handover.claude_session is None:
            return handover.manner is not Manner.WRITTEN
        return not await self._records.is_new(
            handover.task, handover.claude_session, evidence.worked
        )

    async def outcome(self, handover: Handover, iteration: "Iteration") -> Outcome:
        """Go on in a fresh run, unless a person must look first. The task's words do not change."""
        history = await self._records.history(handover.session)
        trouble = goes_in_circles([one for one in history if one.task == handover.task])
        perpetual = iteration.session.options.perpetual
        most = perpetual.max_iterations if perpetual else None
        resume = f"pcc resume {handover.session}"
        if trouble:
            said = f"The same trouble in three iterations in a row: {trouble}"
            options = [
                f"Put it right, then: {resume}",
                *_ways_out(handover, iteration),
            ]
            return Parked(result=said, packet=_packet(handover, said, *options))
        if most is not None and handover.iteration >= most:
            said = f"Iteration {handover.iteration} is over, and at most {most} were asked for"
            told = _packet(handover, said, f"One more: {resume}")
            return Parked(result=said, packet={**STOPS, **told})
        return Again(prompt=iteration.task.prompt)

    def _compose(
        self,
        begun: Handover,
        iteration: "Iteration",
        ending: Ending,
        evidence: Evidence,
        since: float,
    ) -> Handover:
        """Blocking: reads and writes files, asks git."""
        folder = HandoverFolder(iteration.session.project)
        repository = repository_state(iteration.session.project)
        written, previous, problems = _documents(folder, iteration, ending)
        document = compose(written, previous, evidence, repository)
        project, carried = iteration.session.project, iteration.carried
        changed = changed_since(project, repository.changed, since)
        findings = [*problems, *differences(document, evidence, project, changed)]
        manner = _manner(ending.manner, is_written=written is not None)
        text = self._render(document, begun, iteration, ending)
        if _is_ours(folder, iteration):
            _keep(folder, begun.iteration, text)
        return replace(
            begun,
            done_at=self._clock.now(),
            manner=manner,
            trouble=_trouble(document, ending, manner),
            document=text,
            findings=tuple(findings),
            completed=completed_so_far(carried.completed if carried else (), document),
        )

    def _render(
        self, document: HandoverDocument, begun: Handover, iteration: "Iteration", ending: Ending
    ) -> str:
        heading = Heading(
            generated=time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self._clock.now())),
            iteration=begun.iteration,
            duration=_hours(ending.seconds),
            reason=begun.reason,
        )
        return redact(render_document(document, iteration.task.prompt, heading))


def _documents(
    folder: HandoverFolder, iteration: "Iteration", ending: Ending
) -> tuple[HandoverDocument | None, HandoverDocument | None, list[str]]:
    """What Claude wrote in this iteration, what it began with, and what was wrong with them."""
    previous_text = iteration.carried.document if iteration.carried else ""
    previous = _parsed(previous_text)
    if not (ending.is_laid_out and _is_ours(folder, iteration)):
        return None, previous, []
    text = folder.read(DOCUMENT)
    written = _parsed(text)
    if written is None:
        written = _parsed(folder.read(LAST_GOOD)) or _parsed(ending.good)
        used = "the version before it" if written else "what is known"
        return written, previous, [f"Its handover.md was damaged or gone; {used} is used instead."]
    if written.is_empty or written == previous:
        return None, previous, []
    return written, previous, []


def _parsed(text: str | None) -> HandoverDocument | None:
    if not text:
        return None
    try:
        return parse_document(text)
    except DamagedDocumentError:
        return None


def _manner(wanted: Manner, *, is_written: bool) -> Manner:
    return Manner.FORCED if wanted is Manner.WRITTEN and not is_written else wanted


def _is_ours(folder: HandoverFolder, iteration: "Iteration") -> bool:
    return owner_of(folder.read(STATE)) in {"", iteration.session.id}


def _keep(folder: HandoverFolder, iteration: int, text: str) -> None:
    """The final document, and the iteration's files in the archive; the old text beside them."""
    files = {DOCUMENT: text}
    for name in (STATUS, STATE, LAST_GOOD):
        if (found := folder.read(name)) is not None:
            files[name] = found
    with suppress(PerpetualError):  # the database has it too
        folder.archive(str(iteration), files)
        folder.write(DOCUMENT, text)


def _trouble(document: HandoverDocument, ending: Ending, manner: Manner) -> str:
    """What would make the next iteration end the same way, without what differs each time."""
    if manner is Manner.EMERGENCY and ending.error:
        return re.sub(r"\d+", "#", ending.error.splitlines()[0])[:300]
    if document.blockers:
        return f"blocked: {'; '.join(document.blockers)}"[:300]
    return full_from_the_start(ending.full_from) if ending.full_from else ""


def _ways_out(handover: Handover, iteration: "Iteration") -> list[str]:
    """What a person can change about work that gets nowhere."""
    ways = [f'Split the task: give this one up, and pcc add {handover.session} "…" for each part']
    if iteration.session.options.perpetual is not None:
        place = shlex.quote(str(iteration.session.project))
        ways.insert(
            0,
            f"Raise the limits: pcc stop {handover.session}, then: pcc perpetual {place}"
            f" --resume-from {handover.iteration} --hard-tokens …",
        )
    return ways


def _packet(handover: Handover, analysis: str, *options: str) -> dict[str, object]:
    """For a person (seed 002): state, attempts, analysis, options."""
    return {
        "reason": "handover",
        "state": handover.reason,
        "attempts": handover.iteration,
        "analysis": analysis,
        "hint": options[0],
        "document": handover.document[:8000],
        "options": [*options, f"Leave it: pcc stop {handover.session}"],
    }


def _hours(seconds: float) -> str:
    total = int(seconds)
    return f"{total // 3600:02}:{total // 60 % 60:02}:{total % 60:02}"
