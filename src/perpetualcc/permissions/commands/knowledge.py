"""
What is known about programs: the tables in `knowledge/commands/`, made ready for look-up.

A command is known by its leading words (`git push`); the longest match counts. Options are
inherited: what is known about `git` holds for `git push` too, unless it says otherwise.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import translate
from functools import cache
from typing import Any

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.effects import EffectKind
from perpetualcc.permissions.knowledge import command_tables


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionRule:
    """What one option means."""

    role: str
    """`flag`, `optional` (value only when joined), `value`, or what the value is: `read`,
    `write`, `output`, `delete`, `list`, `dir`, `run`, `code`, `upload`, `url`, `task`,
    `names` (a glob of the files whose contents are searched), `joined-task` (`-X:deploy`)."""
    risk: Risk | None = None
    explanation: str = ""
    by_value: tuple[tuple[str, "OptionRule"], ...] = ()
    """What it means instead with some values: a glob of them, and that meaning."""

    @property
    def takes_value(self) -> bool:
        return self.role != "flag" and not self.is_joined

    @property
    def is_joined(self) -> bool:
        """A value counts only where nothing stands before it."""
        return self.role in {"optional", "joined-task"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRule:
    """What one command does."""

    rule: str
    risk: Risk
    explanation: str
    effects: tuple[EffectKind, ...]
    operands: str
    """What its operands are: `data`, `read`, `list`, `write`, `output`, `delete`, `copy`,
    `code`, `task`, `url`, `script`, `pattern-read` (the first is a pattern, the rest are read)."""
    wraps: str
    """`argv`: the operands are a command; `shell`: they are shell text; empty: neither."""
    skip: int
    """Operands before the wrapped command."""
    handler: str
    """A function in `commands/programs` that knows the rest."""
    single_dash: bool
    """Long options have one dash, as in `terraform -auto-approve`."""
    looks: bool
    """Subcommands of it that only look are not as bad (`tasks.toml`: `looks`)."""
    options_first: bool
    """Options after the first operand are given to what it runs, and mean what they say there."""

    @property
    def stops(self) -> bool:
        """After the first operand, options belong to whatever it runs."""
        return self.wraps != "" or self.handler in _RUNNERS

    @property
    def has_free_operands(self) -> bool:
        """Its operands are no places to the table; some of them may name a file all the same."""
        return self.operands in {"data", "code", "task"}


@cache
def _glob(pattern: str) -> Callable[[str], object]:
    """`fnmatchcase` without its detours: of the tables' own patterns, for each word of a call."""
    return re.compile(translate(pattern)).match


@dataclass(slots=True)
class Entry:
    """One node in the tree of command words."""

    name: str
    rule: CommandRule | None = None
    options: dict[str, OptionRule] = field(default_factory=dict)
    children: dict[str, "Entry"] = field(default_factory=dict)
    patterns: list[tuple[str, "Entry"]] = field(default_factory=list)
    _known: dict[str, OptionRule] | None = None

    def child(self, word: str) -> "Entry | None":
        found = self.children.get(word)
        if found is None and self.patterns:
            found = next((e for p, e in self.patterns if _glob(p)(word)), None)
        return found

    def known(self, before: Mapping[str, OptionRule]) -> Mapping[str, OptionRule]:
        """Its options and those of the words before it; in this tree these are always the same."""
        if self._known is None:
            self._known = {**before, **self.options}
        return self._known

    def grow(self, word: str) -> "Entry":
        """The child for `word`, made when there is none."""
        if any(c in word for c in "*?["):
            for pattern, entry in self.patterns:
                if pattern == word:
                    return entry
            entry = Entry(f"{self.name} {word}")
            self.patterns.append((word, entry))
            return entry
        if word not in self.children:
            self.children[word] = Entry(f"{self.name} {word}".strip())
        return self.children[word]

    def share(self) -> None:
        """
        What is known about `aws * list-*` holds for `aws iam` too, which is named elsewhere.

        Without this a more exact word would hide everything below the patterns it matches.
        """
        for name, child in self.children.items():
            for pattern, entry in self.patterns:
                if _glob(pattern)(name):
                    child.take(entry)
        for child in (*self.children.values(), *(entry for _, entry in self.patterns)):
            child.share()

    def take(self, other: "Entry") -> None:
        """All of `other` that is not said here already; what is said here is more exact."""
        if self.rule is None:
            self.rule = other.rule
        for name, option in other.options.items():
            self.options.setdefault(name, option)
        for word, entry in (*other.children.items(), *other.patterns):
            known = word in self.children or any(word == pattern for pattern, _ in self.patterns)
            if known or self.child(word) is None:
                self.grow(word).take(entry)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """What setting an environment variable means."""

    risk: Risk
    explanation: str
    harmless: re.Pattern[str] | None = None
    """Values that are everyday, such as `PYTHONPATH=src`."""
    places: str = ""
    """A list of directories that is harmless when all are of this kind: `project` or `tools`."""


class Knowledge:
    """All tables."""

    def __init__(self, tables: Iterable[Mapping[str, Any]]) -> None:
        self.root = Entry("")
        self._aliases: dict[str, str] = {}
        self.same: dict[str, str] = {}
        """Leading words that mean the same as others: `npm i` is `npm install`."""
        self.option_variables: dict[str, list[str]] = {}
        """With what the variables begin that are options to a program; `NAME=-x` is that one."""
        self.word_variables: dict[str, list[str]] = {}
        """The variables whose words stand before those that a program is given."""
        self._variables: dict[str, Variable] = {}
        self._variable_patterns: list[tuple[str, Variable]] = []
        for table in tables:
            for group in table.get("group", ()):
                rule = _command_rule(group)
                for line in group["commands"]:
                    self._entry(line).rule = rule
            for line, options in table.get("options", {}).items():
                for single in line.split(","):
                    self._entry(single.strip()).options.update(_option_rules(options))
            self._aliases.update(table.get("aliases", {}))
            for usual, others in table.get("same", {}).items():
                self.same.update(dict.fromkeys(others, usual))
            self.option_variables.update(table.get("option_variables", {}))
            self.word_variables.update(table.get("word_variables", {}))
            self._add_variables(table.get("variable", ()))
        self.root.share()

    def _entry(self, line: str) -> Entry:
        entry = self.root
        for word in line.split():
            entry = entry.grow(word)
        return entry

    def _add_variables(self, groups: Iterable[Mapping[str, Any]]) -> None:
        for group in groups:
            harmless = re.compile(group["harmless"]) if "harmless" in group else None
            meaning = Variable(
                risk=Risk(group["risk"]), explanation=group["explanation"], harmless=harmless,
                places=group.get("places", ""),
            )  # fmt: skip
            for name in group["names"]:
                if "*" in name:
                    self._variable_patterns.append((name, meaning))
                else:
                    self._variables[name] = meaning

    def program(self, name: str) -> Entry | None:
        """What is known about a program: by name, alias, without its version or its target."""
        entry = self.root.child(name)
        if entry is None and name in self._aliases:
            entry = self.root.child(self._aliases[name])
        if entry is None and name.endswith(".exe"):  # from under WSL
            return self.program(name.removesuffix(".exe"))
        if entry is None and (match := _VERSIONED.fullmatch(name)):
            base = self._aliases.get(match[1], match[1])
            entry = self.root.child(base)
        if entry is None and (match := _CROSS.fullmatch(name)):
            entry = self.root.child(match[1])
        return entry

    def variable(self, name: str, value: str) -> Variable | None:
        """What setting it to `value` means; None when nothing is known against it."""
        found = self._variable(name)
        if found is not None and found.harmless and found.harmless.fullmatch(value):
            return None
        return found

    def names_variable(self, name: str) -> bool:
        """Whether a table has it by exactly this name."""
        return name in self._variables

    def _variable(self, name: str) -> Variable | None:
        found = self._variables.get(name)
        if found is None:
            found = next((v for p, v in self._variable_patterns if _glob(p)(name)), None)
        return found


_RUNNERS = frozenset(
    {"interpreter", "shell", "env", "coproc", "xargs", "remote", "container-run", "package-run",
     "java", "parallel", "yarn", "tool-run", "nodemon", "python-code"}
)  # fmt: skip
_VERSIONED = re.compile(r"([a-zA-Z][a-zA-Z+_-]*?)-?\d+(?:\.\d+)*(?:t|\.exe)?")
_CROSS = re.compile(
    r"(?:arm\w*|aarch64\w*|riscv(?:32|64)\w*|xtensa[\w.]*|avr|mips\w*|powerpc\w*|ppc\w*|x86_64|i[3-6]86"
    r"|m68k|msp430|loongarch\w*|s390x|sparc\w*|sh\d?|wasm32|llvm)-(?:[\w.]+-)*"
    r"(gcc|g\+\+|cpp|ld|as|nm|objcopy|objdump|size|strip|readelf|ranlib|strings|addr2line|c\+\+filt|gdb)"
    r"(?:-\d+)?"
)
"""`arm-none-eabi-size`: the same program for another kind of machine."""
_OPTION = re.compile(
    r"(?:(?P<role>flag|optional|value|read|write|output|delete|list|dir|run|code|script|upload|url|task|joined-task|names)\b\s*)?"
    r"(?:(?P<risk>LOW|MEDIUM|HIGH)(?::\s*(?P<why>.*))?)?"
)


_VALUED = re.compile(r"-[^=]+=.+")
"""`--target=prod`: an option that means something else with this value."""


def _command_rule(group: Mapping[str, Any]) -> CommandRule:
    return CommandRule(
        rule=group["rule"],
        risk=Risk(group["risk"]),
        explanation=group["explanation"],
        effects=tuple(EffectKind(name) for name in group.get("effects", ("execute",))),
        operands=group.get("operands", "data"),
        wraps=group.get("wraps", ""),
        skip=group.get("skip", 0),
        handler=group.get("handler", ""),
        single_dash=group.get("single_dash", False),
        looks=group.get("looks", False),
        options_first=group.get("options_first", False),
    )


def _option_rules(options: Mapping[str, str]) -> dict[str, OptionRule]:
    """By name. `--target=prod*` is about the option `--target`, which the same table must have."""
    rules: dict[str, OptionRule] = {}
    for names, meaning in options.items():
        match = _OPTION.fullmatch(meaning.strip())
        if match is None:
            raise ValueError(f"unreadable option meaning {meaning!r} for {names!r}")
        risk = Risk(match["risk"]) if match["risk"] else None
        rule = OptionRule(role=match["role"] or "flag", risk=risk, explanation=match["why"] or "")
        rules.update(dict.fromkeys(names.split(), rule))
    for full in [name for name in rules if _VALUED.fullmatch(name)]:
        name, _, value = full.partition("=")
        if name not in rules:
            raise ValueError(f"{full!r} needs the meaning of {name!r} beside it")
        by_value = (*rules[name].by_value, (value, rules.pop(full)))
        rules[name] = replace(rules[name], by_value=by_value)
    return rules


@cache
def knowledge() -> Knowledge:
    """The tables that are shipped, read once."""
    return Knowledge(command_tables())
