"""Turns checked data into scenes: repeats are played out, `{n}` counted, failures attached."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any

from perpetualcc.rehearsal.scenario import (
    Failure,
    FailureKind,
    OtherWindow,
    Pattern,
    Quota,
    Reply,
    Scenario,
    Scene,
    ToolCall,
    Usage,
)

LINE = "\0line"
# A scene of this many replies is about 100 MB of Claude Code transcript; beyond it is a mistake.
MOST_REPLIES = 100_000
_COUNTER = re.compile(r"\{n(?::(0?\d+))?\}")

Data = Mapping[str, Any]
Mistake = Callable[[int, str], Exception]


def stage(data: Data, *, source: str, mistake: Mistake) -> Scenario:
    """
    Build the scenario that checked data describes.

    Raises:
        Exception: what `mistake` makes of a line and a problem.
    """
    for name in data.get("files", {}):
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise mistake(data[LINE], f"the file '{name}' is outside the project")
    scenes = _Stage(data, mistake).scenes()
    return Scenario(
        name=data.get("name", Path(source).stem),
        scenes=scenes,
        source=source,
        description=data.get("description", ""),
        prompt=data.get("prompt", ""),
        files=data.get("files", {}),
        count_tokens=data.get("count_tokens"),
    )


@dataclass(frozen=True, slots=True)
class _Defaults:
    """What a step takes from its scene."""

    usage: Usage = field(default_factory=Usage)
    delay: float = 0.0

    def of(self, data: Data) -> "_Defaults":
        return _Defaults(
            usage=_usage(data.get("usage"), self.usage),
            delay=data.get("delay", self.delay),
        )


class _Stage:
    """One scenario being built; keeps how mistakes are reported."""

    def __init__(self, data: Data, mistake: Mistake) -> None:
        self._data = data
        self._mistake = mistake

    def scenes(self) -> list[Scene]:
        data = self._data
        if ("steps" in data) == ("scenes" in data):
            raise self._mistake(data[LINE], "a scenario has either `steps` or `scenes`")
        defaults = _Defaults().of(data)
        told = data["scenes"] if "scenes" in data else [{LINE: data[LINE], "steps": data["steps"]}]
        if not told:
            raise self._mistake(data[LINE], "`scenes` is empty")
        scenes = [self._scene(scene, number, defaults) for number, scene in enumerate(told, 1)]
        names = [scene.name for scene in scenes]
        for scene, one in zip(scenes, told, strict=True):
            if names.count(scene.name) > 1:
                raise self._mistake(one[LINE], f"two scenes are called `{scene.name}`")
        return scenes

    def _scene(self, data: Data, number: int, defaults: _Defaults) -> Scene:
        if "steps" not in data:
            raise self._mistake(data[LINE], "a scene needs `steps`")
        return Scene(
            name=data.get("name", f"scene {number}"),
            replies=self._replies(data["steps"], defaults.of(data)),
            when=_pattern(data.get("when")),
        )

    def _replies(self, steps: list[Data], defaults: _Defaults) -> list[Reply]:
        replies: list[Reply] = []
        failures: list[Failure] = []
        for step in self._played_out(steps):
            if len(replies) >= MOST_REPLIES:
                raise self._mistake(step[LINE], f"a scene has at most {MOST_REPLIES} replies")
            if "fail" in step:
                failures.append(self._failure(step["fail"]))
            else:
                replies.append(replace(self._reply(step, defaults), failures=tuple(failures)))
                failures.clear()
        if failures:
            replies.append(Reply(say="Done.", failures=tuple(failures), line=failures[-1].line))
        return replies

    def _played_out(self, steps: list[Data]) -> Iterator[Data]:
        for step in steps:
            self._check(step)
            if "repeat" not in step:
                yield step
                continue
            body = step.get("steps") or [{k: v for k, v in step.items() if k != "repeat"}]
            for n in range(1, int(step["repeat"]) + 1):
                for inner in self._played_out(body):
                    yield _counted(inner, n)

    def _check(self, step: Data) -> None:
        keys = {key for key in step if key != LINE}
        if "fail" in keys and len(keys) > 1:
            raise self._mistake(step[LINE], "`fail` stands alone in its step")
        if "steps" in keys and keys != {"steps", "repeat"}:
            raise self._mistake(step[LINE], "`steps` in a step goes with `repeat` and nothing else")
        if str(step.get("repeat", "")).isdecimal() and int(step["repeat"]) > MOST_REPLIES:
            raise self._mistake(step[LINE], f"a scene has at most {MOST_REPLIES} replies")
        if not keys & {"say", "tools", "ask", "fail", "steps"}:
            raise self._mistake(step[LINE], "a step needs `say`, `tools`, `ask`, `fail` or `steps`")

    def _reply(self, data: Data, defaults: _Defaults) -> Reply:
        tools = [ToolCall(name=name, input=given) for name, given in data.get("tools", ())]
        if data.get("ask"):
            tools.append(self._ask(data["ask"]))
        quota = data.get("quota")
        return Reply(
            say=data.get("say", ""),
            tools=tools,
            usage=_usage(data.get("usage"), defaults.usage),
            delay=timedelta(seconds=data.get("delay", defaults.delay)),
            takes=timedelta(seconds=data.get("takes", 0.0)),
            stop=data.get("stop", ""),
            expect=[Pattern(text) for text in data.get("expect", ())],
            on_prompt=_pattern(data.get("on_prompt")),
            once=data.get("once", False),
            quota=None if quota is None else _quota(quota),
            headers=data.get("headers", {}),
            line=data[LINE],
        )

    def _ask(self, questions: list[Data]) -> ToolCall:
        return ToolCall(
            name="AskUserQuestion", input={"questions": [self._question(one) for one in questions]}
        )

    def _question(self, data: Data) -> dict[str, Any]:
        options = data.get("options", [])
        if "question" not in data or len(options) < 2:
            raise self._mistake(data[LINE], "a question needs `question` and two to four `options`")
        for option in options:
            if "label" not in option:
                raise self._mistake(option[LINE], "an option needs a `label`")
        return {
            "question": data["question"],
            "header": data.get("header", data["question"].split()[0]),
            "options": [
                {"label": one["label"], "description": one.get("description", one["label"])}
                | {name: one[name] for name in ("preview",) if name in one}
                for one in options
            ],
            "multiSelect": data.get("multi_select", False),
        }

    def _failure(self, data: Data) -> Failure:
        try:
            kind = FailureKind(data.get("kind", ""))
        except ValueError:
            known = ", ".join(FailureKind)
            raise self._mistake(data[LINE], f"`fail` needs a `kind`, one of {known}") from None
        given = {
            word: data[word]
            for word in ("times", "window", "everyone", "status", "type", "message", "headers")
            if word in data
        }
        if "say" in data:
            given["say"] = data["say"]
        for word, name in (("in", "resets_in"), ("retry_after", "retry_after")):
            if word in data:
                given[name] = timedelta(seconds=data[word])
        return Failure(kind=kind, line=data[LINE], **given)


def _pattern(text: str | None) -> Pattern | None:
    return None if text is None else Pattern(text)


def _usage(data: Data | None, default: Usage) -> Usage:
    given = {} if data is None else {k: int(v) for k, v in data.items() if k != LINE}
    return replace(default, **given)


def _quota(data: Data) -> Quota:
    also = tuple(OtherWindow(**_window(other)) for other in data.get("also", ()))
    return Quota(**_window(data), also=also)


def _window(data: Data) -> dict[str, Any]:
    given = {word: data[word] for word in ("status", "window", "used") if word in data}
    return given | ({"resets_in": timedelta(seconds=data["in"])} if "in" in data else {})


def _counted(value: Any, n: int) -> Any:
    """Replace `{n}` (or `{n:03}`) in every text below; an inner repeat has replaced its own."""
    if isinstance(value, str):
        return _COUNTER.sub(lambda found: format(n, f"{found[1] or ''}d"), value)
    if isinstance(value, dict):
        return {_counted(key, n): _counted(inner, n) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_counted(inner, n) for inner in value)
    return value
