"""
Decides what a request hears: which scene, which step, and whether something fails first.

Only failures are counted here (nothing in a request tells that an earlier one was refused);
everything else is read from the request, see `position`.
"""

import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from perpetualcc.rehearsal.position import (
    Standing,
    first_prompt,
    mark,
    marked_scene,
    message_text,
    played_scene,
    standing,
)
from perpetualcc.rehearsal.records import Recorded
from perpetualcc.rehearsal.scenario import Failure, FailureKind, Reply, Scenario, Scene, ToolCall

NO_MORE_STEPS = "(the scenario has no more steps)"
NO_SCENE = "(no scene of the scenario is for this prompt)"
WAITS = "(the scenario waits for another prompt)"
# How Claude Code begins the request that compacts a conversation (2.1.330).
_COMPACTION = "Your task is to create a detailed summary of"
# Side requests: titles, checks, and agents for which the scenario has no scene.
_ASIDE = "Done."
# What a model says that is told to stop because nobody is there to allow its tools.
_STOPPED = "I stop here and wait."
_DIRECTORY = re.compile(r"(?:[Ww]orking directory|cwd): (/[^\n]*)")
_VARIABLE = re.compile(r"\{(project|prompt)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who asks: a Claude Code session, or an agent that works for one."""

    session: str
    agent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """The failure that a request meets."""

    failure: Failure
    number: int
    """Which failure of its step this is, counted from 0."""
    resets_at: float = 0.0
    """Epoch seconds, of a usage limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """What one request is to hear."""

    reply: Reply
    scene: Scene | None = None
    step: int | None = None
    """Which reply of the scene this is; nothing for what is outside the script."""
    refusal: Refusal | None = None
    mismatches: Sequence[str] = ()
    overflow: bool = False
    fresh: Sequence[dict[str, Any]] = ()
    """The messages since the last scripted reply."""

    @property
    def told(self) -> str:
        """The word for it in records."""
        if self.refusal is not None:
            return self.refusal.failure.kind.value
        if self.overflow:
            return "overflow"
        return "aside" if self.step is None else "reply"


@dataclass(slots=True)
class Director:
    """Plays one scenario to any number of conversations."""

    scenario: Scenario
    pace: float = 1.0
    """Every wait of the script is multiplied by this; 0 plays without waits."""
    _given: dict[str, int] = field(default_factory=dict)
    """Scenes given out in order of arrival, by session id."""
    _met: Counter[tuple[str, str | None, int | None, int]] = field(default_factory=Counter)
    """How often a failure was met: session (none for everyone's), scene, step, number."""
    _resets: dict[tuple[str, str | None, int | None, int], float] = field(default_factory=dict)
    _account: tuple[float, Refusal] | None = None

    def recall(self, record: Recorded) -> None:
        """Count what an earlier server told, so that a failure is not met again."""
        if record.failure is None:
            return
        session = "" if self._is_of_everyone(record) else record.session
        key = (session, record.scene, record.step, record.failure)
        self._met[key] += 1
        if record.resets_at:
            self._resets[key] = record.resets_at

    def _is_of_everyone(self, record: Recorded) -> bool:
        for scene in self.scenario.scenes:
            if scene.name == record.scene and record.step is not None:
                failures = scene.replies[record.step].failures
                return failures[record.failure or 0].everyone
        return False

    def cue(self, body: Mapping[str, Any], caller: Caller) -> Cue:
        """Decide what this request hears."""
        messages = body["messages"]
        if not body.get("tools"):
            return Cue(reply=Reply(say=_ASIDE), fresh=messages)
        number = self._scene_number(messages, caller)
        if number is None:
            say = _ASIDE if caller.agent else NO_SCENE
            return Cue(reply=Reply(say=say), overflow=not caller.agent, fresh=messages)
        scene = self.scenario.scenes[number]
        place = standing(scene, messages)
        if _COMPACTION in message_text(messages[-1]):
            return Cue(reply=Reply(say=_summary(scene, place)), fresh=messages[-1:])
        if place.told_to_stop:
            return Cue(reply=Reply(say=_STOPPED), fresh=place.fresh)
        cue = self._play(scene, place, body, caller)
        return replace(cue, scene=scene, fresh=place.fresh)

    def number_of(self, scene: Scene) -> int:
        return self.scenario.scenes.index(scene)

    def _play(self, scene: Scene, place: Standing, body: Mapping[str, Any], caller: Caller) -> Cue:
        if place.step >= len(scene.replies):
            return Cue(reply=Reply(say=NO_MORE_STEPS), overflow=True)
        reply = scene.replies[place.step]
        if reply.on_prompt and not reply.on_prompt.matches(place.prompt):
            return Cue(reply=Reply(say=WAITS), overflow=True)
        refusal = self._refusal(reply, (caller.session, scene.name, place.step))
        if refusal:
            return Cue(reply=reply, step=place.step, refusal=refusal)
        mismatches = [
            f"{self.scenario.source}, line {reply.line}: expected {pattern.source!r}, "
            f"got {place.news[-500:]!r}"
            for pattern in reply.expect
            if not pattern.matches(place.news)
        ]
        return Cue(reply=self._paced(_filled(reply, body)), step=place.step, mismatches=mismatches)

    def _paced(self, reply: Reply) -> Reply:
        return replace(reply, delay=reply.delay * self.pace, takes=reply.takes * self.pace)

    def _refusal(self, reply: Reply, where: tuple[str, str, int]) -> Refusal | None:
        now = time.time()
        if self._account and now < self._account[0]:
            return self._account[1]
        for number, failure in enumerate(reply.failures):
            # The account's own limit comes once, whoever is first to meet it.
            key = ("" if failure.everyone else where[0], *where[1:], number)
            if failure.kind is FailureKind.USAGE_LIMIT:
                resets_at = self._resets.setdefault(key, now + failure.resets_in.total_seconds())
                if now < resets_at:
                    refusal = Refusal(failure=failure, number=number, resets_at=resets_at)
                    self._account = (resets_at, refusal) if failure.everyone else self._account
                    return refusal
            elif self._met[key] < failure.times:
                self._met[key] += 1
                return Refusal(failure=failure, number=number)
        return None

    def _scene_number(self, messages: Sequence[dict[str, Any]], caller: Caller) -> int | None:
        played = played_scene(messages)
        if played is not None and played < len(self.scenario.scenes):
            return played
        named, prompt = marked_scene(messages), first_prompt(messages)
        for number, scene in enumerate(self.scenario.scenes):
            if scene.name == named:
                return number
        for number, scene in enumerate(self.scenario.scenes):
            if scene.when and scene.when.matches(prompt):
                return number
        return None if caller.agent else self._next_in_order(caller.session)

    def _next_in_order(self, session: str) -> int | None:
        open_scenes = [n for n, scene in enumerate(self.scenario.scenes) if scene.when is None]
        if not open_scenes:
            return None
        if session not in self._given:
            self._given[session] = open_scenes[min(len(self._given), len(open_scenes) - 1)]
        return self._given[session]


def _summary(scene: Scene, place: Standing) -> str:
    """What a compacted conversation keeps: where it stands."""
    return f"<summary>What was done so far. {mark(scene.name, place.step)}</summary>"


def _filled(reply: Reply, body: Mapping[str, Any]) -> Reply:
    """Put the request's own values where the script has `{project}` and `{prompt}`."""
    values = {
        "project": project_directory(body),
        "prompt": first_prompt(body.get("messages", [])),
    }

    def fill(value: Any) -> Any:
        if isinstance(value, str):
            return _VARIABLE.sub(lambda found: values[found[1]], value)
        if isinstance(value, dict):
            return {key: fill(inner) for key, inner in value.items()}
        return [fill(inner) for inner in value] if isinstance(value, list) else value

    tools = [ToolCall(name=call.name, input=fill(dict(call.input))) for call in reply.tools]
    return replace(reply, say=fill(reply.say), tools=tools)


def project_directory(body: Mapping[str, Any]) -> str:
    """Where Claude Code works, as its request says; `.` when it does not."""
    system = body.get("system", "")
    text = system if isinstance(system, str) else "\n".join(str(b.get("text")) for b in system)
    texts = [text, *(message_text(message) for message in body.get("messages", [])[:2])]
    for one in texts:
        found = _DIRECTORY.search(one)
        if found:
            return found[1].strip()
    return "."
