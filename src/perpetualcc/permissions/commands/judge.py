"""
Judges a script: every simple command in it, and what flows between them. The worst counts.

Whatever is not known is never LOW. The order of the rules does not matter: each only adds
findings, and nothing takes one away.
"""

import posixpath
import re
from collections.abc import Sequence
from dataclasses import replace

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.blocked import SHELLS, blocked_patterns, blocking
from perpetualcc.permissions.commands import programs  # noqa: F401  # registers the handlers
from perpetualcc.permissions.commands.arguments import Arguments, Given, read_arguments
from perpetualcc.permissions.commands.call import HANDLERS, Call, Findings
from perpetualcc.permissions.commands.knowledge import CommandRule, Knowledge, knowledge
from perpetualcc.permissions.commands.tasks import judge_task
from perpetualcc.permissions.effects import Effect, EffectKind, Finding
from perpetualcc.permissions.paths import Location, Territory, Zone
from perpetualcc.permissions.shell.directories import Directories, join
from perpetualcc.permissions.shell.reader import read_script
from perpetualcc.permissions.shell.script import (
    UNKNOWN,
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

_PROBLEM_RISK = {
    Problem.SYNTAX: Risk.MEDIUM,
    Problem.UNKNOWN_CONSTRUCT: Risk.MEDIUM,
    Problem.RECURSION: Risk.HIGH,
    Problem.TOO_DEEP: Risk.HIGH,
    Problem.TOO_LONG: Risk.HIGH,
}
_PROGRAM_DIRECTORIES = frozenset(
    {"/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin",
     "/opt/homebrew/bin", "/snap/bin", "/opt/local/bin"}
)  # fmt: skip
_LOCAL_PROGRAMS = ("node_modules/.bin", "vendor/bin", ".venv/bin", "venv/bin", "env/bin", ".bin")
_SEPARATORS = re.compile(r"[;&|\n()`]")
_BARE_WORD = re.compile(r"[^\s{},'\"\\]+")
_SALVAGE_LENGTH, _SALVAGE_SEGMENTS = 4_000, 50
"""How much of an unreadable text is looked through, in characters and in pieces."""
_SETTINGS_OPTION = re.compile(
    r"--?\w*(?:config|rcfile|file|project|script|plugin|require|import|preset|setup|loader|init|rules)"
    r"[\w-]*=",
    re.IGNORECASE,
)
_SUBSCRIPT = re.compile(r"^\w*\[.*(?:\$\(|`)", re.DOTALL)
_SECRET_VARIABLE = re.compile(
    r"\$\{?\w*(?:SECRET|TOKEN|PASSW(?:OR)?D|API_?KEY|PRIVATE_?KEY|CREDENTIAL|ACCESS_?KEY)\w*",
    re.IGNORECASE,
)
_PATH_ROLES = frozenset({"write", "output", "copy", "delete"})
_PATH_HANDLERS = frozenset({"archive", "zip", "unzip", "copy", "move", "link", "dd", "media"})
_SHORT_HELP = frozenset({"-v", "-V", "-h", "-version", "version", "help"})
_HELP = frozenset({"--help", "--version", "-help", "-version"})


class CommandJudge:
    """Judges shell text in one project."""

    def __init__(self, territory: Territory, blocked_commands: tuple[str, ...] = ()) -> None:
        self.territory = territory
        self._blocked = blocked_patterns(blocked_commands)
        self.knowledge: Knowledge = knowledge()
        self._found: dict[int, Findings] = {}
        self._commands: list[SimpleCommand] = []
        self._downloads: set[str] = set()
        self._written: dict[str, str | None] = {}
        self.count = 0

    def text(self, text: str, cwds: Directories, depth: int = 0) -> Findings:
        """Judge `text` as the shell would run it in one of `cwds`."""
        script = read_script(
            text, home=self.territory.home, project=self.territory.project, cwds=cwds
        )
        findings = self._script(script, depth)
        return findings + (self._salvaged(text, cwds) if script.problems else [])

    def _salvaged(self, text: str, cwds: Directories) -> Findings:
        """Of what cannot be read, the worst that its words would mean as commands."""
        findings: Findings = []
        for segment in _SEPARATORS.split(text[:_SALVAGE_LENGTH])[:_SALVAGE_SEGMENTS]:
            words = tuple(Word(word) for word in _BARE_WORD.findall(segment)[:30])
            if words and self.knowledge.program(words[0].text) is not None:
                command = SimpleCommand(words=words, source=segment.strip()[:200], cwds=cwds)
                findings += [f for f in self.command(command, 1) if f.risk is Risk.HIGH]
        return findings

    def _script(self, script: Script, depth: int, stdin: str | None = None) -> Findings:
        findings = [_problem(problem, part) for problem, part in script.problems]
        for command in script.commands:
            if stdin is not None and command.stdin is None and not command.upstream:
                command = replace(command, stdin=stdin)  # noqa: PLW2901  # same command, fed
            findings += self.command(command, depth)
        self.count += len(findings)
        if self.count > FINDING_LIMIT:
            findings.append(_problem(Problem.TOO_LONG, ""))
        return findings or [_nothing()]

    def command(self, command: SimpleCommand, depth: int) -> Findings:
        """Everything that one simple command does, remembered for those it feeds."""
        findings = self._assignments(command)
        for redirection in command.redirections:
            findings += self._redirection(redirection, command)
        if command.words:
            findings += self._call(command, depth)
        self._commands.append(command)  # keeps the id alive
        self._found[id(command)] = findings
        self._remember_files(command, findings)
        return findings

    # What surrounds a program

    def _assignments(self, command: SimpleCommand) -> Findings:
        findings = []
        for assignment in command.assignments:
            meaning = self.knowledge.variable(assignment.name, assignment.value.text)
            if meaning is not None:
                findings.append(
                    Finding(
                        risk=meaning.risk,
                        rule="environment-variable",
                        part=command.source,
                        explanation=f"{assignment.name}: {meaning.explanation}",
                        kind=f"set {assignment.name}",
                        effects=(Effect(kind=EffectKind.EXECUTE, target=assignment.name),),
                    )
                )
        return findings

    def _redirection(self, redirection: Redirection, command: SimpleCommand) -> Findings:
        target = redirection.target.text
        part = f"{redirection.operator} {target.replace(UNKNOWN, '…')}"
        if target.startswith(("/dev/tcp/", "/dev/udp/")):
            effect = Effect(kind=EffectKind.NETWORK, target=target)
            return [
                Finding(
                    risk=Risk.HIGH,
                    rule="raw-socket",
                    part=part,
                    kind="raw socket",
                    explanation="Opens a network connection from the shell",
                    effects=(effect,),
                )
            ]
        if redirection.operator in {"<&", ">&"} and (target.isdigit() or target == "-"):
            return []
        if redirection.writes:
            return [self.territory.write(target, command.cwds, part)]
        return [self.territory.read(target, command.cwds, part)]

    def _remember_files(self, command: SimpleCommand, findings: Findings) -> None:
        kinds = {effect.kind for finding in findings for effect in finding.effects}
        for finding in findings:
            for effect in finding.effects:
                if effect.kind is EffectKind.WRITE and effect.target.startswith("/"):
                    self._written[effect.target] = command.stdin
                    if EffectKind.NETWORK in kinds or self._is_fed_by_network(command):
                        self._downloads.add(effect.target)

    def _is_fed_by_network(self, command: SimpleCommand) -> bool:
        return any(
            effect.kind is EffectKind.NETWORK
            for source in command.upstream
            for finding in self._found.get(id(source), ())
            for effect in finding.effects
        )

    # Programs

    def _call(self, command: SimpleCommand, depth: int) -> Findings:
        if (pattern := blocking(command, self._blocked)) is not None:
            return [_blocked(command, pattern), *self._known_call(command, depth)]
        return self._known_call(command, depth)

    def _known_call(self, command: SimpleCommand, depth: int) -> Findings:
        first = command.words[0]
        if depth > NESTING_LIMIT:
            return [_problem(Problem.TOO_DEEP, command.source)]
        if not first.is_constant or first.globs:
            return [self._computed(command)]
        if command.calls_function:
            return self._function(command, depth)
        name = first.text
        if "/" in name:
            directory, base = posixpath.split(name)
            is_known = self.knowledge.program(base) is not None
            if directory not in _PROGRAM_DIRECTORIES and not (
                is_known and self._is_project_bin(name, command)
            ):
                return self._path_call(command, depth)
            name = base
        program = self.knowledge.program(name)
        if program is None:
            return self._unknown(command, name, depth)
        arguments = read_arguments(command.words, program)
        call = Call(self, command, arguments, depth, command.cwds, command.source)
        return self._judge(call)

    def _is_project_bin(self, name: str, command: SimpleCommand) -> bool:
        """`bin/rails`, `node_modules/.bin/jest`: the project's own copy of a known program."""
        directory = posixpath.dirname(name)
        location = self.territory.locate(name, command.cwds)
        is_inside = location.zone in {Zone.SAFE, Zone.PROJECT}
        return is_inside and (directory in {"bin", "./bin"} or directory.endswith(_LOCAL_PROGRAMS))

    def _computed(self, command: SimpleCommand) -> Finding:
        first = command.words[0]
        is_computed = first.globs or _hides_its_name(first)
        return Finding(
            risk=Risk.HIGH if is_computed else Risk.MEDIUM,
            rule="computed-command", part=command.source, kind="computed command",
            explanation="Which program it runs is known only when it runs",
            effects=(Effect(kind=EffectKind.EXECUTE),),
        )  # fmt: skip

    def _function(self, command: SimpleCommand, depth: int) -> Findings:
        """Its body was judged where it stands; what it does with its words is not known."""
        findings = [
            Finding(
                risk=Risk.LOW,
                rule="function",
                part=command.source,
                kind="function",
                explanation="Calls a function of this same line, whose body is judged on its own",
            )
        ]
        if len(command.words) > 1:
            inner = replace(command, words=command.words[1:], calls_function=False)
            findings += [f for f in self._call(inner, depth + 1) if f.risk is Risk.HIGH]
        return findings

    def _path_call(self, command: SimpleCommand, depth: int) -> Findings:
        """`./run.sh`, `scripts/build`, `/opt/tool/bin/x`."""
        name = posixpath.basename(command.words[0].text)
        program = self.knowledge.program(name)
        entry = program or self.knowledge.root
        arguments = read_arguments(command.words, entry)
        call = Call(self, command, arguments, depth, command.cwds, command.source)
        findings = self.script_file(command.words[0], call)
        if program is not None and program.rule is not None:
            judged = self._judge(call)
            is_wrapper = name in {"gradlew", "mvnw", "configure"}
            findings = (
                judged if is_wrapper else findings + [f for f in judged if f.risk is not Risk.LOW]
            )
        return findings + self._guarded_words(command)

    def _unknown(self, command: SimpleCommand, name: str, depth: int) -> Findings:
        findings = [
            Finding(
                risk=Risk.MEDIUM,
                rule="unknown-command",
                part=command.source,
                kind=name[:40],
                explanation=f"Nothing is known about the program {name[:40]!r}",
                effects=(Effect(kind=EffectKind.EXECUTE, target=name[:40]),),
            )
        ]
        folded = name.casefold().removesuffix(".exe")
        if folded != name and self.knowledge.program(folded) is not None:
            words = (Word(folded), *command.words[1:])
            findings += self._call(replace(command, words=words), depth + 1)
        return findings + self._guarded_words(command)

    def _guarded_words(self, command: SimpleCommand) -> Findings:
        """A program that is not known is given a credential, or a shell to run."""
        findings = []
        for word in command.words[1:]:
            directory, name = posixpath.split(word.text)
            if name in SHELLS and directory in _PROGRAM_DIRECTORIES:
                findings.append(_given_shell(command))
            text = word.text.rpartition("=")[2].lstrip("@")
            if not text.startswith("-") and ("/" in text or "." in text) and len(text) < 400:
                found = self.territory.read(text, command.cwds, command.source)
                findings += [found] if found.risk is Risk.HIGH else []
        return findings

    def _judge(self, call: Call) -> Findings:
        arguments, rule = call.arguments, call.arguments.rule
        if rule is None:
            return [
                call.finding(
                    Risk.MEDIUM,
                    "unknown-subcommand",
                    f"Nothing is known about this use of {arguments.path!r}",
                    EffectKind.EXECUTE,
                )
            ]
        if _asks_for_help(call, rule):
            return [call.finding(Risk.LOW, "help", "Only prints help or a version")]
        options = self._options(call)
        findings = [self._base(call, rule), *options]
        is_dry = any(given.rule.risk is Risk.LOW for given in arguments.given)
        if is_dry and rule.operands == "task":
            return findings
        findings += self._operands(call, rule)
        if rule.operands == "text" and any(_SUBSCRIPT.search(w.text) for w in call.command.words):
            findings.append(
                call.finding(Risk.MEDIUM, "subscript", "A subscript here can run a command")
            )
        if rule.operands == "text" and _SECRET_VARIABLE.search(call.command.source):
            findings.append(
                call.finding(
                    Risk.MEDIUM, "prints-secret", "Prints a variable that is named like a secret"
                )
            )
        findings += self._unknown_words(call, rule)
        if rule.operands in {"data", "code", "task"}:
            findings += self._named_credentials(call)
            findings += self._code_from_outside(call, rule)
        if rule.handler:
            findings += HANDLERS[rule.handler](call)
        if rule.wraps and not any(g.rule.risk is Risk.LOW for g in arguments.given):
            findings += self._wrapped(call, rule)
        return findings

    def _base(self, call: Call, rule: CommandRule) -> Finding:
        risk, why = rule.risk, rule.explanation
        for given in call.arguments.given:
            if given.rule.risk is Risk.LOW and not (
                given.value and given.value.text in {"false", "none"}
            ):
                risk, why = Risk.LOW, given.rule.explanation or why
        if (
            EffectKind.EXECUTE in rule.effects
            and risk is Risk.LOW
            and not rule.wraps
            and not self._is_home_ground(call.cwds)
        ):
            risk, why = Risk.MEDIUM, f"{why} Here it runs outside the project"
        effects = rule.effects
        if rule.operands in _PATH_ROLES or rule.handler in _PATH_HANDLERS:  # told path by path
            effects = tuple(e for e in effects if e not in {EffectKind.WRITE, EffectKind.DELETE})
        return call.finding(risk, rule.rule, why, *effects)

    def _is_home_ground(self, cwds: Directories) -> bool:
        return all(cwd is not None and self.territory.contains(cwd) for cwd in cwds)

    def _options(self, call: Call) -> Findings:
        findings: Findings = []
        for given in call.arguments.given:
            rule = given.rule
            if rule.risk in {Risk.MEDIUM, Risk.HIGH}:
                kind = f"{call.arguments.path} {given.name}"
                why = rule.explanation or "This option does more than the command alone"
                findings.append(
                    call.finding(
                        rule.risk, "option", f"{given.name}: {why}", EffectKind.EXECUTE, kind=kind
                    )
                )
            if given.value is not None and rule.role not in {"value", "optional", "flag"}:
                findings += self._option_value(given, given.value, call)
        return findings

    def _option_value(self, given: Given, value: Word, call: Call) -> Findings:
        role = given.rule.role
        if role == "dir":
            call.cwds = tuple(
                join(c, value.text, home=self.territory.home) if value.is_constant else None
                for c in call.cwds
            )
            return []
        if role == "run":
            return self.shell(value.text, call)
        if role == "upload":
            path = value.text.rpartition("@")[2].split(";")[0].removeprefix("<")
            return call.reads([Word(path)]) if value.text[:1] == "@" or "=@" in value.text else []
        return self._by_role(role, [value], call)

    def _by_role(self, role: str, words: Sequence[Word], call: Call) -> Findings:
        match role:
            case "read":
                return call.reads(words)
            case "list":
                return call.reads(words, lists=True)
            case "pattern-read":
                return call.reads(words[1:])
            case "copy":
                return call.reads(words[:-1]) + call.writes(words[-1:])
            case "script":
                return self.script_file(words[0], call) if words else []
            case "task":
                return [judge_task(word.text, call) for word in words[:1]]
        one = {
            "write": self._writes,
            "output": self._produces,
            "delete": self._deletes,
            "code": self._code,
        }.get(role)
        return [finding for word in words for finding in one(word, call)] if one else []

    def _writes(self, word: Word, call: Call) -> Findings:
        return call.writes([word])

    def _produces(self, word: Word, call: Call) -> Findings:
        location = self.territory.locate(word.text, call.cwds)
        return [_lowered(location, finding) for finding in call.writes([word])]

    def _operands(self, call: Call, rule: CommandRule) -> Findings:
        words = call.arguments.operands
        if rule.operands == "pattern-read" and call.arguments.has("-e", "-f", "--regexp", "--file"):
            return call.reads(words)
        return self._by_role(rule.operands, words, call)

    def _code_from_outside(self, call: Call, rule: CommandRule) -> Findings:
        """A build or test that takes its files or settings from outside the project."""
        if EffectKind.EXECUTE not in rule.effects or rule.risk is not Risk.LOW:
            return []
        words = [g.value for g in call.arguments.given if g.value and g.rule.role == "value"]
        words += call.arguments.operands if rule.operands == "data" else []
        words += [
            Word(option.partition("=")[2])
            for option in call.arguments.unknown
            if _SETTINGS_OPTION.match(option)
        ]
        return [
            finding
            for word in words
            if word.text.startswith(("/", "~", "../")) and not word.text.startswith("//")
            for finding in self._code(word, call)
        ]

    def _named_credentials(self, call: Call) -> Findings:
        """Its words are no paths as far as is known, but some name a credential all the same."""
        words = [*call.arguments.operands]
        words += [g.value for g in call.arguments.given if g.value and g.rule.role == "value"]
        found = call.reads(w for w in words if "/" in w.text and " " not in w.text)
        return [f for f in found if f.risk is Risk.HIGH]

    def _deletes(self, word: Word, call: Call) -> Findings:
        location = self.territory.locate(word.text, call.cwds)
        return [
            Finding(
                risk=Risk.HIGH,
                rule="delete",
                part=call.part,
                kind=call.arguments.path,
                explanation=f"Deletes {location.path.replace(UNKNOWN, '…')}",
                effects=(Effect(kind=EffectKind.DELETE, target=location.path),),
            )
        ]

    def _code(self, word: Word, call: Call) -> Findings:
        """Project code, like a test file: LOW inside the project, not outside."""
        text = word.text.split("::")[0]
        if text.startswith("//"):  # a label of Bazel, Pants or Buck
            return []
        location = self.territory.locate(text, call.cwds)
        if location.zone is Zone.OUTSIDE or location.zone is Zone.SCRATCH:
            return [
                call.finding(
                    Risk.MEDIUM,
                    "code-outside",
                    f"Runs code {location.zone.value}: {location.path}",
                    EffectKind.EXECUTE,
                )
            ]
        return []

    def _unknown_words(self, call: Call, rule: CommandRule) -> Findings:
        """A word that is known only at run time could be one of the dangerous options."""
        if rule.operands == "data" and not _has_danger(call.arguments):
            return []
        words = (*call.arguments.operands, *call.arguments.unknown)
        loose = [
            w
            for w in call.arguments.operands
            if w.text.startswith(UNKNOWN) and (w.splits or w.code)
        ]
        if loose and words and rule.operands != "delete" and _has_danger(call.arguments):
            return [
                call.finding(
                    Risk.MEDIUM,
                    "computed-words",
                    "Some of its words, perhaps options, are known only when it runs",
                )
            ]
        return []

    def _wrapped(self, call: Call, rule: CommandRule) -> Findings:
        words = call.arguments.operands[rule.skip :]
        if not words:
            return []
        if rule.wraps == "shell":
            return self.shell(" ".join(word.text for word in words), call)
        return self.words(words, call)

    # For the handlers

    def words(self, words: Sequence[Word], call: Call) -> Findings:
        if not words:
            return []
        inner = replace(
            call.command,
            words=tuple(words),
            assignments=(),
            redirections=(),
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
            return [_problem(Problem.TOO_DEEP, call.part)]
        text = text.replace(UNKNOWN, "${UNKNOWN_AT_RUN_TIME}")
        script = read_script(
            text, home=self.territory.home, project=self.territory.project, cwds=call.cwds
        )
        return self._script(script, call.depth + 1, stdin)

    def script_file(self, word: Word, call: Call) -> Findings:
        location = self.territory.locate(word.text, call.cwds)
        feeds = [f for c in call.command.feeds for f in self._found.get(id(c), ())]
        if location.path in self._downloads or (
            word.code and any(e.kind is EffectKind.NETWORK for f in feeds for e in f.effects)
        ):
            return [
                call.finding(
                    Risk.HIGH,
                    "remote-code",
                    "Runs code that was just fetched from the network",
                    EffectKind.EXECUTE,
                    EffectKind.NETWORK,
                )
            ]
        known = self._known_script(word, call)
        if known is not None and location.zone in {Zone.SAFE, Zone.PROJECT}:
            return known
        if location.zone not in {Zone.SAFE, Zone.PROJECT}:
            return [
                call.finding(
                    Risk.MEDIUM,
                    "script-outside",
                    f"Runs a file {location.zone.value}",
                    EffectKind.EXECUTE,
                )
            ]
        if self._written.get(location.path):
            text = self._written[location.path] or ""
            if location.path.endswith((".sh", ".bash", ".zsh")) or "." not in posixpath.basename(
                location.path
            ):
                return [*self.shell(text, call), judge_task(word.text, call)]
        return [judge_task(word.text, call, is_script=True)]

    def _known_script(self, word: Word, call: Call) -> Findings | None:
        """`python manage.py test`, `php artisan migrate`, `php vendor/bin/phpunit`."""
        name = posixpath.basename(word.text)
        program = self.knowledge.program(name)
        operands = call.arguments.operands
        if program is None or program.rule is None or name == call.arguments.path or not operands:
            return None
        if operands[0] is not word:
            return None
        return self.words([Word(name), *operands[1:]], call)

    def upstream(self, call: Call) -> Findings:
        return [f for c in call.command.upstream for f in self._found.get(id(c), ())]


def _hides_its_name(first: Word) -> bool:
    """`$(echo rm)`, `r${x}m`; not `$TOOL` and not `$HOME/bin/tool`."""
    if first.text == UNKNOWN:
        return bool(first.code)
    return "/" not in first.text and first.text.strip(UNKNOWN) != ""


def _asks_for_help(call: Call, rule: CommandRule) -> bool:
    words = call.command.words
    if rule.handler == "shell" or len(words) not in {2, 3} or call.command.upstream:
        return False
    if words[-1].text in _HELP:
        return len(words) == 2 or not (rule.stops or rule.wraps)
    return (
        len(words) == 2
        and words[1].text in _SHORT_HELP
        and rule.risk is not Risk.HIGH
        and not rule.stops
    )


def _has_danger(arguments: Arguments) -> bool:
    return any(
        r.risk in {Risk.MEDIUM, Risk.HIGH} or r.role in {"write", "run", "output", "upload"}
        for r in arguments.options.values()
    )


def _lowered(location: Location, finding: Finding) -> Finding:
    """A build product may be anywhere in the project that is not guarded."""
    if location.zone in {Zone.PROJECT, Zone.SCRATCH} and location.place is None:
        return replace(finding, risk=Risk.LOW)
    return finding


def _problem(problem: Problem, part: str) -> Finding:
    return Finding(
        risk=_PROBLEM_RISK[problem], rule=problem.name.lower().replace("_", "-"), part=part,
        explanation=f"It cannot be read with certainty: {problem.value}", kind=problem.value,
        effects=(Effect(kind=EffectKind.EXECUTE),),
    )  # fmt: skip


def _blocked(command: SimpleCommand, pattern: str) -> Finding:
    return Finding(
        risk=Risk.HIGH, rule="blocked-command", part=command.source, kind=f"blocked {pattern}",
        explanation=f"The settings always block {pattern!r}", forbidden=True,
        effects=(Effect(kind=EffectKind.EXECUTE),),
    )  # fmt: skip


def _given_shell(command: SimpleCommand) -> Finding:
    return Finding(
        risk=Risk.HIGH, rule="given-shell", part=command.source, kind="given shell",
        explanation="A program that can run others is given a shell",
        effects=(Effect(kind=EffectKind.EXECUTE),),
    )  # fmt: skip


def _nothing() -> Finding:
    return Finding(
        risk=Risk.LOW, rule="nothing", part="", explanation="Runs nothing", kind="nothing"
    )
