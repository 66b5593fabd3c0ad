"""From one simple command of the source to its words, with what stands before and behind them."""

import re

from tree_sitter import Node

from perpetualcc.permissions.shell.assignments import assign_alone, read_assignment
from perpetualcc.permissions.shell.redirects import Redirects, read_redirect
from perpetualcc.permissions.shell.running import emit
from perpetualcc.permissions.shell.script import UNKNOWN, Assignment, Problem, Word
from perpetualcc.permissions.shell.syntax import REDIRECTS
from perpetualcc.permissions.shell.walk import Walk

_VALUE_OF_VARIABLES = frozenset({"simple_expansion", "expansion", "concatenation"})
"""`$v`, `${v}` and `$v-`."""
_BRACES = frozenset("{}")
"""Words to the grammar where zsh knows a group: `! { ls } always { id }`."""
_TAKES_CODE = re.compile(rf"eval|trap|-[\w{UNKNOWN}]*[ceS]\S*|[gmn]?awk|g?sed")
"""Among the words of a command: another of them is code."""


def visit_command(walk: Walk, node: Node) -> None:
    read_command(walk, node, Redirects(), settle(walk, node))


def settle(walk: Walk, node: Node) -> int:
    """
    Take `A=1 B=2` with a line of its own out of the command on the next, of which the grammar
    makes it a part. How many children that were.
    """
    count = 0
    for index, child in enumerate(node.children[:-1]):
        if child.type not in {"variable_assignment", "comment"}:
            break
        if _ends_line(walk, child.end_byte, node.children[index + 1].start_byte):
            count = index + 1
    if count:
        assign_alone(walk, node.children[:count], node)
    return count


def read_command(walk: Walk, node: Node, redirects: Redirects, settled: int) -> None:
    """Run the command `node` with `redirects`, its first `settled` children left out."""
    start = len(walk.script.commands)
    words: list[Word] = []
    whole: list[Word] = []
    assignments: list[Assignment] = []
    end = -1
    for child in walk.children(node)[settled:]:
        known = len(words)
        if end >= 0 and _ends_line(walk, end, child.start_byte):
            walk.problem(Problem.SYNTAX, walk.text(node))
        if child.type == "command_name":
            words += [word for part in child.children for word in walk.words(part)]
        elif child.type == "variable_assignment":
            assignments += read_assignment(walk, child)
        elif child.type in REDIRECTS:
            read_redirect(walk, child, redirects)
        elif child.is_named:
            if walk.text(child) in _BRACES:
                walk.problem(Problem.UNKNOWN_CONSTRUCT, walk.text(node))
            words += walk.words(child)
            if child.start_byte == end and 0 < known < len(words):  # `--config=<(id)` is one
                words[known - 1 : known + 1] = [_joined(*words[known - 1 : known + 1])]
        else:
            words.append(_odd_token(walk, child))
        end = child.end_byte
        whole += _undivided(walk, child, words[known:])
    emit(walk, node, start, words, assignments, redirects)
    if len(whole) < len(words) and any(_TAKES_CODE.fullmatch(word.text) for word in whole):
        before = walk.snapshot()
        emit(walk, node, start, whole, assignments, redirects)
        walk.merge(before)


def _ends_line(walk: Walk, start: int, end: int) -> bool:
    return "\n" in walk.source[start:end].replace("\\\n", "")


def _undivided(walk: Walk, node: Node, words: list[Word]) -> list[Word]:
    """To zsh a variable's value is one word: `v='ls # x<newline>rm y'; eval $v` runs `rm`."""
    if node.type not in _VALUE_OF_VARIABLES or len(words) < 2:
        return words
    with walk.expander.undivided():
        return walk.expander.words(node)


def _odd_token(walk: Walk, node: Node) -> Word:
    """Tokens of `[[ … ]]` that the grammar lets stand in a command, and stray parentheses."""
    if node.is_missing or node.type in {"(", ")"}:
        walk.problem(Problem.SYNTAX, walk.text(node))
    return Word(walk.text(node))


def _joined(one: Word, other: Word) -> Word:
    return Word(
        one.text + other.text,
        one.splits or other.splits,
        one.globs or other.globs,
        (*one.code, *other.code),
        one.is_secret or other.is_secret,
    )
