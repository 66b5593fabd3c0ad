"""
Advice on tool calls of MEDIUM risk: yes to what is local, reversible and inside the project.

It reads the rules that the permissions found, never the command again: one reading of a command
is enough, and that one belongs to `permissions/`.
"""

import os
import re
from pathlib import PurePath

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
_QUOTES = re.compile(r"[\"'\\]")
"""With which `-'n'` would be another word than `-n`."""
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
    command = call.input.get("command")
    if call.tool == "Bash" and isinstance(command, str):
        return _advise_command(call, command)
    if call.tool in WRITERS:
        return _advise_write(call)
    return _unsure("Nothing is known about this tool")


def _advise_command(call: ToolCall, command: str) -> Advice:
    command = _QUOTES.sub("", command)
    if not _LOCAL_COMMANDS.match(command):
        return _unsure("Not one of the local, reversible commands")
    words = command.split()
    if not all(_is_inside(call, word) for word in words[1:] if not word.startswith("-")):
        return _unsure("It reaches outside the project, or into what is not ordinary there")
    return Advice(
        approve=True, confidence=CONFIDENCE, reason="Local and reversible, inside the project"
    )


def _advise_write(call: ToolCall) -> Advice:
    path = next((call.input[key] for key in _PATH_KEYS if isinstance(call.input.get(key), str)), "")
    if not path or not _is_inside(call, path):
        return _unsure("Outside the project, or not ordinary in it")
    name = PurePath(path).name
    if name in _CONFIG_NAMES or PurePath(name).suffix in _ORDINARY_SUFFIXES:
        return Advice(
            approve=True, confidence=CONFIDENCE, reason=f"{name} is an ordinary file of the project"
        )
    return _unsure("Not an ordinary file of a project")


def _is_inside(call: ToolCall, word: str) -> bool:
    """Whether a word, taken as a path, stays in the project and in what is ordinary there."""
    if word.startswith("~") or any(sign in word for sign in "*?[{$\0"):
        return False
    root = os.path.realpath(call.project)
    place = os.path.realpath(os.path.join(call.cwd or call.project, word))  # noqa: PTH118
    if place != root and not place.startswith(f"{root.rstrip('/')}/"):
        return False
    parts = place[len(root) :].casefold().split("/")
    return _NOT_ORDINARY.isdisjoint(parts)


def _unsure(reason: str) -> Advice:
    return Advice(approve=False, confidence=0.0, reason=reason)
