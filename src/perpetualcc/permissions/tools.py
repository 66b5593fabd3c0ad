"""
Every tool of Claude Code, and what a call of it would do. An unknown tool is never LOW.

Names come from the Claude Code 2.1.332 binary. `description` and `prompt` are words for people
and models: they never change a verdict.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import unquote

from perpetualcc.domain.folders import WORKTREES
from perpetualcc.domain.secrets import holds_token
from perpetualcc.domain.texts import apart
from perpetualcc.domain.tools import Risk, ToolCall
from perpetualcc.permissions.characters import is_broken, judge_characters, plain
from perpetualcc.permissions.commands.judge import CommandJudge
from perpetualcc.permissions.commands.whole_project import fits_settings, names_secret
from perpetualcc.permissions.contents import judge_written
from perpetualcc.permissions.effects import Effect, EffectKind, Finding
from perpetualcc.permissions.knowledge import load_table
from perpetualcc.permissions.mcp import judge_mcp
from perpetualcc.permissions.paths import Territory
from perpetualcc.permissions.settings import PermissionSettings
from perpetualcc.permissions.shell.words import alternatives
from perpetualcc.permissions.skills import has_unseen_skill, own_skill, runs_commands
from perpetualcc.permissions.urls import carries_away, judge_url
from perpetualcc.permissions.worktrees import is_worktree

COMMAND_LIMIT = 400_000
"""Characters of one command. Longer ones are refused unread."""
PATH_LIMIT = 4_096
"""Longer paths exist on no system (PATH_MAX on Linux)."""

Judgement = list[Finding]


class MalformedInput(Exception):  # noqa: N818  # the name says what is wrong, as a reason does
    """A field is missing or has the wrong type."""


def judge_tool(call: ToolCall, territory: Territory, settings: PermissionSettings) -> Judgement:
    """What `call` would do. At least one finding."""
    tool, tool_input = _untrusted(call.tool), _untrusted(call.input)
    if not isinstance(tool, str) or not isinstance(tool_input, Mapping):
        return [_malformed(str(tool)[:60], "its name or input has the wrong type")]
    cwd = str(call.cwd) if call.cwd is not None else territory.project
    judge = _judge_for(tool)
    request = Request(tool, tool_input, territory, settings, cwd)
    try:
        findings = judge(request)
    except MalformedInput as malformed:
        return [_malformed(tool, str(malformed)), *_guarded_values(request)]
    limit = sys.maxsize if judge is _write else COMMAND_LIMIT
    if any(is_broken(text) or len(text) > limit for text in _texts(tool_input)):
        findings.append(_malformed(tool, "it holds what is no text, or far too much of it"))
    return findings


def _untrusted(value: Any) -> Any:
    """Claude Code sent it: whatever its declared type, it may be anything."""
    return value


class Request:
    """One call, with its input read field by field."""

    def __init__(
        self,
        tool: str,
        tool_input: Mapping[str, Any],
        territory: Territory,
        settings: PermissionSettings,
        cwd: str,
    ) -> None:
        self.tool, self.input, self.territory = tool, tool_input, territory
        self.settings, self.cwds = settings, (cwd,)

    def text(self, *names: str) -> str:
        """The first of these fields that is there. Raises MalformedInput when it is no text."""
        for name in names:
            value = self.input.get(name)
            if isinstance(value, str) and value:
                return value
            if value is not None:
                raise MalformedInput(f"{name!r} is empty or not a text")
        raise MalformedInput(f"{names[0]!r} is missing")

    def optional(self, name: str) -> str | None:
        value = self.input.get(name)
        if value is None or isinstance(value, str):
            return value or None
        raise MalformedInput(f"{name!r} is not a text")

    def finding(self, risk: Risk, rule: str, explanation: str, *effects: EffectKind) -> Finding:
        return Finding(
            risk=risk, rule=rule, part=self.tool[:80], explanation=explanation,
            kind=apart(f"tool {self.tool}"),
            effects=tuple(Effect(kind=kind, target=self.tool) for kind in effects),
        )  # fmt: skip


def _malformed(tool: str, why: str) -> Finding:
    return Finding(
        risk=Risk.MEDIUM, rule="malformed-input", part=tool, kind=apart(f"malformed {tool}"),
        explanation=f"The call cannot be understood: {why}",
        effects=(Effect(kind=EffectKind.EXECUTE),),
    )  # fmt: skip


def knows(tool: str) -> bool:
    """Whether a tool of Claude Code is judged as what it is, and not as an unknown one."""
    return tool in _TOOLS or tool in load_table("tools")["tool"]


def _judge_for(tool: str) -> Callable[[Request], Judgement]:
    judge = _TOOLS.get(tool)
    if judge is not None:
        return judge
    if tool in load_table("tools")["tool"]:
        return _listed
    return _mcp if tool.startswith("mcp__") else _unknown


def _listed(request: Request) -> Judgement:
    """A tool that is all said by one line of the table."""
    entry = load_table("tools")["tool"][request.tool]
    if names := entry.get("needs"):
        request.text(*names)
    effects = tuple(EffectKind(name) for name in entry.get("effects", ()))
    finding = request.finding(Risk(entry["risk"]), "tool", entry["explanation"], *effects)
    leaving = _leaving_tokens(request) if EffectKind.NETWORK in effects else []
    return [finding, *_guarded_values(request), *leaving]


def _unknown(request: Request) -> Judgement:
    why = f"Nothing is known about the tool {request.tool[:60]!r}"
    finding = request.finding(Risk.MEDIUM, "unknown-tool", why, *EffectKind)
    return [finding, *judge_characters(request.tool), *_guarded_values(request)]


def _mcp(request: Request) -> Judgement:
    findings = judge_mcp(
        request.tool, request.input, request.territory, request.cwds, request.settings
    )
    return [*findings, *judge_characters(request.tool), *_leaving_tokens(request)]


def _leaving_tokens(request: Request) -> Judgement:
    """A search, an address or a server's input is read by others: a token in it is given away."""
    if not any(holds_token(text) for text in _texts(request.input)):
        return []
    why = "What it sends away holds text that looks like a live token or key"
    return [request.finding(Risk.HIGH, "token-leaves", why, EffectKind.NETWORK)]


def _guarded_values(request: Request) -> Judgement:
    """Credentials that are named anywhere in the input."""
    findings = []
    for text in _texts(request.input):
        if len(text) < 400 and "\n" not in text and ("/" in text or text.startswith(".")):
            path = unquote(text.removeprefix("file://")) if text.startswith("file:") else text
            found = request.territory.read(plain(path), request.cwds, text)
            findings += [found] if found.risk is Risk.HIGH else []
    return findings


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping) and depth < 5:
        for inner in list(value.values())[:100]:
            yield from _texts(inner, depth + 1)
    elif isinstance(value, list | tuple) and depth < 5:
        for inner in value[:100]:
            yield from _texts(inner, depth + 1)


def _bash(request: Request) -> Judgement:
    command = request.text("command")
    if len(command) > COMMAND_LIMIT:
        why = f"{len(command)} characters are too long to judge"
        return [request.finding(Risk.HIGH, "too-long", why, EffectKind.EXECUTE)]
    findings = judge_characters(command)
    if request.input.get("dangerouslyDisableSandbox"):
        why = "Asks to run outside the sandbox"
        findings.append(request.finding(Risk.HIGH, "no-sandbox", why, EffectKind.EXECUTE))
    judge = CommandJudge(request.territory, request.settings.blocked_commands)
    return findings + judge.text(plain(command), request.cwds)


def _trimmed(path: str) -> str:
    """As Claude Code takes it: without blanks around it."""
    return path.strip().strip("\ufeff").strip()


def _path(request: Request, *names: str) -> tuple[str, Judgement]:
    path = _trimmed(request.text(*names))
    if len(path) > PATH_LIMIT:
        raise MalformedInput(f"a path of {len(path)} characters")
    return plain(path), judge_characters(path)


def _read(request: Request) -> Judgement:
    path, findings = _path(request, "file_path", "notebook_path", "path")
    return [*findings, request.territory.read(path, request.cwds, path)]


def _write(request: Request) -> Judgement:
    path, findings = _path(request, "file_path", "notebook_path", "path")
    written = request.territory.write(path, request.cwds, path)
    place = next((one.target for one in written.effects), path)
    return [*findings, *judge_written(place, request.territory.project, request.input), written]


def _glob(request: Request) -> Judgement:
    return _search(request, lists=True)


def _grep(request: Request) -> Judgement:
    return _search(request, lists=False)


def _search(request: Request, *, lists: bool) -> Judgement:
    pattern = request.text("pattern")
    findings = judge_characters(pattern) if lists else []
    path = _trimmed(request.optional("path") or "") or "."
    if len(path) > PATH_LIMIT or len(pattern) > PATH_LIMIT * 4:
        raise MalformedInput("a path or pattern that is too long")
    findings.append(request.territory.read(plain(path), request.cwds, path, lists=lists))
    if not lists:
        return findings + _searched(request, path, pattern)
    for name in alternatives(plain(pattern)):
        if name.startswith(("/", "~", "..")):
            findings.append(request.territory.read(name, request.cwds, name, lists=True))
    return findings


_BETWEEN_GLOBS = re.compile(r"\s+|,(?![^{]*\})")
"""Claude Code takes a glob apart there, and hands each to ripgrep."""
_ALL_GLOBS = frozenset({"*", "**", "**/*", "/**", "./**", "*.*", "**/*.*"})
"""Each stands for hidden files, and for those that git ignores, as well."""
_LEADING = re.compile(r"\*+|\?|\[[^]]*\]")
_WILD = re.compile(r"[.*?[]")


def _searched(request: Request, path: str, pattern: str) -> Judgement:
    """What ripgrep looks into, and shows: hidden files, where the globs let them in."""
    globs = [glob for glob in _BETWEEN_GLOBS.split(plain(request.optional("glob") or "")) if glob]
    names = [name for glob in globs for name in alternatives(glob) if not name.startswith("!")]
    findings = []
    if _shows_all(request, path, pattern, names):
        why = "Shows what is in all files, hidden ones such as .env too"
        findings.append(request.finding(Risk.MEDIUM, "search-all", why, EffectKind.READ))
    for name in (one for one in names if one not in _ALL_GLOBS):
        for spelling in dict.fromkeys(_as_shells_read(name)):
            below = spelling if "/" in spelling else f"**/{spelling}"
            text = f"{plain(path)}/{below}"
            findings.append(request.territory.read(text, request.cwds, text))
    return findings


def _as_shells_read(glob: str) -> Iterator[str]:
    """A glob of ripgrep, as written, and with the dot that its beginning stands for."""
    text = re.sub(r"\\(.)", r"\1", glob.replace("[^", "[!"))
    yield text
    directory, slash, name = text.rpartition("/")
    match = _LEADING.match(name)
    rest = name[match.end() :] if match is not None else ""
    if rest.startswith("."):
        yield f"{directory}{slash}{rest}"
    elif rest and not _WILD.search(rest):
        yield f"{directory}{slash}.{'*' if name[0] == '*' else ''}{rest}"


def _shows_all(request: Request, path: str, pattern: str, names: list[str]) -> bool:
    """
    A pattern that every setting fits, in all of the project; or one for secrets, with a glob that
    fits a `.env`: that is searched then though git ignores it.
    """
    if request.input.get("output_mode") != "content" or request.input.get("type") not in _ALL_TYPES:
        return False
    if not request.territory.is_all(request.territory.locate(plain(path), request.cwds).path):
        return False
    is_wide = any(
        _WIDE.match(name) and fnmatchcase(".env", name.rsplit("/", 1)[-1]) for name in names
    )
    if names and not is_wide:
        return False
    return fits_settings(pattern) or (is_wide and names_secret(pattern))


_ALL_TYPES = frozenset({None, "", "all"})
_WIDE = re.compile(r"/?(?:\./)*[*?\[]")
"""Not below a folder that is named."""


def _list_directory(request: Request) -> Judgement:
    path, findings = _path(request, "path")
    return [*findings, request.territory.read(path, request.cwds, path, lists=True)]


def _fetch(request: Request) -> Judgement:
    url = request.text("url")
    found = judge_url(url, url[:200], request.settings.trusted_hosts)
    return [*judge_characters(url), found, *_leaving_tokens(request)]


def _search_the_web(request: Request) -> Judgement:
    findings = _listed(request)
    if carries_away(request.text("query")):
        why = "So much text, or an encoded one, can carry data away"
        findings.append(request.finding(Risk.HIGH, "search-data", why, EffectKind.NETWORK))
    return findings


def _wake_up(request: Request) -> Judgement:
    """Later, by itself; or never again."""
    if request.input.get("stop") is True and not request.input.get("prompt"):
        return [request.finding(Risk.LOW, "tool", "Ends its own loop")]
    return _listed(request)


def _send_files(request: Request) -> Judgement:
    files = request.input.get("files")
    if not isinstance(files, list) or not files or not all(isinstance(one, str) for one in files):
        return _read(request)
    paths = [plain(_trimmed(one)) for one in files]
    return [request.territory.read(path, request.cwds, path) for path in paths]


def _agent(request: Request) -> Judgement:
    """Another agent under the same gate; unless it asks for another mode."""
    mode = request.input.get("mode") or request.input.get("permission_mode")
    if mode not in (None, "default", "plan", "acceptEdits"):  # may be unhashable
        why = f"Starts an agent in the mode {str(mode)[:40]!r}, past the guard"
        return [request.finding(Risk.HIGH, "agent-mode", why, EffectKind.EXECUTE)]
    if request.input.get("isolation") not in (None, "worktree"):
        why = "Starts an agent on another machine, with this project's code and past the guard"
        return [request.finding(Risk.HIGH, "agent-elsewhere", why, *_PAST_THE_GUARD)]
    request.text("prompt", "description")
    why = "Starts another agent; each of its calls is judged on its own"
    found = request.finding(Risk.LOW, "agent", why, EffectKind.READ)
    if not request.input.get("isolation"):
        return [found]
    holder = f"{request.territory.project}{WORKTREES}".rstrip("/")
    made = Effect(kind=EffectKind.WRITE, target=holder)
    return [replace(found, explanation=f"{why}, in a worktree", effects=(*found.effects, made))]


_PAST_THE_GUARD = (EffectKind.EXECUTE, EffectKind.NETWORK)
_OWN_AGENT = re.compile(r"a[0-9a-f]{16}|main")
"""What Claude Code calls a subagent of this run (2.1.330); by a name it finds other sessions."""


def _message(request: Request) -> Judgement:
    """To an agent of its own; or to another session of the person's, which has other rights."""
    to = [request.input.get(name) for name in ("to", "recipient") if name in request.input]
    if to and all(isinstance(one, str) and _OWN_AGENT.fullmatch(one) for one in to):
        why = "Tells one of its own agents something; each of its calls is judged on its own"
        return [request.finding(Risk.LOW, "agent", why, EffectKind.READ)]
    why = "Tells another session something, which may act on it with rights of its own"
    found = request.finding(Risk.MEDIUM, "other-session", why, *_PAST_THE_GUARD)
    return [replace(found, is_guarded=True), *_leaving_tokens(request)]


def _monitor(request: Request) -> Judgement:
    """A command whose lines come as they are printed, or a socket that is listened to."""
    socket = request.input.get("ws")
    if socket is None:
        return _bash(request)
    if not isinstance(socket, Mapping):
        raise MalformedInput("'ws' is no socket")
    inner = Request(request.tool, socket, request.territory, request.settings, *request.cwds)
    return _fetch(inner) + (_bash(request) if "command" in request.input else [])


def _skill(request: Request) -> Judgement:
    """
    A person's own, or one that they have seen, goes on: each call that follows is judged. Words of
    Claude's in its commands are not, and one that lies deeper in the project than what `pcc trust`
    shows is for a person.
    """
    findings = _listed(request)
    name = (request.optional("skill") or "").removeprefix("/")
    if skill := own_skill(request.territory.project, request.territory.home, name):
        runs = runs_commands(skill)
        if not (runs and (request.optional("args") or "").strip()):
            why = "Loads instructions of your own, or of a project that you trust"
            effect = EffectKind.EXECUTE if runs else EffectKind.READ
            findings[0] = request.finding(Risk.LOW, "own-skill", why, effect)
        return findings
    if not has_unseen_skill(request.territory.project):
        return findings
    why = "A directory of this project brings skills and hooks that nobody has seen"
    found = request.finding(Risk.MEDIUM, "unseen-skill", why, EffectKind.EXECUTE)
    return [replace(found, kind="unseen skill", is_guarded=True), *findings]


def _enter_worktree(request: Request) -> Judgement:
    """One that Claude Code makes in its own place (`worktrees`) is judged as the project is."""
    own = f"{request.territory.project}{WORKTREES}"
    name = request.optional("name") or "new"
    path = request.optional("path") or own + name
    is_own = set(request.input) <= {"name", "path"} and is_worktree(request.territory.project, path)
    risk = Risk.LOW if is_own else Risk.MEDIUM
    why = "Works in a worktree of this project" if is_own else "Works in a worktree elsewhere"
    found = request.finding(risk, "worktree", why)
    made = Effect(kind=EffectKind.WRITE, target=own.rstrip("/"))
    return [replace(found, effects=(made,)), *_guarded_values(request)]


def _exit_worktree(request: Request) -> Judgement:
    if request.input.get("action") == "remove":
        lost = ", and what is in no commit" if request.input.get("discard_changes") else ""
        why = f"Deletes the worktree and its branch{lost}"
        return [request.finding(Risk.HIGH, "worktree", why, EffectKind.DELETE)]
    risk = Risk.LOW if request.input.get("action") == "keep" else Risk.MEDIUM
    return [request.finding(risk, "worktree", "Leaves a worktree", EffectKind.EXECUTE)]


def _own(request: Request) -> Judgement:
    """Ours (`claude/tools.py`): they open no file, whatever paths they are asked about."""
    why = "A tool of PerpetualCC: it reads this project's index"
    return [request.finding(Risk.LOW, "own-tool", why)]


def _plan(request: Request) -> Judgement:
    """Ours: it notes what a person reads before any of it is begun."""
    why = "A tool of PerpetualCC: it notes a plan, which a person looks at"
    return [request.finding(Risk.LOW, "own-tool", why)]


_TOOLS: dict[str, Callable[[Request], Judgement]] = {
    "mcp__perpetualcc__search_code": _own,
    "mcp__perpetualcc__related_code": _own,
    "mcp__perpetualcc__propose_plan": _plan,
    "Bash": _bash,
    "Monitor": _monitor,
    "Read": _read,
    "NotebookRead": _read,
    "SendUserFile": _send_files,
    "ScheduleWakeup": _wake_up,
    "WebSearch": _search_the_web,
    "Write": _write,
    "Edit": _write,
    "MultiEdit": _write,
    "NotebookEdit": _write,
    "Glob": _glob,
    "Grep": _grep,
    "LS": _list_directory,
    "WebFetch": _fetch,
    "WebBrowser": _fetch,
    "Task": _agent,
    "Agent": _agent,
    "SendMessage": _message,
    "EnterWorktree": _enter_worktree,
    "ExitWorktree": _exit_worktree,
    "Skill": _skill,
}
