"""
Advice on tool calls of MEDIUM risk: yes to what is local, reversible and inside the project.

It takes a line as the permissions have read it, part by part: one reading of a command is enough,
and that one belongs to `permissions/`.
"""

import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path, PurePath

from perpetualcc.brain.rules.own_worktree import settles_in_its_worktree
from perpetualcc.domain.decisions import Advice
from perpetualcc.domain.tools import WRITERS, Assessment, Risk, ToolCall

CONFIDENCE = 0.75

# A branch is made from here only: another start brings files that nobody looked at. Long options
# may be shortened, short ones joined; `cp -r x/. .` brings whatever is in x.
_LOCAL_COMMANDS = re.compile(
    r"""^\s*(?:
        git\s+(?:add|status|stash\s+list)\b[^;&|<>`$\n]*
      | git\s+(?:log|diff|show)\b(?!.*\s--ou(?!rs))[^;&|<>`$\n]*
      | git\s+(?:switch\s+-c|checkout\s+-b)\s+[\w./][\w./-]*\s*
      | git\s+commit\b(?!.*\s(?:--am|--no-v|-[a-zA-Z]*n))[^;&|<>`$\n]*
      | (?:mkdir|touch)\b[^;&|<>`$\n]*
      | (?:cp|mv)(?!.*\s(?:-\w*[fT]|--f|--no-t))(?!.*/\.(?:\s|$))\s+[^;&|<>`$\n]*
    )$""",
    re.VERBOSE,
)
_TEXT = re.compile(
    r"""\$\(\s*cat\s+<<-?\s*(['"])(\w+)\1[ \t]*\n.*?\n\s*\2[ \t]*\n?\s*\)""", re.DOTALL
)
"""A text of several lines, as Claude Code gives it to `git commit -m`."""
_WITH_MESSAGES = (["git", "commit"], ["git", "merge"])
_SAYS = re.compile(r"-[a-zA-Z]*m|--message|--trailer")
_REDIRECTED = re.compile(r"1?>>?\s*(?P<path>[^\s>&|;]+)")
_KEPT = re.compile(r"(?:[12&]?>>?|tee(?:\s+-a)?)\s*(?P<path>[\w./-]+)")
_LOG_SUFFIXES = frozenset({".log", ".txt", ".out", ".err", ".json", ".csv", ".xml", ".diff"})
_MOVES = re.compile(r"\s*(?:\S+\s+)?\\?(?:cd|pushd|popd)\b")
_CONFIG_SUFFIXES = frozenset(
    {".toml", ".cfg", ".ini", ".json", ".yaml", ".yml", ".md", ".txt", ".rst", ".css", ".html"}
)
# Projects that keep their code at the top are as ordinary as those with a `src`; what runs by
# being there, and what the agent reads as instructions, never comes here (`permissions/`).
_SOURCE_SUFFIXES = frozenset(
    [
        ".py",
        ".pyi",
        ".ipynb",
        ".js",
        ".jsx",
        ".mjs",
        ".cjs",
        ".ts",
        ".tsx",
        ".vue",
        ".svelte",
        ".go",
        ".rs",
        ".java",
        ".kt",
        ".scala",
        ".c",
        ".h",
        ".cc",
        ".cpp",
        ".hpp",
        ".cs",
        ".rb",
        ".php",
        ".swift",
        ".dart",
        ".ex",
        ".exs",
        ".hs",
        ".lua",
        ".r",
        ".jl",
        ".sql",
        ".proto",
        ".graphql",
        ".scss",
    ]
)
_CONFIG_NAMES = frozenset(
    {
        ".gitignore",
        ".editorconfig",
        ".prettierrc",
        ".eslintrc",
        ".dockerignore",
        ".nvmrc",
        ".python-version",
        "Dockerfile",
        "Makefile",
        "Justfile",
    }
)
# Nobody's to guard, and still nothing that is written by hand or passed on.
_NOT_ORDINARY = frozenset({"node_modules", "secrets"})
_ORDINARY_SUFFIXES = _CONFIG_SUFFIXES | _SOURCE_SUFFIXES
_PATH_KEYS = ("file_path", "path", "notebook_path")


def advise(call: ToolCall, assessment: Assessment) -> Advice:
    """Approve at 0.75, or have no opinion."""
    if assessment.risk is Risk.HIGH:
        return Advice(approve=False, confidence=0.0, reason="Only a person may allow this")
    if call.tool == "Bash":
        return _advise_command(call, assessment)
    if call.tool in WRITERS:
        return _advise_write(call)
    return _unsure("Nothing is known about this tool")


def _advise_command(call: ToolCall, assessment: Assessment) -> Advice:
    """Every part that somebody must decide about, each as if it stood alone."""
    bases = _bases(call, assessment)
    if bases is None:
        return _unsure("It runs outside the project")
    reasons = [r for r in assessment.reasons if r.risk is assessment.risk]
    logs = {r.part for r in reasons if r.rule == "write-scratch" and _is_a_log(r.part)}
    logs -= {r.part for r in reasons if r.rule != "write-scratch"}
    contained = {r.part for r in assessment.reasons if r.rule == "in-its-container"}
    contained -= {r.part for r in reasons if r.rule != "containers-run"}
    parts = dict.fromkeys(r.part for r in reasons if r.part not in logs | contained)
    if contained and not parts:
        return _yes("Harmless by itself, in a container that the project describes")
    if logs and not parts:
        return _yes("Writes what was printed to the temporary directory")
    doubts = (_doubt(bases, call, part) for part in parts or [""])
    if why := next(filter(None, doubts), ""):
        return _unsure(why)
    return _yes("Local and reversible, inside the project")


def _yes(reason: str) -> Advice:
    return Advice(approve=True, confidence=CONFIDENCE, reason=reason)


def _is_a_log(part: str) -> bool:
    """`> /tmp/test.log`, `tee /tmp/out.txt`: what is printed, kept where nothing runs it."""
    found = _KEPT.fullmatch(part.strip())
    return found is not None and PurePath(found["path"]).suffix in _LOG_SUFFIXES


def _bases(call: ToolCall, assessment: Assessment) -> list[Path] | None:
    """Every folder that it may run in; None where one of them is not in the project."""
    bases = [Path(call.cwd or call.project)]
    for part in dict.fromkeys(one.part for one in assessment.reasons):
        if _MOVES.match(part):
            words = _words(part) or []
            if len(words) != 2 or not all(_is_inside(call, words[1], base) for base in bases):
                return None
            bases += [base / words[1] for base in bases]
    return bases


def _doubt(bases: Sequence[Path], call: ToolCall, part: str) -> str:
    """Why a part is for a person; empty when anybody would let it through."""
    if written := _REDIRECTED.fullmatch(part):
        advised = [_advise_path(call, written["path"], base) for base in bases]
        return next((one.reason for one in advised if not one.approve), "")
    words = _words(part)
    line = " ".join(words or [])
    is_local = _LOCAL_COMMANDS.match(line) or settles_in_its_worktree(call.project, line)
    if words is None or not is_local:
        return "Not one of the local, reversible commands"
    places = [word for word in words[1:] if not word.startswith("-")]
    if not all(_is_inside(call, word, base) for word in places for base in bases):
        return "It reaches outside the project, or into what is not ordinary there"
    return ""


def _words(part: str) -> list[str] | None:
    """Its words, those that are only said left out; None where one is known when it runs."""
    part = _TEXT.sub("text", part)
    bare = part if '"' in part else re.sub(r"'[^']*'", "", part)
    try:
        words = shlex.split(part)
    except ValueError:
        return None
    kept, is_said = words[:2], False
    for word in words[2:]:
        kept += [] if is_said else [word.partition("=")[0] if word[:10] == "--message=" else word]
        is_said = not is_said and words[:2] in _WITH_MESSAGES and bool(_SAYS.fullmatch(word))
    return None if "$" in bare or "`" in bare or any("\n" in one for one in kept) else kept


def _advise_write(call: ToolCall) -> Advice:
    path = next((call.input[key] for key in _PATH_KEYS if isinstance(call.input.get(key), str)), "")
    return _advise_path(call, path, Path(call.cwd or call.project))


def _advise_path(call: ToolCall, path: str, base: Path) -> Advice:
    if not path or not _is_inside(call, path, base):
        return _unsure("Outside the project, or not ordinary in it")
    name = PurePath(path).name
    if name in _CONFIG_NAMES or PurePath(name).suffix in _ORDINARY_SUFFIXES:
        return _yes(f"{name} is an ordinary file of the project")
    return _unsure("Not an ordinary file of a project")


def _is_inside(call: ToolCall, word: str, base: Path) -> bool:
    """Whether a word, taken as a path from `base`, stays in what is ordinary in the project."""
    if word.startswith("~") or any(sign in word for sign in "*?[{$\0"):
        return False
    root = os.path.realpath(call.project)
    place = os.path.realpath(os.path.join(base, word))  # noqa: PTH118
    if place != root and not place.startswith(f"{root.rstrip('/')}/"):
        return False
    parts = place[len(root) :].casefold().split("/")
    return _NOT_ORDINARY.isdisjoint(parts)


def _unsure(reason: str) -> Advice:
    return Advice(approve=False, confidence=0.0, reason=reason)
