"""
Commands behind one another: lists, pipelines, and the redirections behind the last of them.

The grammar gives the streams of the last command to all of them, and has a list in a pipe where
only the end of that list is; what the shell does is put right here.
"""

from collections.abc import Callable, Sequence
from functools import partial

from tree_sitter import Node

from perpetualcc.permissions.shell.redirected import read_redirected
from perpetualcc.permissions.shell.standing import Moment
from perpetualcc.permissions.shell.walk import Walk

Visit = Callable[[Node], None]
"""How the last command is read."""


def visit_list(walk: Walk, node: Node) -> None:
    """`a && b || c`: the first runs, the others may; `cd x && y` is certain inside `y`."""
    _list_with(walk, node, walk.visit)


def _list_with(walk: Walk, node: Node, visit_last: Visit) -> None:
    before = walk.snapshot()
    _visit_parts(walk, node, before, visit_last, after_or=False)
    walk.merge(before)


def _visit_parts(
    walk: Walk, node: Node, before: Moment, visit_last: Visit, *, after_or: bool
) -> bool:
    """Lists lean to the left, `(a && b) || c`. After `||` anything before may have failed."""
    children = walk.children(node)
    for child in children:
        if child.type == "list":
            after_or = _visit_parts(walk, child, before, walk.visit, after_or=after_or)
        elif child.is_named:
            (visit_last if child is children[-1] else walk.visit)(child)
        after_or = after_or or child.type == "||"
        if after_or:
            walk.merge(before)
    return after_or


def visit_pipeline(walk: Walk, node: Node) -> None:
    _pipeline_with(walk, node, walk.visit)


def _pipeline_with(walk: Walk, node: Node, visit_last: Visit) -> None:
    parts = [child for child in walk.children(node) if child.is_named]
    runs = [partial(walk.visit, child) for child in parts[1:-1]]
    runs += [partial(visit_last, child) for child in parts[-1:]]
    if len(parts) > 1:
        _lead(walk, parts[0], lambda run: _pipe(walk, [run, *runs]))
    else:
        _pipe(walk, runs)


def _lead(walk: Walk, node: Node, then: Callable[[Callable[[], None]], None]) -> None:
    """
    Visit what stands before a pipe, and `then` the pipe, told how its first part is visited.

    In `cd x && ls 2>&1 | cat` the grammar has the whole list in the pipe: `cd x` is not.
    """
    body = node.child_by_field_name("body") if node.type == "redirected_statement" else None
    if body is not None and body.type == "list":
        _list_with(walk, body, lambda last: then(lambda: _with_streams(walk, node, body, last)))
    elif body is not None and body.type == "pipeline":
        first, *more = [child for child in walk.children(body) if child.is_named]
        runs = [partial(walk.visit, child) for child in more[:-1]]
        runs += [partial(_with_streams, walk, node, body, child) for child in more[-1:]]
        _lead(walk, first, lambda run: then(lambda: _pipe(walk, [run, *runs])))
    else:
        then(lambda: walk.visit(node))


def _pipe(walk: Walk, runs: Sequence[Callable[[], None]]) -> None:
    """To zsh the last part is this very shell: `ls | cd ..` moves it, or not."""
    outer, fed, start = walk.upstream, walk.fed, len(walk.script.commands)
    for run in runs[:-1]:
        with walk.isolated():
            run()
        walk.upstream = outer + tuple(walk.script.commands[start:])
        walk.fed = None
    before = walk.snapshot()
    for run in runs[-1:]:
        run()
    walk.merge(before)
    walk.upstream, walk.fed = outer, fed


def visit_redirected(walk: Walk, node: Node) -> None:
    """`cd x && y > z` is `cd x`, and then `y > z`; the grammar has `> z` behind the list."""
    body = node.child_by_field_name("body")
    _with_streams(walk, node, body, body)


def _with_streams(walk: Walk, node: Node, whole: Node | None, body: Node | None) -> None:
    """To the last command in `body` belong the streams that `node` gives the `whole`."""
    if body is not None and body.type == "list":
        _list_with(walk, body, lambda last: _with_streams(walk, node, whole, last))
    elif body is not None and body.type == "pipeline":
        _pipeline_with(walk, body, lambda last: _with_streams(walk, node, whole, last))
    else:
        read_redirected(walk, node, whole, body)
