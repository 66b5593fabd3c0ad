"""What Claude Code works on beside the conversation, and how long a turn that ended waits."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from perpetualcc.agent.servers import is_server
from perpetualcc.domain.texts import counted
from perpetualcc.domain.tools import ToolCall

_AGENTS = frozenset({"local_agent", "local_workflow"})
"""Claude Code's words (2.1.330) for what ends by itself. A command may not."""
_COMMANDS = 600.0
"""Seconds for a command: as long as Claude Code lets one take in the foreground."""
_MOST_TURNS = 5
"""Turns in a row that did nothing but wait for commands: under `Monitor` each line that one prints
makes a turn."""
_WORD = 10.0
"""Seconds from the end of the last until Claude says something to it; 0.1 was seen."""


@dataclass(slots=True)
class BackgroundWork:
    """
    Agents and commands that work on when Claude has ended its turn: when one of them ends, Claude
    Code tells it and a further turn begins. A process that is left before loses their work.
    """

    works: Mapping[str, str] = field(default_factory=dict)
    servers: set[str] = field(default_factory=set)
    """Those of them that nobody need wait for."""
    _since: float | None = None
    """When the wait began, or last changed."""
    _idle_since: float | None = None
    _idle_turns: int = 0
    """That ended in a wait, since a tool was used."""

    def changed(self, works: Mapping[str, str]) -> None:
        self.works = works
        if self.is_awaited:
            self._since = _now()

    def began(self, work: str, call: ToolCall | None) -> None:
        if call is not None and is_server(str(call.input.get("command", ""))):
            self.servers.add(work)

    @property
    def kinds(self) -> list[str]:
        """Of what is waited for."""
        return [kind for work, kind in self.works.items() if work not in self.servers]

    @property
    def is_awaited(self) -> bool:
        return self._since is not None

    @property
    def has_agents(self) -> bool:
        return any(kind in _AGENTS for kind in self.kinds)

    @property
    def in_words(self) -> str:
        """For a person, who would otherwise see nothing happen."""
        agents = sum(kind in _AGENTS for kind in self.kinds)
        numbers = {"agent": agents, "command": len(self.kinds) - agents}
        parts = [counted(number, noun) for noun, number in numbers.items() if number]
        most = "" if agents else f", {_COMMANDS / 60:.0f} minutes at most"
        return f"Claude waits for {' and '.join(parts)} in the background{most}"

    def wait(self) -> None:
        self._since = _now()
        self._idle_since = self._idle_since or self._since
        self._idle_turns += 1

    def act(self) -> None:
        """A tool is used."""
        self._idle_since, self._idle_turns = None, 0

    def begin(self) -> None:
        """A turn began."""
        self._since = None

    @property
    def is_waited_out(self) -> bool:
        if self._since is None or self.has_agents:
            return False
        if not self.kinds:
            return _now() - self._since >= _WORD
        waited = _now() - (self._idle_since or self._since)
        return waited >= _COMMANDS or self._idle_turns > _MOST_TURNS


def _now() -> float:
    """Of no clock that a person sets."""
    return asyncio.get_running_loop().time()
