"""
What a line says that its variables hold: `NAME=value`, `export NAME`, `((NAME = 1))`.

A subscript is a number, and in a number a variable may be set. The other ways to set one are in
`binding`.
"""

import re
from collections.abc import Sequence

from tree_sitter import Node

from perpetualcc.permissions.shell.binding import ZSH_LISTS, is_frozen
from perpetualcc.permissions.shell.expander import HIDES, PLAIN_LEAVES
from perpetualcc.permissions.shell.numbers import RUNS_AS_NUMBER
from perpetualcc.permissions.shell.running import emit
from perpetualcc.permissions.shell.script import UNKNOWN, Assignment, Problem, Word
from perpetualcc.permissions.shell.syntax import SUBSTITUTIONS
from perpetualcc.permissions.shell.variables import is_given_secret
from perpetualcc.permissions.shell.walk import Walk


def visit_assignments(walk: Walk, node: Node) -> None:
    """Assignments alone on a line."""
    assign_alone(walk, [node] if node.type == "variable_assignment" else node.children, node)


def assign_alone(walk: Walk, nodes: Sequence[Node], owner: Node) -> None:
    """Assignments with no command behind them; `owner` is how they are written."""
    start = len(walk.script.commands)
    assignments = [found for node in nodes for found in _assign(walk, node)]
    emit(walk, owner, start, assignments=assignments)


def visit_declaration(walk: Walk, node: Node) -> None:
    """`export`, `declare`, `local`, `readonly`, `typeset`, `unset`."""
    start = len(walk.script.commands)
    first, *rest = walk.children(node)
    words, assignments, end = [Word(walk.text(first))], [], first.end_byte
    for child in rest:
        if child.type == "variable_assignment":
            assignments += _assign(walk, child)
        elif child.is_named:
            more = walk.words(child)
            if more and child.start_byte == end and len(words) > 1:  # `export PATH"=/x"`
                more[0] = Word(words.pop().text + more[0].text)
            words += more
        end = child.end_byte
    if words[0].text == "local" and not walk.defining:  # bash refuses it here
        walk.variables.forget(assignment.name for assignment in assignments)
    emit(walk, node, start, words, assignments)
    for assignment in assignments if is_frozen(words) else ():
        walk.variables.freeze(assignment.name, is_certain=not walk.defining)


def _assign(walk: Walk, node: Node) -> list[Assignment]:
    found, words = _read(walk, node)
    target = node.child_by_field_name("name")
    is_more = any(child.type == "+=" for child in node.children)
    if words is not None and found:
        walk.variables.set_list(found[0].name, words, is_more=is_more)
        return found
    is_part = is_more or (target is not None and target.type == "subscript")
    for assignment in found:
        if is_part or walk.variables.has_list(assignment.name):
            walk.variables.set_element(
                assignment.name, assignment.value.text, _number(walk, target)
            )
        else:
            walk.variables.set(assignment.name, assignment.value.text)
    return found


def _number(walk: Walk, target: Node | None) -> int | None:
    """Which word of a list is given: without a subscript it is the first."""
    if target is None or target.type != "subscript":
        return 0
    number = _NUMBERED.search(walk.text(target))
    return int(number[1]) if number else None


_NUMBERED = re.compile(r"\[(\d{1,4})\]\Z")


def read_assignment(walk: Walk, node: Node) -> list[Assignment]:
    """What `node` says; before a command it holds for that command alone."""
    return _read(walk, node)[0]


def _read(walk: Walk, node: Node) -> tuple[list[Assignment], list[Word] | None]:
    """The same, and the words of a list."""
    target, given = node.child_by_field_name("name"), node.child_by_field_name("value")
    if target is None:
        return [], None
    if target.type == "subscript":
        visit_arithmetic(walk, target)
    name = walk.text(target).split("[")[0]
    if given is None:
        return [Assignment(name=name, value=Word(""))], None
    is_list = given.type == "array"
    if is_list:
        words = [word for child in given.children if child.is_named for word in walk.words(child)]
    else:
        with walk.expander.undivided():  # neither shell divides what it assigns
            words = walk.words(given)
    if RUNS_AS_NUMBER.search(" ".join(word.text for word in words)):
        walk.problem(Problem.UNKNOWN_CONSTRUCT, walk.text(node))
    value = UNKNOWN
    if is_list and name in ZSH_LISTS:
        value = ":".join(word.text for word in words)
    elif len(words) == 1 and not is_list:
        is_more = any(child.type == "+=" for child in node.children)
        value = UNKNOWN * is_more + words[0].text
    is_secret = is_given_secret(walk.text(given), walk.variables.secrets)
    if is_secret:
        walk.variables.secrets.add(name)
    assignment = Assignment(name=name, value=Word(value), is_secret=is_secret)
    return [assignment], words if is_list else None


def visit_arithmetic(walk: Walk, node: Node) -> None:
    """Numbers and names are harmless; substitutions run, and subscripts can run code."""
    walk.expander.count(node)
    for child in node.children:
        if child.type in SUBSTITUTIONS:
            walk.words(child)
        elif child.type == "variable_assignment":
            _assign(walk, child)
        elif child.type in PLAIN_LEAVES and HIDES.search(text := walk.text(child)):
            walk.hidden(text)
        else:
            if child.type == "subscript" or child.is_error:
                walk.problem(Problem.UNKNOWN_CONSTRUCT, walk.text(child))
            visit_arithmetic(walk, child)
