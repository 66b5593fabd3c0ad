"""
Judges a script: every simple command in it, and what flows between them. The worst counts.

Whatever is not known is never LOW. The order of the rules does not matter: each only adds
findings, and nothing takes one away.
"""

import posixpath
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import dropwhile

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.blocked import blocked_patterns, blocking, names_shell
from perpetualcc.permissions.commands import (
    places,
    programs,  # noqa: F401  # registers the handlers
)
from perpetualcc.permissions.commands.arguments import read_arguments
from perpetualcc.permissions.commands.asking import asks_in_words
from perpetualcc.permissions.commands.call import Call, Findings
from perpetualcc.permissions.commands.call_rules import judge_call
from perpetualcc.permissions.commands.environment import judge_variable
from perpetualcc.permissions.commands.findings import (
    blocked,
    calls_function,
    computed,
    emptied,
    filled_disk,
    given_shell,
    nothing,
    prints_nothing,
    problem_found,
    raw_socket,
    script_changed,
)
from perpetualcc.permissions.commands.given_words import fed_secret, said_secret
from perpetualcc.permissions.commands.knowledge import Entry, Knowledge, knowledge
from perpetualcc.permissions.commands.line_files import LineFiles
from perpetualcc.permissions.commands.option_words import judge_option_words
from perpetualcc.permissions.commands.script_files import judge_script_file
from perpetualcc.permissions.commands.tasks import harmful_verb, judge_task
from perpetualcc.permissions.contents import judge_code
from perpetualcc.permissions.effects import Effect, EffectKind, Finding
from perpetualcc.permissions.paths import Territory, Zone
from perpetualcc.permissions.shell.binding import DECLARATIONS
from perpetualcc.permissions.shell.directories import Directories
from perpetualcc.permissions.shell.reader import read_script
from perpetualcc.permissions.shell.script import (
    PIPE,
    UNKNOWN,
    Assignment,
    Problem,
    Redirection,
    Script,
    SimpleCommand,
    Word,
)

NESTING_LIMIT = 8
"""Commands inside commands inside commands: more is not judged but refused."""
FINDING_LIMIT = 4_000
"""Findings of one call; beyond it the line is too long to judge."""
SCRIPT_LIMIT = 8
"""Scripts that are read through for one call."""
_ENVIRONMENT = re.compile(r"(?:.*/)?\.?v?env[\w.-]*/bin")
"""`.venv/bin`, `.venv311/bin`: a virtual environment of Python."""
_EXPRESSION = re.compile(r"\$\{\{[^{}]*\}\}")
"""`${{ matrix.os }}` of a build file. A shell refuses it, so its value is as good as unknown."""
_DEFAULT = re.compile(r"\$\{\w+:?[-=+]([A-Za-z][\w./-]*)\}")
_SPLITS_LINES = frozenset({"read", "mapfile", "readarray"})
_RUN_HERE = DECLARATIONS | {"eval", "source", ".", "command", "builtin"}
"""What may export for good what stands before it, as a function may; a program has it alone."""
_SOME_PROGRAM = (Word(""),)
"""Whatever is run after a variable was exported."""
_CMDLET = re.compile(r"[A-Z][a-z]+-[A-Z]\w+")
"""`Remove-Item`: a command of PowerShell, whose names ignore case."""
_NEVER_A_SUBCOMMAND = frozenset({"delete", "permissions-of-files", "privilege"})
"""Rules about programs whose names mean the same as words of another program: `rm`, `chmod`."""
_TOOLCHAINS = frozenset({"cargo", "clippy-driver", "rustc", "rustdoc", "rustfmt"})
"""Programs whose first word may say `+` which version of them is to be used."""
_SEPARATORS = re.compile(r"[;&|\n()`{}'\"]|\]\]")
_BARE_WORD = re.compile(r"[^\s{},'\"\\]+")
_SALVAGE_LENGTH, _SALVAGE_SEGMENTS = 4_000, 50
"""How much of an unreadable text is looked through, in characters and in pieces."""


class CommandJudge:
    """Judges shell text in one project."""

    def __init__(self, territory: Territory, blocked_commands: tuple[str, ...] = ()) -> None:
        self.territory = territory
        self._always_blocked = blocked_commands
        self._blocked = blocked_patterns(blocked_commands)
        self._reading: frozenset[str] = frozenset()
        self.knowledge: Knowledge = knowledge()
        self._found: dict[int, Findings] = {}
        self._commands: list[SimpleCommand] = []
        self.files = LineFiles()
        self.assigned: list[Assignment] = []
        self.exported: set[str] = set()
        self.exports_all = False
        self.count = 0

    def text(self, text: str, cwds: Directories, depth: int = 0) -> Findings:
        """Judge `text` as the shell would run it in one of `cwds`."""
        text = _EXPRESSION.sub("${EXPRESSION}", text)
        home, project = self.territory.home, self.territory.project
        script = read_script(text, home=home, project=project, cwds=cwds)
        findings = self._script(script, depth)
        findings += [f for path, text in self.files.taken() for f in judge_code(path, text)]
        findings += [script_changed(path) for path in self.files.changed_scripts()]
        return findings + (self._salvaged(text, cwds) if script.problems else [])

    def _salvaged(self, text: str, cwds: Directories) -> Findings:
        """Of what cannot be read, the worst that its words would mean as commands."""
        findings: Findings = []
        text = text.replace("\\\n", "")
        for segment in _SEPARATORS.split(text[:_SALVAGE_LENGTH])[:_SALVAGE_SEGMENTS]:
            texts = _BARE_WORD.findall(segment)[:30]
            known = dropwhile(lambda text: self.knowledge.program(text) is None, texts)
            words = tuple(Word(text) for text in known)
            if words:
                command = SimpleCommand(words=words, source=segment.strip()[:200], cwds=cwds)
                findings += [f for f in self.command(command, 1) if f.risk is Risk.HIGH]
        return findings

    def _script(self, script: Script, depth: int, stdin: str | None = None) -> Findings:
        findings = [problem_found(problem, part) for problem, part in script.problems]
        self.assigned += script.bound
        for command in script.commands:
            if self.count > FINDING_LIMIT:
                break  # what a line repeats may hold as much again
            is_fed = stdin is not None and command.stdin is None and not command.upstream
            found = self.command(replace(command, stdin=stdin) if is_fed else command, depth)
            self._commands.append(command)  # keeps the id alive
            self._found[id(command)] = found
            findings += found
            self.count += len(found)
        if self.count > FINDING_LIMIT:
            findings.append(problem_found(Problem.TOO_LONG, ""))
        return findings or [nothing()]

    def command(self, command: SimpleCommand, depth: int) -> Findings:
        """Everything that one simple command does, remembered for those it feeds."""
        before = set(self.exported)
        findings = self._assignments(command) + filled_disk(command)
        own = self.exported - before
        for redirection in command.redirections:
            findings += self._redirection(redirection, command)
        if command.words:
            findings += self._call(command, depth) + fed_secret(command, self.assigned)
            fed = self.found((*command.upstream, *command.feeds))
            findings += said_secret(command, findings, fed)
            if command.words[0].text not in _RUN_HERE and not command.calls_function:
                self.exported -= own
        self._remember_files(command, findings)
        return findings

    # What surrounds a program

    def _assignments(self, command: SimpleCommand) -> Findings:
        self.assigned += command.assignments
        first = command.words[0].text if command.words else ""
        is_read = first in _SPLITS_LINES
        if first and first not in DECLARATIONS:  # `A=1 bash -c make` gives it to all in there
            self.exported.update(one.name for one in command.assignments)
        return [  # `while IFS= read -r line`: for this one command
            finding
            for one in command.assignments
            if not (is_read and one.name == "IFS")
            for finding in self.variable(one, command)
        ]

    def environment(self, own: Sequence[Assignment]) -> Sequence[Assignment]:
        """Whichever value a variable had may be the one it is exported with."""
        exported = [one for one in self.assigned if self.exports_all or one.name in self.exported]
        return list(dict.fromkeys((*own, *exported)))

    def variable(self, assignment: Assignment, command: SimpleCommand) -> Findings:
        """What `assignment` means to the programs that `command` or the line runs with it."""
        is_passed = self.exports_all or assignment.name in self.exported
        found = judge_variable(
            assignment.name, assignment.value.text,
            words=command.words or (_SOME_PROGRAM if is_passed else ()), knowledge=self.knowledge,
            territory=self.territory, cwds=command.cwds, part=command.source,
            run=lambda text: self.text(text, command.cwds, 1),
        )  # fmt: skip
        return [] if found is None else [found]

    def _redirection(self, redirection: Redirection, command: SimpleCommand) -> Findings:
        target = redirection.target.text
        part = f"{redirection.operator} {target.replace(PIPE, '').replace(UNKNOWN, '…')}"
        if target.startswith(("/dev/tcp/", "/dev/udp/")):
            return [raw_socket(target, part)]
        if redirection.operator in {"<&", ">&"} and (target.isdigit() or target == "-"):
            return []
        if redirection.writes:
            written = self.territory.write(target, command.cwds, part)
            is_emptied = redirection.operator in {">", ">|"} and prints_nothing(command)
            return [written, *emptied(target, part)] if is_emptied else [written]
        return [self.territory.read(target, command.cwds, part)]

    def _remember_files(self, command: SimpleCommand, findings: Findings) -> None:
        if self._unpacks_download(command, findings):
            self.files.has_unpacked_download = True
        kinds = [effect.kind for finding in findings for effect in finding.effects]
        if EffectKind.WRITE in kinds:
            is_fetched = EffectKind.NETWORK in kinds or self._is_fed_by_network(command)
            self.files.remember(command, findings, is_fetched=is_fetched)

    def _unpacks_download(self, command: SimpleCommand, findings: Findings) -> bool:
        """`curl … | tar xz`, or `tar xf` of what was fetched before."""
        if not any(finding.rule == "unpack" for finding in findings):
            return False
        reads = {e.target for f in findings for e in f.effects if e.kind is EffectKind.READ}
        return self._is_fed_by_network(command) or any(map(self.files.is_download, reads))

    def _is_fed_by_network(self, command: SimpleCommand) -> bool:
        fed = self.found(command.upstream)
        return any(e.kind is EffectKind.NETWORK for f in fed for e in f.effects)

    # Programs

    def _call(self, command: SimpleCommand, depth: int) -> Findings:
        found = self._known_call(command, depth)
        pattern = blocking(command, self._blocked)
        if pattern is None or all(finding.rule == "help" for finding in found):
            return found
        return [blocked(command, pattern), *found]

    def _known_call(self, command: SimpleCommand, depth: int) -> Findings:
        first = command.words[0]
        if depth > NESTING_LIMIT:
            return [problem_found(Problem.TOO_DEEP, command.source)]
        is_printed = bool(first.code) and "/" not in first.text
        if not first.is_constant or first.globs or is_printed:
            return [
                computed(command, is_hidden=first.globs or _hides_its_name(first)),
                *self._default(command, depth),
            ]
        if command.calls_function:
            return self._function(command, depth)
        name = first.text
        if name in _TOOLCHAINS and command.words[1:] and command.words[1].text[:1] == "+":
            words = (first, *command.words[2:])  # `cargo +nightly publish`
            return self._known_call(replace(command, words=words), depth)
        if len(name) > 1 and name[0] == "=":  # `=rm` of zsh is the program of that name
            words = (replace(first, text=name[1:]), *command.words[1:])
            return self._call(replace(command, words=words), depth + 1)
        if "/" in name:
            directory, base = posixpath.split(name)
            is_known = self.knowledge.program(base) is not None
            if directory not in places.PROGRAM_DIRECTORIES and not (
                is_known and self._is_project_bin(name, command)
            ):
                return self._path_call(command, depth)
            name = base
        program = self.knowledge.program(name.lower() if _CMDLET.fullmatch(name) else name)
        if program is None and name.startswith("git-"):
            words = (Word("git"), Word(name.removeprefix("git-")), *command.words[1:])
            return self._call(replace(command, words=words), depth + 1)
        if program is None:
            return self._unknown(command, name, depth)
        arguments = read_arguments(command.words, program)
        call = Call(self, command, arguments, depth, command.cwds, command.source)
        return judge_call(call)

    def _is_project_bin(self, name: str, command: SimpleCommand) -> bool:
        """`bin/rails`, `node_modules/.bin/jest`: the project's own copy of a known program."""
        directory = posixpath.dirname(name)
        location = self.territory.locate(name, command.cwds)
        is_inside = location.zone in {Zone.SAFE, Zone.PROJECT}
        return is_inside and (
            directory in {"bin", "./bin"}
            or directory.endswith(places.LOCAL_PROGRAMS)
            or _ENVIRONMENT.fullmatch(directory) is not None
        )

    def _default(self, command: SimpleCommand, depth: int) -> Findings:
        """`${TOOL:-rm} -rf x`: what it runs when the variable is not set, or when it is."""
        match = _DEFAULT.search(command.source)
        if match is None or command.words[0].text != UNKNOWN:
            return []
        words = (Word(match[1]), *command.words[1:])
        found = self._call(replace(command, words=words), depth + 1)
        return [finding for finding in found if finding.risk is Risk.HIGH]

    def _function(self, command: SimpleCommand, depth: int) -> Findings:
        """Its body was judged where it stands; what it does with its words is not known."""
        findings = [calls_function(command)]
        if len(command.words) > 1:
            inner = replace(command, words=command.words[1:], calls_function=False)
            found = [f for f in self._call(inner, depth + 1) if f.risk is Risk.HIGH]
            findings += [replace(f, words=()) for f in found]  # they may be words and no command
        return findings

    def _path_call(self, command: SimpleCommand, depth: int) -> Findings:
        """`./run.sh`, `scripts/build`, `/opt/tool/bin/x`."""
        name = posixpath.basename(command.words[0].text)
        program = self.knowledge.program(name)
        entry = program or Entry(name)
        arguments = read_arguments(command.words, entry)
        call = Call(self, command, arguments, depth, command.cwds, command.source)
        findings = self.script_file(command.words[0], call)
        if program is not None and program.rule is not None:
            judged = judge_call(call)
            is_wrapper = name in {"gradlew", "mvnw", "configure"}
            findings = (
                judged if is_wrapper else findings + [f for f in judged if f.risk is not Risk.LOW]
            )
        elif program is None:
            findings += [f for f in judge_option_words(call, None) if f.risk is Risk.HIGH]
        return findings + self._guarded_words(command)

    def _unknown(self, command: SimpleCommand, name: str, depth: int) -> Findings:
        findings = [
            Finding(
                risk=Risk.MEDIUM,
                rule="unknown-command",
                part=command.source,
                kind=name[:40],
                words=command.words,
                explanation=f"Nothing is known about the program {name[:40]!r}",
                effects=(Effect(kind=EffectKind.EXECUTE, target=name[:40]),),
            )
        ]
        folded = name.casefold().removesuffix(".exe")
        if folded != name and self.knowledge.program(folded) is not None:
            words = (Word(folded), *command.words[1:])
            findings += self._call(replace(command, words=words), depth + 1)
        arguments = read_arguments(command.words, Entry(name))
        call = Call(self, command, arguments, depth, command.cwds, command.source)
        if not asks_in_words(command.words[1:]):
            findings += harmful_verb((command.words[0], *arguments.operands), call)
            findings += judge_option_words(call, None)
            named = judge_task(name, call, is_script=True)
            findings += [named] if named.risk is Risk.HIGH else []
        findings += self._likely_wrapped(command, depth)
        return findings + self._guarded_words(command)

    def _likely_wrapped(self, command: SimpleCommand, depth: int) -> Findings:
        """`mywrapper rm -rf x`: the words after a program that is not known name one that is."""
        inner = self.knowledge.program(command.words[1].text) if len(command.words) > 1 else None
        if inner is None or inner.rule is None or inner.rule.rule not in _NEVER_A_SUBCOMMAND:
            return []
        found = self._call(replace(command, words=command.words[1:]), depth + 1)
        return [replace(f, words=()) for f in found if f.risk is Risk.HIGH]

    def _guarded_words(self, command: SimpleCommand) -> Findings:
        """A program that is not known is given a credential, or a shell to run."""
        findings = []
        for word in command.words[1:]:
            if names_shell(word.text):
                findings.append(given_shell(command))
            text = word.text.rpartition("=")[2].lstrip("@")
            if not text.startswith("-") and ("/" in text or "." in text) and len(text) < 400:
                found = self.territory.read(text, command.cwds, command.source)
                findings += [found] if found.risk is Risk.HIGH else []
        return findings

    # For the handlers

    def words(self, words: Sequence[Word], call: Call) -> Findings:
        if not words:
            return []
        inner = replace(
            call.command,
            words=tuple(words),
            cwds=call.cwds,
            calls_function=False,
        )
        return self._call(inner, call.depth + 1)

    def shell(self, text: str, call: Call, stdin: str | None = None) -> Findings:
        if UNKNOWN in text and text.strip() == UNKNOWN:
            return [
                call.finding(
                    Risk.HIGH,
                    "computed-code",
                    "The code it runs is known only when it runs",
                    EffectKind.EXECUTE,
                )
            ]
        if call.depth >= NESTING_LIMIT:
            return [problem_found(Problem.TOO_DEEP, call.part)]
        findings: Findings = []
        if UNKNOWN in text:
            why = "A part of the code it runs is known only when it runs"
            findings.append(call.finding(Risk.MEDIUM, "computed-code", why, EffectKind.EXECUTE))
        text = text.replace(UNKNOWN, "${UNKNOWN_AT_RUN_TIME}")
        script = read_script(
            text, home=self.territory.home, project=self.territory.project, cwds=call.cwds
        )
        return findings + self._script(script, call.depth + 1, stdin)

    def script_file(self, word: Word, call: Call) -> Findings:
        return judge_script_file(word, call)

    def script(self, path: str, text: str, call: Call) -> Findings:
        if path in self._reading or len(self.files.read) >= SCRIPT_LIMIT:
            return []
        self.files.read.add(path)
        inner = CommandJudge(self.territory, self._always_blocked)
        inner.files, inner._reading = self.files, self._reading | {path}
        return inner.text(text, call.cwds, call.depth + 1)

    def earlier(self) -> Sequence[SimpleCommand]:
        return self._commands

    def found(self, commands: Sequence[SimpleCommand]) -> Findings:
        return [f for c in commands for f in self._found.get(id(c), ())]


def _hides_its_name(first: Word) -> bool:
    """`$(echo rm)`, `r${x}m`; not `$TOOL` and not `$HOME/bin/tool`."""
    if first.text == UNKNOWN:
        return bool(first.code)
    return "/" not in first.text and first.text.strip(UNKNOWN) != ""
