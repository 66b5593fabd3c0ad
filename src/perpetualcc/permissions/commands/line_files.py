"""The files that a line has written so far: what is in them, and whether it was just fetched."""

import json
import posixpath
import re
from collections.abc import Iterable, Sequence

from perpetualcc.permissions.effects import EffectKind, Finding
from perpetualcc.permissions.protected import fold
from perpetualcc.permissions.shell.outputs import printed_by
from perpetualcc.permissions.shell.script import SimpleCommand

_LONGEST = 100_000
"""Characters of a file that are kept; of a longer one the text is not known."""
_RULE = re.compile(r"^([\w./%-][\w./% -]*):(?![=:])(?:[^=\n]*=)?([^\n;]*)(?:;(.*))?$")


class LineFiles:
    """By their paths, as the effects of the commands name them, in any spelling."""

    def __init__(self) -> None:
        self._downloads: set[str] = set()
        self.has_unpacked_download = False
        self._texts: dict[str, str | None] = {}
        self._put: list[tuple[str, str]] = []
        self.read: set[str] = set()
        """Scripts that were read through for this line, as they are before it runs."""

    def remember(
        self, command: SimpleCommand, findings: Sequence[Finding], *, is_fetched: bool
    ) -> None:
        """What `command` writes. What a build makes of the project's code is as good as that."""
        builds = any(e.kind is EffectKind.EXECUTE for f in findings for e in f.effects)
        for finding in findings:
            is_redirected = finding.part.startswith((">", "&>"))
            for effect in finding.effects:
                if effect.kind is EffectKind.WRITE and effect.target.startswith("/"):
                    if is_redirected or not builds:
                        self._write(fold(effect.target), command)
                    if is_fetched:
                        self._downloads.add(fold(effect.target))

    def __bool__(self) -> bool:
        return bool(self._texts)

    def paths(self) -> Iterable[str]:
        return self._texts

    def __contains__(self, path: str) -> bool:
        return bool(self._texts) and fold(path) in self._texts

    def touches(self, path: str) -> bool:
        """Whether it writes the file, or a folder in which that lies."""
        own = fold(path)
        return any(own == one or own.startswith(f"{one.rstrip('/')}/") for one in self._texts)

    def changed_scripts(self) -> list[str]:
        """Those that are not, when they run, what was read."""
        return [path for path in sorted(self.read) if self.touches(path)]

    def is_download(self, path: str) -> bool:
        return bool(self._downloads) and fold(path) in self._downloads

    def text(self, path: str) -> str | None:
        """All that the file holds; None where that is not known."""
        return self._texts.get(fold(path))

    def taken(self) -> list[tuple[str, str]]:
        """Each file that was written since this was asked for last, and the text, where known."""
        put, self._put = self._put, []
        return put

    def _write(self, path: str, command: SimpleCommand) -> None:
        text = _put(command)
        said = _said_to_sed(command) if text is None else text
        if said and not path.startswith("/dev/"):
            self._put.append((path, said))
        if text is not None and _appends(command):
            before = self._texts.get(path)
            text = None if before is None else f"{before}\n{text}"
        self._texts[path] = text if text is not None and len(text) <= _LONGEST else None


def _put(command: SimpleCommand) -> str | None:
    """The text that goes into the file."""
    name = posixpath.basename(command.words[0].text) if command.words else ""
    if name != "tee":
        return printed_by(command)
    sources = command.upstream
    return command.stdin if not sources else printed_by(sources[0]) if len(sources) == 1 else None


def _said_to_sed(command: SimpleCommand) -> str:
    """What `sed -i` may put into a file, one part of its script a line."""
    if not command.words or posixpath.basename(command.words[0].text) not in {"sed", "gsed"}:
        return ""
    return "\n".join(_parts(word.text) for word in command.words[1:])


def _parts(script: str) -> str:
    """`s/old/new/` with its parts on lines of their own."""
    match = re.match(r"[\d,$]*s([^\w\s\\])", script)
    if match is None:
        return script
    mark = re.escape(match[1])
    return re.sub(rf"(?<!\\){mark}", "\n", script).replace(f"\\{match[1]}", match[1])


def _appends(command: SimpleCommand) -> bool:
    words = [word.text for word in command.words[1:]]
    return any(r.operator in {">>", "&>>"} for r in command.redirections) or "-a" in words


_TASK_LINE = re.compile(r"^\s+(?:-\s+)?(?:cmds?:\s*)?\[?(.*?)\]?$")
_TASK_SETTING = re.compile(
    r"^\s*(?:run|commands?|cmds?|script|shell|[\w-]+)\s*=\s*(\[.*\]|\"{3}.*|\"[^\"]*\"|'[^']*'|[^\[\"'].*)$"
)
_LISTED = re.compile(r"[\[\],\"']+")


def task_lines(name: str, text: str) -> str:
    """The shell code of all tasks in a `package.json`, a justfile or a Taskfile."""
    if name.endswith((".toml", ".ini", ".cfg")):
        found = (_TASK_SETTING.match(line) for line in text.splitlines())
        set_lines = [_LISTED.sub(" ", match[1]) for match in found if match]
        return "\n".join((*set_lines, " ".join(set_lines)))
    if not name.endswith((".json", ".jsonc")):
        found = (_TASK_LINE.match(line) for line in text.splitlines())
        return "\n".join(match[1].lstrip("@-") for match in found if match)
    try:
        told = json.loads(text)
        tasks = [code for key in ("scripts", "tasks") for code in told.get(key, {}).values()]
        return "\n".join(str(c.get("command", "") if isinstance(c, dict) else c) for c in tasks)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return ""


def recipes(makefile: str, goals: Iterable[str]) -> str:
    """The shell code that `make` runs for these goals (or the first) and for what they need."""
    needs: dict[str, list[str]] = {}
    code: dict[str, list[str]] = {}
    current: list[str] = []
    for line in makefile.splitlines():
        if line.startswith("\t"):
            for name in current:
                code[name].append(line.strip().lstrip("@+-"))
        elif match := _RULE.match(line):
            current = match[1].split()
            for name in current:
                needs.setdefault(name, []).extend(match[2].split())
                code.setdefault(name, []).extend([match[3]] if match[3] else [])
    wanted = [*goals] or [name for name in needs if not name.startswith(".")][:1]
    seen: dict[str, None] = {}
    while wanted:
        name = wanted.pop()
        if name not in seen:
            seen[name] = None
            wanted += needs.get(name, [])
    return "\n".join(line for name in seen for line in code.get(name, ()))
