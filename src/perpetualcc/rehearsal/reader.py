"""
Reads scenario files. Every mistake is an error that names the file, the line and the key.

First the YAML tree is checked against `schema.SECTIONS` and becomes plain data (`_Reader`),
then `staging` turns the data into scenes.
"""

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.rehearsal.scenario import Scenario
from perpetualcc.rehearsal.schema import SECTIONS, Key, Kind
from perpetualcc.rehearsal.staging import LINE, stage

_DURATION = re.compile(r"^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?$")
_SECONDS = {"ms": 0.001, None: 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
# What a section may be written as, when one key says it all.
_SHORT = {"step": "say", "fail": "kind", "option": "label", "question": "question"}
_INTEGER_TEMPLATE = re.compile(r"^\d*\{n(?::0?\d+)?\}\d*$")


class ScenarioError(PerpetualError):
    """A scenario file says something that cannot be played."""

    def __init__(self, where: str, line: int, problem: str, hint: str | None = None) -> None:
        super().__init__(f"{where}, line {line}: {problem}", hint=hint)


def load_scenario(path: Path) -> Scenario:
    """
    Read a scenario file, or one that comes with the package: `question` where no such file is.

    Raises:
        PerpetualError: the file cannot be read, or holds a mistake.
    """
    if path == Path(path.stem) and not path.exists():
        path = shipped_scenario(path.stem)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PerpetualError(
            f"Cannot read the scenario '{path}': {getattr(error, 'strerror', None) or error}",
            hint="`pcc rehearse FILE.yaml` takes a scenario file, see docs/rehearsal.md",
        ) from error
    return read_scenario(text, source=str(path))


def read_scenario(text: str | Mapping[str, Any], *, source: str = "scenario") -> Scenario:
    """
    Read a scenario from YAML text, or from the same structure as a mapping.

    Raises:
        ScenarioError: an unknown key, a wrong type or a missing part, with file and line.
    """
    if not isinstance(text, str):
        text = yaml.safe_dump(dict(text), sort_keys=False, allow_unicode=True)
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ScenarioError(source, line, f"not YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise ScenarioError(source, 1, f"not YAML: {error}") from error
    if root is None:
        raise ScenarioError(source, 1, "the file is empty", hint="It needs `steps:` or `scenes:`")
    data = _Reader(source).section(root, "scenario")
    return stage(data, source=source, mistake=partial(ScenarioError, source))


def shipped_scenario(name: str) -> Path:
    """Path of a scenario that comes with the package, such as `demo`."""
    path = _shipped() / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(shipped_names())
        raise PerpetualError(f"No scenario '{name}' comes with PerpetualCC", hint=f"Known: {known}")
    return path


def shipped_names() -> list[str]:
    """What comes with the package."""
    return sorted(found.stem for found in _shipped().glob("*.yaml"))


def _shipped() -> Path:
    return Path(str(resources.files("perpetualcc.rehearsal") / "scenarios"))


class _Reader:
    """Turns YAML nodes into plain data, checking each against its table."""

    def __init__(self, source: str) -> None:
        self._source = source

    def section(self, node: yaml.Node, name: str) -> dict[str, Any]:
        short = _SHORT.get(name)
        if short and isinstance(node, yaml.ScalarNode):
            return {LINE: _line(node), short: self._text(node, short)}
        if not isinstance(node, yaml.MappingNode):
            raise self._wrong(node, f"`{name}` must be a table of keys, not {_kind(node)}")
        keys = {key.name: key for key in SECTIONS[name]}
        data: dict[str, Any] = {LINE: _line(node)}
        for key_node, value_node in node.value:
            word = str(key_node.value)
            if word not in keys:
                raise self._unknown(key_node, word, name, list(keys))
            if word in data:
                raise self._wrong(key_node, f"the key `{word}` is given twice")
            data[word] = self._value(value_node, keys[word])
        return data

    def _value(self, node: yaml.Node, key: Key) -> Any:
        match key.kind:
            case Kind.SECTION:
                return self.section(node, key.section)
            case Kind.SECTIONS:
                return [self.section(item, key.section) for item in _items(node)]
            case Kind.TOOLS:
                return [tool for item in _items(node) for tool in self._tools(item)]
            case Kind.PATTERNS:
                return [self._pattern(item, key.name) for item in _items(node)]
            case Kind.INTEGER | Kind.NUMBER | Kind.FLAG:
                return self._scalar(node, key)
            case _:
                return self._worded(node, key)

    def _worded(self, node: yaml.Node, key: Key) -> Any:
        """Read a value that is written as words."""
        read: dict[Kind, Callable[[yaml.Node, str], Any]] = {
            Kind.TEXT: self._text,
            Kind.TEXT_TABLE: self._text_table,
            Kind.PATTERN: self._pattern,
            Kind.DURATION: self._duration,
        }
        return read[key.kind](node, key.name)

    def _text(self, node: yaml.Node, word: str) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise self._wrong(node, f"`{word}` must be a text, not {_kind(node)}")
        return str(node.value)

    def _pattern(self, node: yaml.Node, word: str) -> str:
        text = self._text(node, word)
        if len(text) > 2 and text[0] == text[-1] == "/":
            try:
                re.compile(text[1:-1])
            except re.error as error:
                raise self._wrong(node, f"`{word}` is not a regular expression: {error}") from error
        return text

    def _duration(self, node: yaml.Node, word: str) -> float:
        text = self._text(node, word)
        found = _DURATION.match(text)
        if not found:
            raise self._wrong(
                node, f"`{word}` must be a duration, not '{text}'", hint="Such as 250ms, 2s or 1h"
            )
        return float(found[1]) * _SECONDS[found[2]]

    def _scalar(self, node: yaml.Node, key: Key) -> Any:
        value = _plain(node)
        if key.kind is Kind.INTEGER and _INTEGER_TEMPLATE.match(str(value)):
            return value
        wanted: dict[Kind, tuple[type, ...]] = {
            Kind.INTEGER: (int,),
            Kind.NUMBER: (int, float),
            Kind.FLAG: (bool,),
        }
        fits = isinstance(value, wanted[key.kind])
        if not fits or (isinstance(value, bool) and key.kind is not Kind.FLAG):
            raise self._wrong(node, f"`{key.name}` must be a {key.kind}, not '{node.value}'")
        if key.kind is not Kind.FLAG and value < 0:
            raise self._wrong(node, f"`{key.name}` cannot be negative")
        return value

    def _text_table(self, node: yaml.Node, word: str) -> dict[str, str]:
        if not isinstance(node, yaml.MappingNode):
            raise self._wrong(node, f"`{word}` must be a table, not {_kind(node)}")
        return {str(key.value): self._text(value, str(key.value)) for key, value in node.value}

    def _tools(self, node: yaml.Node) -> list[tuple[str, dict[str, Any]]]:
        if not isinstance(node, yaml.MappingNode):
            raise self._wrong(node, f"a tool is written `Name: {{input}}`, not {_kind(node)}")
        tools = []
        for key, value in node.value:
            given = _plain(value)
            if given is not None and not isinstance(given, dict):
                raise self._wrong(value, f"the input of `{key.value}` must be a table")
            tools.append((str(key.value), given or {}))
        return tools

    def _unknown(self, node: yaml.Node, word: str, section: str, known: list[str]) -> ScenarioError:
        close = get_close_matches(word, known, n=1, cutoff=0.5)
        guess = f"Did you mean `{close[0]}`?" if close else f"Known keys: {', '.join(known)}"
        return self._wrong(node, f"unknown key `{word}` in a {section}", hint=guess)

    def _wrong(self, node: yaml.Node, problem: str, hint: str | None = None) -> ScenarioError:
        return ScenarioError(self._source, _line(node), problem, hint)


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _items(node: yaml.Node) -> list[yaml.Node]:
    """A list's items; one thing alone is a list of one."""
    return list(node.value) if isinstance(node, yaml.SequenceNode) else [node]


def _kind(node: yaml.Node) -> str:
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    return "a table" if isinstance(node, yaml.MappingNode) else f"'{node.value}'"


def _plain(node: yaml.Node) -> Any:
    """What `safe_load` would have made of this part of the tree."""
    loader = yaml.SafeLoader("")
    try:
        return loader.construct_document(node)
    finally:
        loader.dispose()
