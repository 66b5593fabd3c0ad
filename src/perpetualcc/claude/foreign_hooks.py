"""
Hooks that are not ours and run beside the gate: of the user's settings, a project's, a plugin's.

Measured on Claude Code 2.1.330. All `PreToolUse` hooks of a call start together, ours last, and
see the input that Claude gave; that of the one which ends last counts, ours or not. What an answer
of *ask* leads to comes after all of them, with the input that came out. There, a
`PermissionRequest` hook answers beside us, and the first word counts: one that only prints had won
after 5 ms. This module knows of which tools the input may change, and whether anybody answers
beside us; what follows from it is the adapter's.
"""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

_PATIENCE = timedelta(seconds=1)
"""For hooks that are at work when we could answer: an *allow* that comes after our *ask* changes
nothing. Claude Code waits for them anyway, unless they work in the background."""
_LESS_PATIENCE = timedelta(seconds=0.1)
"""Where they took longer before."""


class ForeignHooks:
    """What is known of them in one run."""

    def __init__(self) -> None:
        self.answer_requests = True
        """One of them may answer what is asked of us. Until somebody has looked, too."""
        self._running: dict[str, str] = {}
        """Tools whose call they look at, by hook."""
        self._rewritten: set[str] = set()
        """Tools of which they changed an input."""
        self._slow: set[str] = set()
        """Tools at whose calls they took too long."""
        self._one_ended = asyncio.Event()

    def listed(self, listing: Mapping[str, Any]) -> None:
        """Claude Code's own list (`get_hooks_listing`), from before the first call."""
        hooks = listing.get("hooks")
        if isinstance(hooks, list) and all(isinstance(hook, dict) for hook in hooks):
            self.answer_requests = any(hook.get("event") == "PermissionRequest" for hook in hooks)

    def saw(self, event: Mapping[str, Any]) -> None:
        """One of them began or ended. For a call, this comes before the gate hears of it."""
        of, _, tool = str(event.get("hook_name", "")).partition(":")
        hook, phase = str(event.get("hook_id", "")), event.get("subtype")
        if of == "PermissionRequest":  # an agent's or a skill's: these are not listed before
            self.answer_requests = True
        elif of == "PreToolUse" and phase == "hook_started":
            self._running[hook] = tool
        elif of == "PreToolUse" and phase == "hook_response":
            self._running.pop(hook, None)
            if "updatedInput" in str(event.get("output", "")):
                self._rewritten.add(tool)
            self._one_ended.set()

    async def leave(self, tool: str) -> bool:
        """
        Whether it is certain that a call of this tool, which the gate was asked about, keeps its
        input. Waits for hooks that are at work, a second at most.
        """
        patience = _LESS_PATIENCE if tool in self._slow else _PATIENCE
        try:
            async with asyncio.timeout(patience.total_seconds()):
                while tool in self._running.values():
                    self._one_ended.clear()
                    await self._one_ended.wait()
        except TimeoutError:
            self._slow.add(tool)
        return tool not in self._rewritten | self._slow
