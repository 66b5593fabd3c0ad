"""
What people say to Claude during a run: given once, and watched until it is in the conversation.

Each word is a row that is waiting, given or used, and each message to Claude Code has an id of
ours. The row says *given*, with that id, before Claude Code has it; it says *used* only when a
turn that took the message in has ended well, or when the transcript has the id. So whatever dies
in between, the next run asks the transcript: what is in it was heard, and what is not is given
again. The model may have begun to act on such a word when the process died, but the conversation
that goes on knows nothing of it; it is told again, marked as perhaps repeated, rather than lost.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from perpetualcc.agent.faculties import Faculties
from perpetualcc.agent.inbox import TurnEnded
from perpetualcc.agent.ports import ClaudeCode, Launch
from perpetualcc.agent.run_events import RunEvents
from perpetualcc.domain.ids import TaskId, new_message_id


@dataclass(slots=True, kw_only=True)
class WordsInHand:
    """Of one run."""

    launch: Launch
    task: TaskId
    claude: ClaudeCode
    faculties: Faculties
    events: RunEvents
    _given: dict[str, tuple[int, ...]] = field(init=False)
    """By message, until a turn that took it in has ended."""
    _ended: set[str] = field(default_factory=set)
    """Messages that Claude Code is through with."""

    def __post_init__(self) -> None:
        launch = self.launch
        self._given = {launch.message: launch.words} if launch.words else {}

    async def give(self) -> bool:
        """Hand over what waits. False: nothing did."""
        waiting = await self.faculties.words.waiting(self.task)
        for word in waiting:
            message = new_message_id()
            await self.faculties.words.give([word.number], message, self.launch.claude_session)
            self._given[message] = (word.number,)
            await self.claude.say(word.text, message)
        return bool(waiting)

    def ended(self, message: str) -> None:
        if message != self.launch.message:
            self._ended.add(message)

    @property
    def are_on_their_way(self) -> bool:
        """Claude Code was given something that no turn has taken in yet."""
        return any(message != self.launch.message for message in self._given)

    def is_only_of_words(self, turn: TurnEnded) -> bool:
        """The turn was begun by what was said, and by nothing else."""
        return bool(turn.heard) and all(
            message in self._given and message != self.launch.message for message in turn.heard
        )

    async def turn_ended(self, turn: TurnEnded) -> None:
        """
        What it took in is used. What Claude Code is through with, and no turn took in, was stopped
        by a hook of the user's: so it would be each time.
        """
        ended, self._ended = self._ended, set()
        if turn.is_error:
            return
        await self._use(turn.heard)
        if stopped := [one for one in ended if one in self._given]:
            await self.stopped(stopped)

    async def stopped(self, messages: Iterable[str], why: str = "") -> None:
        """A hook kept them from Claude."""
        await self.faculties.journal.record(self.events.word_stopped(why))
        await self._use(messages)

    async def _use(self, messages: Iterable[str]) -> None:
        heard = [one for one in messages if one in self._given]
        if heard:
            await self.faculties.words.use([n for one in heard for n in self._given[one]])
        for one in heard:
            del self._given[one]
