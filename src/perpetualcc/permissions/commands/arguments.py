"""From a command's words to its options and operands, by what is known about the command."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.commands.knowledge import CommandRule, Entry, OptionRule
from perpetualcc.permissions.shell.script import Word

Options = Mapping[str, OptionRule]

_GRAVE_ROLES = {"run": 5, "upload": 4, "code": 3, "write": 2, "output": 1}
"""Which of two options is meant, when what is given may be short for both."""
_LONGEST_JOINED = 12
"""Letters of an option that its value may follow at once."""
_BEGINS_A_PATH = frozenset("/~.")


@dataclass(frozen=True, slots=True)
class Given:
    """One option as it was given."""

    name: str
    rule: OptionRule
    value: Word | None


@dataclass(slots=True)
class Arguments:
    """What a command was called with."""

    path: str
    """The leading words that are known, such as `git push`."""
    rule: CommandRule | None
    options: Options
    given: list[Given] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    """Options nothing is known about."""
    operands: list[Word] = field(default_factory=list)
    rest: list[Word] = field(default_factory=list)
    """All words after the known leading ones, unparsed."""
    subcommand: str = ""
    """The first operand where the command has subcommands, and this one is not known."""
    after_dashes: int | None = None
    """How many operands stand before `--`; None when it is not given."""

    def has(self, *names: str) -> bool:
        return any(given.name in names for given in self.given) or any(
            name in names for name in self.unknown
        )


def read_arguments(words: Sequence[Word], program: Entry) -> Arguments:
    """Walk the words once: options, then known subcommands, then operands."""
    entry, known = program, program.known({})
    rule = program.rule
    result = Arguments(path=program.name, rule=rule, options=known)
    position = 1
    has_operand = False
    while position < len(words):
        word = words[position]
        text = word.text
        position += 1
        is_over = has_operand and _is_over(result)
        if text == "--" and not is_over:
            result.after_dashes = len(result.operands)
            result.operands += words[position:]
            break
        is_option = len(text) > 1 and text[0] == "-"
        if is_option and has_operand and rule is not None and rule.options_first:
            result.unknown.append(text)  # `just deploy --dry-run` deploys
            continue
        if is_option and (has_operand or text not in entry.children) and not is_over:
            position = _option(words, position, known, result, rule)
            if rule is not None and rule.handler == "interpreter" and _names_code(result):
                has_operand = True
            continue
        child = entry.child(text) if not has_operand else None
        if child is not None:
            entry, known = child, child.known(known)
            rule = child.rule or rule
            result.path, result.rule, result.options = child.name, rule, known
            result.given = [_as_told(given, child) for given in result.given]
            result.rest = list(words[position:])
            continue
        if not has_operand and _is_value(words, position, entry, result):
            continue
        if not has_operand and (entry.children or entry.patterns):
            result.subcommand = text
        has_operand = True
        result.operands.append(word)
    if entry is program:
        result.rest = list(words[1:])
    return result


def _as_told(given: Given, child: Entry) -> Given:
    """`npm --dry-run run x`: whether what is harmless before a subcommand is so for this one."""
    is_told_again = given.rule.risk is Risk.LOW or child.name.rpartition(" ")[2][:1] == "-"
    rule = child.options.get(given.name) if is_told_again else None
    if rule is None:
        return given
    if given.value is None:
        return Given(given.name, rule, None)
    return _given(given.name, rule, given.value)


def _is_value(words: Sequence[Word], position: int, entry: Entry, result: Arguments) -> bool:
    """`docker --tlscacert ca.pem rm x`: no option is known by that name, but `rm` comes next."""
    before = words[position - 2].text
    is_free = before in result.unknown and "=" not in before
    return is_free and position < len(words) and words[position].text in entry.children


def _is_over(result: Arguments) -> bool:
    """Whether the rest belongs to the program it runs: `flock LOCK -c …` still is its own."""
    rule = result.rule
    return rule is not None and rule.stops and not 0 < len(result.operands) <= rule.skip


def _names_code(result: Arguments) -> bool:
    """`python -m module …` and `python -c code …`: what follows is for the module or code."""
    return result.path == "python" and result.given != [] and result.given[-1].name in {"-m", "-c"}


def _option(
    words: Sequence[Word],
    position: int,
    options: Options,
    result: Arguments,
    rule: CommandRule | None,
) -> int:
    """Read the option before `position`; the position after it and its value."""
    word = words[position - 1]
    text = word.text
    single = rule is not None and rule.single_dash
    if text.startswith("--") or single:
        return _long_option(words, position, options, result)
    if text in options:
        return _with_value(text, options[text], words, position, result)
    name, equals, value = text.partition("=")
    if equals and len(name) > 2 and name in options:  # `-chdir=infra`
        joined = Word(value, word.splits, word.globs, word.code)
        result.given.append(_given(name, options[name], joined))
        return position
    if (known := _joined_to(text, options)) is not None:
        joined = Word(text[len(known) :], word.splits, word.globs, word.code)
        result.given.append(_given(known, options[known], joined))
        return position
    return _bundle(words, position, options, result)


def _joined_to(text: str, options: Options) -> str | None:
    """`-MF/etc/x`, `-pgmFrm`: of several letters, and its value without anything between."""
    names = (text[:end] for end in range(min(len(text) - 1, _LONGEST_JOINED), 2, -1))
    name = next((name for name in names if name in options), None)
    if name is None or not options[name].takes_value:
        return None
    return name if options[name].role == "run" or text[len(name)] in _BEGINS_A_PATH else None


def _long_option(words: Sequence[Word], position: int, options: Options, result: Arguments) -> int:
    word = words[position - 1]
    name, equals, value = word.text.partition("=")
    if name.startswith("--no-"):
        taken = options.get(f"--{name[5:]}")
        result.given = [g for g in result.given if not _takes_back(name, g, taken)]
    rule = options.get(name) or options.get(name.removeprefix("-"))
    if rule is None and ":" in name:  # `--out:build/x`
        head, equals, rest = word.text.partition(":")
        if head in options and options[head].takes_value:
            name, value, rule = head, rest, options[head]
    if rule is None:
        name, rule = _abbreviated(name, options)
    if rule is None:
        result.unknown.append(word.text)
        return position
    if equals:
        joined = Word(value, word.splits, word.globs, word.code)
        result.given.append(_given(name, rule, joined))
        return position
    return _with_value(name, rule, words, position, result)


def _takes_back(name: str, given: Given, taken: OptionRule | None) -> bool:
    """`-n --no-dry-run` is no dry run; `--dry-run --no-dry` is none, either."""
    is_meant = len(name) > 5 and f"--no-{given.name[2:]}".startswith(name)
    return given.rule.risk is Risk.LOW and (is_meant or given.rule is taken)


def _abbreviated(name: str, options: Options) -> tuple[str, OptionRule | None]:
    """`--forc` is `--force` to most programs; of several candidates the worst counts."""
    if len(name) < 4 or not name.startswith("--"):
        return name, None
    candidates = [(full, rule) for full, rule in options.items() if full.startswith(name)]
    if not candidates:
        return name, None
    return max(candidates, key=lambda found: _graveness(found[1]))


def _graveness(rule: OptionRule) -> tuple[int, int]:
    return (rule.risk.rank if rule.risk else 0), _GRAVE_ROLES.get(rule.role, 0)


def _with_value(
    name: str, rule: OptionRule, words: Sequence[Word], position: int, result: Arguments
) -> int:
    if rule.takes_value and position < len(words):
        result.given.append(_given(name, rule, words[position]))
        return position + 1
    result.given.append(Given(name, rule, None))
    return position


def _given(name: str, rule: OptionRule, value: Word) -> Given:
    """Of some options a table says what one value means: `--target=prod`."""
    for pattern, meaning in rule.by_value:
        if fnmatchcase(value.text, pattern):
            return Given(name, meaning, value)
    return Given(name, rule, value)


def _bundle(words: Sequence[Word], position: int, options: Options, result: Arguments) -> int:
    """`-rf` is `-r -f`; `-ofile` is `-o file`."""
    word = words[position - 1]
    letters = word.text[1:]
    for index, letter in enumerate(letters):
        rule = options.get("-" + letter)
        if rule is None:
            result.unknown.append("-" + letter if index or len(letters) == 1 else word.text)
            continue
        if rule.takes_value or rule.is_joined:
            joined = letters[index + 1 :].removeprefix("=")
            if joined[:1] == ":" and joined[1:2] in _BEGINS_A_PATH:
                joined = joined[1:]
            if joined:
                value = Word(joined, word.splits, word.globs, word.code)
                result.given.append(_given("-" + letter, rule, value))
                return position
            return _with_value("-" + letter, rule, words, position, result)
        result.given.append(Given("-" + letter, rule, None))
    return position
