"""
Running a simple command: it is noted, and what it does to the rest of the script is followed.

A function does what its body says at the time of the call; `eval` and its like run their words
in this very shell. What the shell's other commands change is in `changes`.
"""

import re
from collections.abc import Sequence

from tree_sitter import Node

from perpetualcc.permissions.shell.changes import change
from perpetualcc.permissions.shell.numbers import RUNS_AS_NUMBER
from perpetualcc.permissions.shell.redirects import Redirects, read_redirect
from perpetualcc.permissions.shell.script import Assignment, Problem, SimpleCommand, Word
from perpetualcc.permissions.shell.syntax import REDIRECTS
from perpetualcc.permissions.shell.walk import COMMAND_LIMIT, WORD_LIMIT, Walk

FOLLOW_LIMIT = 8
"""`eval` in `eval`; as deep as commands inside commands are judged."""
REREAD_LIMIT = 50_000
"""Characters of functions that are read again for a call, and a hundred for the call itself."""
_SAME_SHELL = frozenset(
    {"eval", "builtin", "command", "time", "noglob", "nocorrect", "-", "repeat", "trap"}
)
_NO_REDIRECTS = Redirects()


def emit(
    walk: Walk,
    node: Node,
    start: int,
    words: Sequence[Word] = (),
    assignments: Sequence[Assignment] = (),
    redirects: Redirects = _NO_REDIRECTS,
) -> None:
    """Run what `node` says; the commands since `start` stand inside it."""
    words = (*words, *redirects.words)
    walk.word_count += len(words)
    if len(walk.script.commands) >= COMMAND_LIMIT or walk.word_count > WORD_LIMIT:
        walk.stop(Problem.TOO_LONG, walk.text(node))
    check_streams(walk, redirects, node)
    name = words[0].text if words else ""
    if name and name in walk.defining:
        walk.problem(Problem.RECURSION, walk.text(node))
    command = SimpleCommand(
        words=words,
        source=_source(walk.text(node)),
        assignments=tuple(assignments),
        redirections=tuple(redirects.redirections),
        cwds=walk.cwds,
        stdin=redirects.stdin if redirects.stdin is not None else walk.stdin,
        is_fed_secret=redirects.is_secret if redirects.stdin is not None else walk.is_fed_secret,
        upstream=walk.upstream,
        feeds=tuple(walk.script.commands[start:]),
        calls_function=name in walk.functions,
    )
    walk.script.commands.append(command)
    before = walk.snapshot() if name in walk.bodies else None
    if before is not None:
        is_followed = walk.reread < REREAD_LIMIT // 2  # what may differ each time is read each time
        with walk.variables.arguments(words[1:] if is_followed else None):
            _call(walk, name, node)
    if name in _SAME_SHELL:
        _follow(walk, command, node)
    else:
        change(walk, name, command, node)
    if before is not None:
        walk.merge(before)


def _source(text: str) -> str:
    """The beginning of `text`, with the variables that the rest of it names."""
    if len(text) <= _SOURCE_LENGTH:
        return text
    named = " ".join(dict.fromkeys(_VARIABLE.findall(text[_SOURCE_LENGTH - 80 :])))
    return text[:_SOURCE_LENGTH] + (f" … {named}" if named else "")


_SOURCE_LENGTH = 400
_VARIABLE = re.compile(r"\$\{?!?\w{1,80}")


def visit_redirect(walk: Walk, node: Node) -> None:
    """A redirection of a function, or a bare `> file`."""
    emit_redirect(walk, node, node)


def emit_redirect(walk: Walk, node: Node, owner: Node) -> None:
    """The same in `$(< file)`, which is its `owner`: how it is written."""
    start, redirects = len(walk.script.commands), Redirects()
    read_redirect(walk, node, redirects)
    emit(walk, owner, start, redirects=redirects)


def check_streams(walk: Walk, redirects: Redirects, node: Node) -> None:
    """Of a pipe and a file bash reads the file, and zsh both."""
    if redirects.feeds and _is_fed_by_pipe(node):
        walk.problem(Problem.UNKNOWN_CONSTRUCT, walk.text(node))


def _is_fed_by_pipe(node: Node) -> bool:
    """
    Whether this very command, and not something around it, reads from a pipe.

    In `a | b <<< x | c && d` the grammar has the list `b <<< x | c && d` in the pipe.
    """
    parent = node.parent
    if parent is None or parent.type not in {"pipeline", "redirected_statement", "list"}:
        return False
    is_first = parent.type == "redirected_statement" or parent.named_children[0] == node
    return _is_fed_by_pipe(parent) if is_first else parent.type == "pipeline"


def visit_function(walk: Walk, node: Node) -> None:
    name = node.child_by_field_name("name")
    own = "" if name is None else walk.text(name)
    walk.functions |= {own}
    parts = [child for child in walk.children(node) if child.is_named and child != name]
    walk.bodies[own] = parts, walk.source
    walk.settled.pop(own, None)
    before = walk.snapshot()
    walk.stand((*walk.cwds, None))
    with walk.variables.arguments(None):
        _read_body(walk, own)
    walk.cwds = before[1]
    walk.merge(before)


def _read_body(walk: Walk, name: str) -> None:
    """Read a function as it would run now."""
    outer = walk.source
    parts, walk.expander.source = walk.bodies[name]
    walk.defining.add(name)
    for child in parts:
        if child.type in REDIRECTS:
            visit_redirect(walk, child)
        else:
            walk.visit(child)
    walk.defining.discard(name)
    walk.expander.source = outer


def _call(walk: Walk, name: str, node: Node) -> None:
    """A function does now what its variables say now, and may change them."""
    before = walk.snapshot()
    is_alone = not walk.upstream and walk.stdin is None
    if name in walk.defining or (is_alone and walk.settled.get(name) == before):
        return
    walk.following += 1
    if walk.following > FOLLOW_LIMIT:
        walk.stop(Problem.TOO_DEEP, walk.text(node))
    walk.reread += 100 + sum(part.end_byte - part.start_byte for part in walk.bodies[name][0])
    if walk.reread > REREAD_LIMIT:
        walk.stop(Problem.TOO_LONG, walk.text(node))
    _read_body(walk, name)
    walk.merge(before)
    if is_alone and walk.snapshot() == before:  # the next call can do nothing else
        walk.settled[name] = before
    walk.following -= 1


def _follow(walk: Walk, command: SimpleCommand, node: Node) -> None:
    """`eval "cd x"`, `command cd x`: judged elsewhere, and it changes this very shell."""
    name, *words = command.words
    while words and words[0].text in {"-p", "--"}:
        words.pop(0)
    if name.text == "repeat":
        if words and RUNS_AS_NUMBER.search(words[0].text):
            walk.problem(Problem.UNKNOWN_CONSTRUCT, words[0].text)
        walk.expander.takes_numbers = True
        words = words[1:]
    elif name.text == "trap":
        words = words[:1]
    before = walk.snapshot()
    walk.following += 1
    if walk.following > FOLLOW_LIMIT:
        walk.stop(Problem.TOO_DEEP, walk.text(node))
    commands, problems = len(walk.script.commands), len(walk.script.problems)
    try:
        if name.text in {"eval", "trap"}:
            walk.read(" ".join(word.text for word in words))
        elif words:
            emit(walk, node, commands, words, command.assignments)
    finally:
        del walk.script.commands[commands:]
    del walk.script.problems[problems:]
    walk.following -= 1
    if name.text in {"command", "repeat", "trap"}:  # to zsh, `command cd` is a program
        walk.merge(before)
