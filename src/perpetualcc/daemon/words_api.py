"""What clients ask of the words that people say to Claude."""

import asyncio
import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perpetualcc.agent.master_agent import MasterAgent
from perpetualcc.claude.transcripts import transcript_of
from perpetualcc.daemon.held import Held
from perpetualcc.daemon.views import rows_for, that_fits
from perpetualcc.daemon.words import WordKeeper
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.tasks import Task, TaskState
from perpetualcc.domain.words import Word, said
from perpetualcc.gateway.methods import Connection, Method, Params
from perpetualcc.learning.places import Places
from perpetualcc.learning.said import queue_said
from perpetualcc.sessions.manager import SessionManager
from perpetualcc.sessions.task_queue import OPEN, standstill

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class WordsApi:
    """`session.say`, and what waits to be heard."""

    words: WordKeeper
    manager: SessionManager
    held: Held
    agent: MasterAgent
    learning: Places

    def methods(self) -> Mapping[str, Method]:
        return {
            "session.say": Method(
                call=self.say,
                params={"session": str, "text": str, "key": str | None},
                is_decision=True,
            ),
            "word.list": Method(call=self.list, params={"session": str, "limit": int | None}),
        }

    async def say(self, params: Params, connection: Connection) -> Any:
        """
        Say something to the Claude of a session, without stopping it: at most 8,000 characters, and
        20 that wait. Said twice with one `key` it is said once. With the session's `status` and
        `resumes_at`, and whether a run is there that takes it at its next step: `is_at_work`.
        """
        session = await self.manager.get_session(params["session"])
        text = said(params["text"])
        task = addressed(session, await self.manager.queue(session.id).everything())
        word = await self.words.add(
            session.id, task.id, text, by=connection.client, key=params["key"]
        )
        is_at_work = self.agent.said(session.id)
        await self._learn(session, word)
        [seen] = await self.held.shown([await self.manager.get_session(session.id)])
        return {
            **word_data(word),
            "name": session.name,
            "status": seen.status.value,
            "detail": seen.detail,
            "resumes_at": seen.resumes_at,
            "is_at_work": is_at_work,
        }

    async def list(self, params: Params, _: Connection) -> Any:
        """What people said to the Claude of a session, newest first; at most `limit` (100)."""
        session = await self.manager.get_session(params["session"])
        found = await self.words.store.said(session.id, rows_for(params["limit"]))
        return that_fits([word_data(one) for one in found])

    async def unheard(self, session: Session) -> Sequence[dict[str, Any]]:
        """What is not certain to be in a conversation, oldest first."""
        return [word_data(one) for one in await self.words.store.unheard(session.id)]

    async def _learn(self, session: Session, word: Word) -> None:
        """As if it were typed in Claude Code. A queue that cannot be written costs only that."""
        conversation = session.claude_session if session.current_task == word.task else None
        path = transcript_of(conversation, os.environ) if conversation else None
        hook = {"session_id": conversation or "", "transcript_path": str(path or "")}
        try:
            await asyncio.to_thread(
                queue_said,
                self.learning,
                f"said-{session.id}-{word.number}",
                word.text,
                project=session.project,
                at=word.said_at,
                hook=hook,
            )
        except (OSError, PerpetualError) as error:
            log.warning("what was said is not in the learning queue: %s", error)


def addressed(session: Session, tasks: Sequence[Task]) -> Task:
    """
    The task whose Claude is spoken to: the one in hand, one that stopped, or the next one.

    Raises:
        PerpetualError: the session has nothing left to do.
    """
    left = {task.id for task in tasks if task.state in OPEN}
    open_ones = [task for task in tasks if task.id in left and left.isdisjoint(task.after)]
    open_ones.sort(key=lambda task: (task.state is TaskState.QUEUED, -task.priority))
    in_hand = [task for task in open_ones if task.id == session.current_task]
    stopped = standstill(tasks) if session.status is SessionStatus.ERROR else None
    found = [*in_hand, *filter(None, [stopped]), *open_ones]
    if session.status is SessionStatus.STOPPED or not found:
        raise _nobody_there(session)
    return found[0]


def _nobody_there(session: Session) -> PerpetualError:
    if session.status is SessionStatus.STOPPED:
        return PerpetualError(
            f"Session {session.name!r} was stopped: nobody is there to say it to",
            hint='Start a new one with: pcc start PROJECT --task "…"',
        )
    return PerpetualError(
        f"Session {session.name!r} is finished: nobody is there to say it to",
        hint=f'Give it as a task: pcc add {session.id} "…"',
    )


def word_data(word: Word) -> dict[str, Any]:
    return {
        "number": word.number,
        "session": word.session,
        "task": word.task,
        "text": word.text,
        "said_at": word.said_at,
        "by": word.by,
        "state": word.state.value,
    }
