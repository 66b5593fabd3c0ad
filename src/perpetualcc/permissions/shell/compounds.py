"""Groups, branches, loops and tests: what of a compound command runs, and how often."""

import re

from tree_sitter import Node

from perpetualcc.permissions.shell.assignments import visit_arithmetic
from perpetualcc.permissions.shell.numbers import COMPARES, RUNS_AS_NUMBER
from perpetualcc.permissions.shell.script import UNKNOWN, Problem
from perpetualcc.permissions.shell.substitutions import check_number
from perpetualcc.permissions.shell.syntax import VALUES
from perpetualcc.permissions.shell.variables import is_given_secret
from perpetualcc.permissions.shell.walk import Walk

LOOP_VALUES = 16
"""A loop over at most this many known words is followed word by word."""
_INSTEAD = frozenset({"elif_clause", "else_clause", "case_item"})
_RUN_PATTERN = re.compile(r"[<>]\(|\$(?:\"|\\\n)[^(]*\(")
"""
In the patterns of `[[ x =~ <(id) ]]` and `[[ x =~ ("${x:-'$"(id)'}") ]]` the grammar sees no
substitution.
"""
_NO_TEST = re.compile(r"\[\[[^\s(\\]")


def visit_subshell(walk: Walk, node: Node) -> None:
    check_number(walk, walk.text(node))
    with walk.isolated():
        walk.visit_children(node)


def visit_group(walk: Walk, node: Node) -> None:
    """`{ …; }`, and `((…))`, which the grammar calls the same."""
    if node.child_count and node.children[0].type == "((":
        walk.expander.takes_numbers = True
        visit_arithmetic(walk, node)
    else:
        walk.visit_children(node)


def visit_branches(walk: Walk, node: Node) -> None:
    """`if`, `case` and their parts: each part may run or not."""
    before = walk.snapshot()
    for child in walk.children(node):
        if child.type in _INSTEAD:  # what came before it did not run
            walk.merge(before)
        if child.type in VALUES:
            walk.words(child)
        else:
            walk.visit(child)
    walk.merge(before)


def visit_loop(walk: Walk, node: Node) -> None:
    """The body twice, when the first pass changed what the second would see."""
    before = walk.snapshot()
    walk.expander.takes_numbers |= node.type == "c_style_for_statement"
    walk.visit_children(node)
    walk.merge(before)
    if walk.snapshot() == before:
        return
    if walk.cwds != before[1]:
        walk.stand((*before[1], None))
    walk.visit_children(node)
    walk.merge(before)


def visit_for(walk: Walk, node: Node) -> None:
    name, body = node.child_by_field_name("variable"), node.child_by_field_name("body")
    if name is None or body is None:
        walk.problem(Problem.SYNTAX, walk.text(node))
        return
    given = [child for child in walk.children(node) if child.is_named and child not in (name, body)]
    values = [word.text for child in given for word in walk.words(child)]
    if any(RUNS_AS_NUMBER.search(value) for value in values):
        walk.problem(Problem.UNKNOWN_CONSTRUCT, walk.text(name))
    is_followed = walk.loop_product * len(values) <= LOOP_VALUES
    if not values or not is_followed or any(UNKNOWN in value for value in values):
        values = [UNKNOWN]
    if is_given_secret(" ".join(map(walk.text, given)), walk.variables.secrets):
        walk.variables.secrets.add(walk.text(name))
    outer, walk.loop_product = walk.loop_product, walk.loop_product * len(values)
    for value in values:
        walk.bind(walk.text(name), value, name)
        visit_loop(walk, body)
    walk.loop_product = outer
    walk.variables.set(walk.text(name), UNKNOWN)


def visit_test(walk: Walk, node: Node) -> None:
    """`[[ … ]]`; without a space behind it the first word is a command, of which zsh runs parts."""
    if _NO_TEST.match(walk.text(node)):
        walk.problem(Problem.UNKNOWN_CONSTRUCT, walk.text(node))
    for child in node.children:
        if child.type == "test_operator" and walk.text(child) in COMPARES:
            walk.expander.takes_numbers = True
        if child.is_error or child.is_missing or "[" in child.type[2:]:
            walk.problem(Problem.SYNTAX, walk.text(node))
        if child.type in VALUES:
            is_run = child.type == "regex" and _RUN_PATTERN.search(walk.text(child))
            if is_run or any(RUNS_AS_NUMBER.search(w.text) for w in walk.words(child)):
                walk.problem(Problem.UNKNOWN_CONSTRUCT, walk.text(child))
        else:
            visit_test(walk, child)
