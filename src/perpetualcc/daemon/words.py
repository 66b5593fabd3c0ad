"""What people say to Claude: kept, and asked for in the transcripts."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from perpetualcc.claude.transcripts import messages_in
from perpetualcc.domain.ids import ClaudeSessionId, MessageId, SessionId, TaskId
from perpetualcc.domain.words import Word, WordState
from perpetualcc.store.words import SqliteWords, TaskOverError


@dataclass(frozen=True, slots=True, kw_only=True)
class WordKeeper:
    """`agent.ports.Words`, over the table and Claude Code's transcripts."""

    store: SqliteWords
    _ending: set[TaskId] = field(default_factory=set)
    """Their work is done, and that is about to be written: too late to say anything."""

    async def add(
        self, session: SessionId, task: TaskId, text: str, *, by: str, key: str | None
    ) -> Word:
        """
        Raises:
            PerpetualError: the task is over, or about to be; or too much waits already.
        """
        if task in self._ending:
            raise TaskOverError(session)
        return await self.store.add(session, task, text, by=by, key=key)

    async def goes_on(self, task: TaskId) -> bool:
        """
        Whether a task that is done goes on, because something was said that Claude has not heard.

        If not, nothing can be said to it from now on, until `begins`: what is said is either in
        the table before it is looked at here, or refused.
        """
        self._ending.add(task)
        is_unheard = await self.is_unheard(task)
        if is_unheard:
            self._ending.discard(task)
        return is_unheard

    def begins(self, task: TaskId) -> None:
        """Or it is over, and the table says so."""
        self._ending.discard(task)

    async def is_unheard(self, task: TaskId) -> bool:
        """Claude has something to answer; what a conversation has, and no turn ended with, too."""
        return await self.store.is_unheard(task)

    async def waiting(self, task: TaskId) -> Sequence[Word]:
        return [one for one in await self.store.of(task) if one.state is WordState.WAITING]

    async def all(self, task: TaskId) -> Sequence[Word]:
        words = await self.store.of(task)
        given = [one for one in words if one.state is WordState.GIVEN]
        if not given:
            return words
        heard = await asyncio.to_thread(_heard, given)
        await self.use(heard)
        return await self.store.of(task)

    async def give(
        self, numbers: Sequence[int], message: MessageId, conversation: ClaudeSessionId
    ) -> None:
        await self.store.give(numbers, message, conversation)

    async def use(self, numbers: Sequence[int]) -> None:
        await self.store.use(numbers)


def _heard(given: Sequence[Word]) -> list[int]:
    """
    Which of them are in their conversation. Claude Code takes them in order, and of several that
    begin a turn together it keeps the last one's id: what comes before one it has, it has too.
    """
    heard: list[int] = []
    for conversation in {one.conversation for one in given if one.conversation}:
        theirs = [one for one in given if one.conversation == conversation]
        found = messages_in(
            conversation, {one.message for one in theirs if one.message}, os.environ
        )
        last = max((one.number for one in theirs if one.message in found), default=0)
        heard += [one.number for one in theirs if one.number <= last]
    return heard
