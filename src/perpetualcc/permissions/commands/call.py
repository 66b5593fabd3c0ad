"""One program call on its way to be judged: what every rule needs to know about it."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.arguments import Arguments
from perpetualcc.permissions.commands.knowledge import Knowledge
from perpetualcc.permissions.commands.line_files import LineFiles
from perpetualcc.permissions.effects import Effect, EffectKind, Finding
from perpetualcc.permissions.paths import Territory
from perpetualcc.permissions.shell.directories import Directories
from perpetualcc.permissions.shell.script import Assignment, SimpleCommand, Word
from perpetualcc.permissions.urls import judge_url

Findings = list[Finding]
_WEB = re.compile(r"(?:https?|ftp)://", re.IGNORECASE)
"""Many a program that reads files reads from the network as well."""


class Judge(Protocol):
    """What a rule about one program may ask about others."""

    territory: Territory
    knowledge: Knowledge
    files: LineFiles
    assigned: list[Assignment]
    """What this line has given variables so far."""
    exported: set[str]
    """Variables that it has exported so far, whatever they hold."""
    exports_all: bool
    """`set -a`: all of them are."""

    def environment(self, own: Sequence[Assignment]) -> Sequence[Assignment]:
        """What the line gives a program with `own` before it, and exported, with each value."""
        ...

    def variable(self, assignment: Assignment, command: SimpleCommand) -> "Findings":
        """Judge giving `assignment` to the programs that `command` runs."""
        ...

    def words(self, words: Sequence[Word], call: "Call") -> Findings:
        """Judge `words` as a command that `call` runs."""
        ...

    def shell(self, text: str, call: "Call") -> Findings:
        """Judge `text` as shell code that `call` runs."""
        ...

    def script_file(self, word: Word, call: "Call") -> Findings:
        """Judge running the file that `word` names."""
        ...

    def script(self, path: str, text: str, call: "Call") -> Findings:
        """Judge `text` of the file `path` as a shell of its own runs it; empty: it is too much."""
        ...

    def earlier(self) -> Sequence[SimpleCommand]:
        """The commands of this line, or of lines in it, that were judged before."""
        ...

    def found(self, commands: Sequence[SimpleCommand]) -> Findings:
        """What was found in these, which were judged before."""
        ...


@dataclass(slots=True)
class Call:
    """A simple command, its arguments, and the judge to ask about parts of it."""

    judge: Judge
    command: SimpleCommand
    arguments: Arguments
    depth: int
    cwds: Directories = ()
    part: str = ""

    def finding(
        self, risk: Risk, rule: str, explanation: str, *effects: EffectKind, kind: str = ""
    ) -> Finding:
        """A finding about this call as a whole."""
        return Finding(
            risk=risk,
            rule=rule,
            part=self.part,
            explanation=explanation,
            kind=kind or self.arguments.path or rule,
            effects=tuple(Effect(kind=effect, target=self.arguments.path) for effect in effects),
            words=self.command.words,
        )

    def reads(self, words: Iterable[Word], *, lists: bool = False) -> Findings:
        return [
            judge_url(w.text, self.part)
            if _WEB.match(w.text)
            else self.judge.territory.read(w.text, self.cwds, self.part, lists=lists)
            for w in words
        ]

    def writes(self, words: Iterable[Word]) -> Findings:
        return [self.judge.territory.write(w.text, self.cwds, self.part) for w in words]


Handler = Callable[[Call], Findings]
"""Knows what one program does beyond its table. Adds findings; never takes any away."""

HANDLERS: dict[str, Handler] = {}
"""By the name that a table gives in `handler`."""


def handles(name: str) -> Callable[[Handler], Handler]:
    """Register a handler under `name`."""

    def register(handler: Handler) -> Handler:
        HANDLERS[name] = handler
        return handler

    return register
