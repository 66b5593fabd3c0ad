"""
Notices a run that goes round in circles: progress is what was done, not what was said.

The patterns are those that ran up bills elsewhere: the same few calls with the same results again
and again, calls that are refused and tried anew, replies that do nothing, and a long time without
anything new.
"""

import hashlib
import json
import re
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.tools import WRITERS, ToolCall

_DOERS = WRITERS | {"Bash", "TodoWrite", "TaskCreate", "TaskUpdate"}
"""Tools whose success may be progress: diffs, tests, task state; a command that only shows is
none."""
_SHOWS = frozenset(
    {
        "cat",
        "cd",
        "cut",
        "date",
        "df",
        "diff",
        "du",
        "echo",
        "env",
        "file",
        "grep",
        "head",
        "jq",
        "less",
        "ls",
        "more",
        "nl",
        "od",
        "printenv",
        "printf",
        "ps",
        "pwd",
        "rg",
        "sort",
        "stat",
        "tail",
        "tr",
        "tree",
        "true",
        "uniq",
        "wc",
        "which",
    }
)
_WAITS = frozenset({"BashOutput", "Monitor", "TaskOutput"})
"""Tools that wait for what goes on elsewhere: asking again is no circle."""
_LONGEST_CIRCLE = 4
"""So many different calls at most: run the test, read the file, undo, edit."""
_GIT_SHOWS = frozenset({"status", "log", "diff", "show", "blame", "ls-files", "rev-parse"})


@dataclass(frozen=True, slots=True, kw_only=True)
class StuckSettings:
    """`[stuck]`: when a run is ended because it gets nowhere. 0 turns a rule off."""

    same_call: int = 6
    """So often the same call with the same result, or the same two to four in turn."""
    denials: int = 5
    """So many refused calls of the same kind, with nothing done in between."""
    idle_replies: int = 12
    """So many replies in a row that use no tool."""
    minutes: float = 30.0
    """So long without a new edit, command that does something, or task state that succeeds."""

    def __post_init__(self) -> None:
        if min(self.same_call, self.denials, self.idle_replies, self.minutes) < 0:
            raise PerpetualError(
                "The numbers of '[stuck]' cannot be negative", hint="0 turns a rule off"
            )
        for name, usual in (("same_call", 6), ("denials", 5)):
            if getattr(self, name) == 1:
                raise PerpetualError(
                    f"'stuck.{name}' of 1 would end every run",
                    hint=f"pcc config set stuck.{name} {usual}; 0 turns the rule off",
                )


@dataclass(slots=True, kw_only=True)
class StuckWatch:
    """Watches one run. Each method says why the run is stuck, or nothing."""

    settings: StuckSettings
    since: float
    """Seconds of a steady clock, of the last progress; at first, of the start."""
    heard: float = 0.0
    """The same, of the last that came from the run or for it."""
    _calls: dict[str, deque[tuple[str, str]]] = field(default_factory=dict)
    """The latest calls of each agent: which, with the result it had the last time, and a name."""
    _results: dict[str, str] = field(default_factory=dict)
    _idle: int = 0
    _denied: Counter[str] = field(default_factory=Counter)
    _done: set[str] = field(default_factory=set)

    def called(self, call: ToolCall, *, is_allowed: bool, agent: str = "") -> str:
        """A call was let through or refused. `agent`: the subagent that made it, if one did."""
        self._idle = 0
        if circle := self._circle(call, agent):
            return circle
        if is_allowed:
            return ""
        self._denied[_kind(call)] += 1
        times = self._denied[_kind(call)]
        if _reached(times, self.settings.denials):
            return f"{times} calls of the same kind were refused: {_kind(call)}"
        return ""

    def _circle(self, call: ToolCall, agent: str) -> str:
        """The latest calls of this agent are the same few, whatever their order."""
        times = self.settings.same_call
        if times < 2 or _waits(call):
            return ""
        key = _key(call)
        latest = self._calls.setdefault(agent, deque(maxlen=times * _LONGEST_CIRCLE))
        latest.append((f"{key} {self._results.get(key, '')}", _kind(call)))
        for length in range(1, len(latest) // times + 1):
            circle = dict(list(latest)[-length * times :])
            if len(circle) <= length:
                those = "call" if length == 1 else f"{length} calls"
                names = ", ".join(dict.fromkeys(circle.values()))
                return f"the same {those} {times} times in a row: {names}"
        return ""

    def ended(self, call: ToolCall, *, is_error: bool, now: float, result: str = "") -> str:
        """
        A call that was let through has its result; a subagent's end is told with one.
        `result`: what tells one result from another.
        """
        self._idle = 0
        self._results[_key(call)] = result
        is_new = call.tool in _DOERS and _key(call) not in self._done
        if not is_error and is_new and not only_looks(call):
            self._done.add(_key(call))
            self._denied.clear()
            self.since = now
        return self.looked_at(now)

    def replied(self, now: float) -> str:
        """
        Claude replied; a call that follows is reported by itself, unless Claude Code refuses it
        because it is none (a wrong input, a tool that is not there).
        """
        self._idle += 1
        if _reached(self._idle, self.settings.idle_replies + 1):
            return f"{self._idle - 1} replies in a row did nothing"
        return self.looked_at(now)

    def waited(self, now: float) -> None:
        """A person took their time; that is nobody's standstill."""
        self.since = now

    def told(self, now: float) -> None:
        """A person said what to do: whatever it did before is no circle with what it does now."""
        self._calls.clear()
        self._denied.clear()
        self._idle = 0
        self.waited(now)

    def silent(self, now: float) -> str:
        """Nothing works, nobody is asked, and nothing comes: the process hangs."""
        minutes = self.settings.minutes
        if minutes and now - max(self.since, self.heard) >= minutes * 60:
            return f"Claude Code was silent for {minutes:g} minutes"
        return ""

    def looked_at(self, now: float) -> str:
        minutes = self.settings.minutes
        if minutes and now - self.since >= minutes * 60:
            return f"nothing new was done for {minutes:g} minutes"
        return ""


def only_looks(call: ToolCall) -> bool:
    """Whether a shell command does nothing but show: every part of it is known to, and no file is
    written. In doubt it does something."""
    command = re.sub(r"\d?>&\d|\d?>\s*/dev/null", "", str(call.input.get("command", "")))
    if call.tool != "Bash" or ">" in command:
        return False
    parts = [part.split() for part in re.split(r"\|\||&&|[|;\n]", command)]
    found = [words for words in parts if words]
    return bool(found) and all(map(_shows, found))


def _waits(call: ToolCall) -> bool:
    """Whether a call does nothing, or nothing but show, until some time has passed."""
    return call.tool in _WAITS or "sleep" in str(call.input.get("command", "")).split()


def _shows(words: Sequence[str]) -> bool:
    if words[0] == "git":
        return len(words) > 1 and words[1] in _GIT_SHOWS
    return words[0] in _SHOWS


def _reached(count: int, limit: int) -> bool:
    return limit > 1 and count >= limit


def _key(call: ToolCall) -> str:
    text = json.dumps([call.tool, dict(call.input)], sort_keys=True, default=str)
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def _kind(call: ToolCall) -> str:
    """The tool, and of a command its first word: `Bash rm`."""
    words = str(call.input.get("command", "")).split()
    return f"{call.tool} {words[0]}" if words else call.tool
