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
from perpetualcc.rehearsal.scenario import Failure, FailureKind, Reply, Scenario, Scene, ToolCall

NO_MORE_STEPS = "(the scenario has no more steps)"
NO_SCENE = "(no scene of the scenario is for this prompt)"
WAITS = "(the scenario waits for another prompt)"
# How Claude Code begins the request that compacts a conversation (2.1.330).
_COMPACTION = "Your task is to create a detailed summary of"
_DIRECTORY = re.compile(r"(?:[Ww]orking directory|cwd): (/[^\n]*)")
_VARIABLE = re.compile(r"\{(project|prompt)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """What one request is to hear."""

    reply: Reply
    scene: Scene | None = None
    step: int | None = None
    """Which reply of the scene this is; nothing for what is outside the script."""
    failure: Failure | None = None
    resets_at: float = 0.0
    mismatches: Sequence[str] = ()
    overflow: bool = False


@dataclass(slots=True)
class Director:
    """Plays one scenario to any number of conversations."""

    scenario: Scenario
    _given: dict[str, int] = field(default_factory=dict)
    """Scenes given out in order of arrival, by session id."""
    _met: Counter[tuple[str, int, int]] = field(default_factory=Counter)
    _resets: dict[tuple[str, int, int], float] = field(default_factory=dict)
    _account: tuple[float, Failure] | None = None

    def cue(self, body: Mapping[str, Any], session: str) -> Cue:
        """Decide what this request hears. `session` tells apart who asks."""
        messages = body.get("messages", [])
        if not body.get("tools"):
            return Cue(reply=Reply(say=_aside(messages)))
        number = self._scene_number(messages, session)
        if number is None:
            return Cue(reply=Reply(say=NO_SCENE), overflow=True)
        scene = self.scenario.scenes[number]
        place = _after_prompt(scene, standing(scene, messages))
        if _COMPACTION in message_text(messages[-1]):
            return Cue(reply=Reply(say=f"What was done so far. {mark(scene.name, place.step)}"))
        return self._play(scene, place, session, body)

    def number_of(self, scene: Scene) -> int:
        return self.scenario.scenes.index(scene)

    def _play(self, scene: Scene, place: Standing, session: str, body: Mapping[str, Any]) -> Cue:
        if place.step >= len(scene.replies):
            return Cue(reply=Reply(say=NO_MORE_STEPS), scene=scene, overflow=True)
        reply = scene.replies[place.step]
        if reply.on_prompt and not reply.on_prompt.matches(place.prompt):
            return Cue(reply=Reply(say=WAITS), scene=scene, overflow=True)
        reply = _filled(reply, body)
        found = self._failing(reply, f"{session}/{scene.name}", place.step)
        if found:
            failure, resets_at = found
            return Cue(
                reply=reply, scene=scene, step=place.step, failure=failure, resets_at=resets_at
            )
        mismatches = [
            f"{self.scenario.source}, line {reply.line}: expected {pattern.source!r}, "
            f"got {place.news[-500:]!r}"
            for pattern in reply.expect
            if not pattern.matches(place.news)
        ]
        return Cue(reply=reply, scene=scene, step=place.step, mismatches=mismatches)

    def _failing(self, reply: Reply, who: str, step: int) -> tuple[Failure, float] | None:
        now = time.time()
        if self._account and now < self._account[0]:
            return self._account[1], self._account[0]
        for number, failure in enumerate(reply.failures):
            key = (who, step, number)
            if failure.kind is FailureKind.USAGE_LIMIT:
                resets_at = self._resets.setdefault(key, now + failure.resets_in.total_seconds())
                if now < resets_at:
                    self._account = (resets_at, failure) if failure.everyone else self._account
                    return failure, resets_at
            elif self._met[key] < failure.times:
                self._met[key] += 1
                return failure, 0.0
        return None

    def _scene_number(self, messages: Sequence[dict[str, Any]], session: str) -> int | None:
        played = played_scene(messages)
        if played is not None and played < len(self.scenario.scenes):
            return played
        named = marked_scene(messages)
        prompt = first_prompt(messages)
        for number, scene in enumerate(self.scenario.scenes):
            if scene.name == named or (scene.when and scene.when.matches(prompt)):
                return number
        return self._next_in_order(session)

    def _next_in_order(self, session: str) -> int | None:
        open_scenes = [n for n, scene in enumerate(self.scenario.scenes) if scene.when is None]
        if not open_scenes:
            return None
        if session not in self._given:
            self._given[session] = open_scenes[min(len(self._given), len(open_scenes) - 1)]
        return self._given[session]


def _after_prompt(scene: Scene, place: Standing) -> Standing:
    """Jump ahead when a prompt came that a later step waits for."""
    for step in range(place.step, len(scene.replies)):
        waits_for = scene.replies[step].on_prompt
        if waits_for and waits_for.matches(place.prompt):
            return replace(place, step=step)
    return place


def _aside(messages: Sequence[dict[str, Any]]) -> str:
    """Answer to a side request (a title, a summary, a check)."""
    return "Rehearsal" if messages else ""


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
