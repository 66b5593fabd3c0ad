"""The tool calls of a run that have no result yet."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from perpetualcc.agent.inbox import ToolWanted
from perpetualcc.domain.ids import RequestId
from perpetualcc.domain.tools import ToolCall

_CALLERS = frozenset({"Agent", "Task", "Skill"})
"""Tools whose call may last as long as an agent of its own works."""


def calls_an_agent(tool: str) -> bool:
    return tool in _CALLERS


@dataclass(slots=True)
class CallsInHand:
    """Which calls were announced, which were let through, and which of these call an agent."""

    at_work: dict[RequestId, ToolCall] = field(default_factory=dict)
    """Let through, and no result yet."""
    calling: dict[RequestId, ToolCall] = field(default_factory=dict)
    """The same of those that call an agent: at work is what that one calls, if anything."""
    announced: dict[RequestId, ToolWanted] = field(default_factory=dict)
    """Made by Claude itself, let through or not; a subagent's calls are not announced."""
    heard: set[RequestId] = field(default_factory=set)
    """We were asked about them. Claude Code refuses some by itself: their input is wrong."""

    def announce(self, calls: Iterable[ToolWanted]) -> None:
        self.announced |= {call.request: call for call in calls}

    def unheard(self, request: RequestId) -> ToolWanted | None:
        """An announced call about which nobody asked us."""
        return None if request in self.heard else self.announced.get(request)

    def begin(self, request: RequestId, call: ToolCall) -> None:
        works = self.calling if calls_an_agent(call.tool) else self.at_work
        works[request] = call

    def take_back(self, request: RequestId) -> ToolCall | None:
        """A call that was let through does not work after all."""
        return self.at_work.pop(request, None) or self.calling.pop(request, None)

    def end(self, request: RequestId) -> ToolCall | None:
        """The call that has its result now, if it had been let through."""
        self.announced.pop(request, None)
        self.heard.discard(request)
        return self.take_back(request)

    @property
    def leave_only_agents(self) -> bool:
        """Every announced call that has no result calls an agent."""
        return self.announced.keys() <= self.calling.keys()
