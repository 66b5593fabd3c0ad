"""Debuggers: `gdb -batch -ex bt` looks, `gdb -ex 'shell rm x'` does whatever it likes."""

import re

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.call import Call, Findings, handles
from perpetualcc.permissions.effects import EffectKind, Finding

_LOOKING = frozenset(
    {"run", "r", "start", "starti", "bt", "backtrace", "where", "info", "i", "print", "p",
     "list", "l", "frame", "f", "up", "down", "thread", "t", "break", "b", "tbreak", "next", "n",
     "continue", "c", "step", "s", "finish", "x", "disassemble", "display", "quit", "q", "kill",
     "watch", "ptype", "help", "show", "register", "breakpoint", "process",
     "image", "target", "settings"}
)  # fmt: skip
"""First words of debugger commands that look, or run the program that is looked at."""
_PLAIN_SETTINGS = re.compile(
    r"set (?:args|pagination|confirm|print|width|height|breakpoint|disassembly-flavor)\b"
)
_REACHES_OUT = re.compile(r"[$`|;&<>(!]")
"""Characters with which such a command calls a function, a shell or a file."""


@handles("debugger")
def debugger(call: Call) -> Findings:
    """`gdb -batch -ex run --args ./app`: some of its commands run programs."""
    rest = call.arguments.rest
    given = [g.value.text for g in call.arguments.given if g.name in _COMMANDS and g.value]
    typed = (call.command.stdin or "").splitlines()
    findings = [found for text in given + typed if (found := _debugging(text, call)) is not None]
    if call.command.upstream or not (given or typed):
        why = "Starts a debugger that waits for commands"
        findings.append(call.finding(Risk.MEDIUM, "debugger", why, EffectKind.EXECUTE))
    start = next((n for n, word in enumerate(rest) if word.text in _PROGRAM_FOLLOWS), None)
    if start is not None:
        return findings + call.judge.words(rest[start + 1 :], call)
    program = call.arguments.operands[:1]
    return findings + [f for word in program for f in call.judge.script_file(word, call)]


_COMMANDS = frozenset({"-ex", "-eval-command", "--eval-command", "-iex", "-o", "--one-line", "-O"})
_PROGRAM_FOLLOWS = frozenset({"--args", "-args", "--"})


def _debugging(text: str, call: Call) -> Finding | None:
    words = text.split()
    is_known = not words or words[0] in _LOOKING or _PLAIN_SETTINGS.match(text.strip())
    if is_known and not _REACHES_OUT.search(text):
        return None
    why = f"{text[:60]!r}: a debugger's commands can run programs"
    return call.finding(Risk.HIGH, "debugger", why, EffectKind.EXECUTE)
