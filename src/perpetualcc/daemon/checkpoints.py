"""Gathers what a checkpoint keeps from the tables, and what a resuming run is told."""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from perpetualcc.agent.ports import Recalled
from perpetualcc.claude.transcripts import is_connected, transcript_size
from perpetualcc.daemon.memory_watch import told_to_claude
from perpetualcc.domain.decisions import Verdict
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import CheckpointSaved, QuestionAnswered, RunStarted, TextSaid
from perpetualcc.domain.ids import ClaudeSessionId, SessionId, TaskId
from perpetualcc.domain.session_status import TAKEN_OVER
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.tasks import Task, TaskState
from perpetualcc.domain.texts import first_line
from perpetualcc.goals.claims import Claims
from perpetualcc.sessions.changed_files import changed_files
from perpetualcc.sessions.checkpoint import (
    CheckpointManager,
    KeyDecision,
    SessionCheckpoint,
    SessionState,
    changes_since,
    told_changes,
)
from perpetualcc.sessions.progress import Call, todo_items, written_files
from perpetualcc.store.decisions import DecisionJournal
from perpetualcc.store.events import EventLog
from perpetualcc.store.ledger import SqliteLedger

log = logging.getLogger(__name__)

_SAID = 5
"""The last things that Claude said: the progress summary where no brain writes one."""
_STARTS = 1000
"""Runs among which the first of a task is looked for."""
_CALLS = 2000
"""Tool calls of a task that are looked at; of a longer one the newest."""

_OTHERS = 30
"""Tasks of the session, finished and to come, that are named beside the one in hand: a session
lives for years, and its checkpoint must fit into a conversation."""
_OF_ANOTHER = 200
"""Characters of each."""
_READ_FOR_SUMMARY = 40
"""What Claude said that a brain reads for its summary."""
_SUMMARY_PATIENCE = 15.0
"""Seconds for the brain; then Claude's last words are the summary."""
_QUICK = frozenset({"stopped", TAKEN_OVER})
"""Reasons for which no brain is asked: the engine is on its way out, or has just come."""

Summarize = Callable[[Session, str], Awaitable[str]]
"""The session's brain; an empty text when it has none or cannot be asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointKeeper:
    """`agent.ports.Checkpoints`, over the tables and the files."""

    manager: CheckpointManager
    events: EventLog
    decisions: DecisionJournal
    ledger: SqliteLedger
    summarize: Summarize
    patience: float = _SUMMARY_PATIENCE
    claims: Claims
    """What Claude said is done, and the checks refuted."""
    outgrown: Callable[[TaskId], Awaitable[str]]
    """Why the task's last run was ended, where it took too much memory."""

    async def forget_old(self) -> None:
        await asyncio.to_thread(self.manager.forget_old)

    async def save(self, session: Session, task: Task, reason: str) -> SessionCheckpoint | None:
        """Write a checkpoint. One that cannot be written is told, and stops nothing."""
        try:
            state = await self._gather(session, task, reason)
            saved = await asyncio.to_thread(self.manager.save, state)
        except PerpetualError:
            log.exception("session %s has no checkpoint of this moment", session.id)
            return None
        self.events.append_soon(
            [
                CheckpointSaved(
                    session=session.id, task=task.id, reason=reason, files=len(saved.modified_files)
                )
            ]
        )
        return saved

    async def list(self, session: SessionId) -> "list[SessionCheckpoint]":
        """Oldest first."""
        return await asyncio.to_thread(self.manager.list_checkpoints, session)

    async def latest(self, session: Session) -> SessionCheckpoint | None:
        """The newest one that can be read and is of the session's project."""
        return await asyncio.to_thread(self.manager.latest, session.id, session.project)

    async def recall(self, session: Session, task: Task) -> Recalled:
        """From the newest checkpoint of this task; from the tables where there is none."""
        claim = await self.claims.get(task.id)
        refuted = claim.report if claim else ""
        ended = told_to_claude(await self.outgrown(task.id))
        found = await self.latest(session)
        if found is None or not found.is_about(task):
            found = await self.save(session, task, TAKEN_OVER)
        if found is None:  # nowhere to write: the task itself is what is known
            return Recalled(prompt=task.prompt, changes="", refuted=refuted)
        changes = await asyncio.to_thread(changes_since, found, session.project)
        # Its own words, to the letter: in the file they are without secrets.
        theirs = replace(found, current_task=task.prompt)
        prompt = await asyncio.to_thread(self.manager.restore, theirs, session.project)
        told = "\n\n".join(filter(None, (told_changes(changes), ended)))
        begun = f"{prompt}\n\n{ended}" if ended else prompt
        return Recalled(prompt=begun, changes=told, refuted=refuted)

    async def is_intact(self, session: Session, conversation: ClaudeSessionId) -> bool:
        """Whether the transcript is there, no shorter than it once was, and in one piece."""
        size = await asyncio.to_thread(transcript_size, conversation, os.environ)
        found = await self.latest(session)
        known = found.transcript_bytes if found and found.claude_session == conversation else 0
        if not 0 < size >= known:
            return False
        return await asyncio.to_thread(is_connected, conversation, os.environ)

    async def _gather(self, session: Session, task: Task, reason: str) -> SessionState:
        allowed = await self.decisions.read(
            session=session.id, task=task.id, verdict=Verdict.ALLOW, limit=_CALLS
        )
        calls = [(one.tool, one.input) for one in reversed(allowed)]
        todos = todo_items(calls)
        tasks = await self.ledger.list(session.id)
        done = [first_line(one.prompt, _OF_ANOTHER) for one in tasks if one.state is TaskState.DONE]
        left = [
            first_line(one.prompt, _OF_ANOTHER)
            for one in tasks
            if not one.state.is_final and one.id != task.id
        ]
        conversation = session.claude_session
        doing = [text for text, status in todos if status == "in_progress"]
        return SessionState(
            session_id=session.id,
            project_path=str(session.project),
            task_id=task.id,
            current_task=task.prompt,
            reason=reason,
            completed_subtasks=[
                *done[-_OTHERS:],
                *(text for text, status in todos if status == "completed"),
            ],
            pending_subtasks=[
                *(text for text, status in todos if status != "completed"),
                *left[:_OTHERS],
            ],
            modified_files=await self._files(session, task, calls),
            conversation_summary=await self._summary(session, task, reason),
            key_decisions=await self._decisions(session, task),
            next_action=doing[0] if doing else task.prompt,
            claude_session=conversation or "",
            transcript_bytes=transcript_size(conversation, os.environ) if conversation else 0,
        )

    async def _files(self, session: Session, task: Task, calls: Sequence[Call]) -> Sequence[str]:
        """What Claude wrote with its own tools first, then what else changed since it began."""
        found = written_files(calls, session.project)
        starts = await self.events.tail(session.id, _STARTS, kinds=[RunStarted.__name__])
        begun = [one.at for one in starts if one.event.task == task.id]
        if begun:
            # Claude Code itself takes longer to start than the coarsest file system's second.
            changed = await asyncio.to_thread(changed_files, session.project, begun[0])
            found += [name for name in changed if name not in found]
        return found

    async def _summary(self, session: Session, task: Task, reason: str) -> str:
        """The brain's own words where it has any in time; otherwise Claude's last ones."""
        said = await self.events.tail(session.id, _READ_FOR_SUMMARY, kinds=[TextSaid.__name__])
        texts = [
            one.event.text
            for one in said
            if isinstance(one.event, TextSaid) and one.event.task == task.id
        ]
        if texts and reason not in _QUICK:
            try:
                async with asyncio.timeout(self.patience):
                    if told := await self.summarize(session, "\n".join(texts)):
                        return told
            except TimeoutError:
                log.warning("the brain took too long to summarize session %s", session.id)
        return "\n".join(texts[-_SAID:])

    async def _decisions(self, session: Session, task: Task) -> tuple[KeyDecision, ...]:
        asked = await self.events.tail(session.id, 100, kinds=[QuestionAnswered.__name__])
        return tuple(
            KeyDecision(question=question, answer=answer, rationale=one.event.reason)
            for one in asked
            if isinstance(one.event, QuestionAnswered) and one.event.task == task.id
            for question, answer in one.event.answers.items()
        )
