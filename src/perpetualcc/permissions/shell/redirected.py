"""A command with the streams that it is given: `ls > x`, `while …; done < x`, `cat <<EOF | sh`."""

from tree_sitter import Node

from perpetualcc.permissions.shell.redirects import Redirects, read_redirect
from perpetualcc.permissions.shell.running import check_streams, emit
from perpetualcc.permissions.shell.script import Problem, Word
from perpetualcc.permissions.shell.simple_commands import read_command, settle
from perpetualcc.permissions.shell.syntax import INSIDE_HEREDOC
from perpetualcc.permissions.shell.walk import Walk


def read_redirected(walk: Walk, node: Node, whole: Node | None, body: Node | None) -> None:
    """`body`, which is `whole` or the last part of it, with the streams of `node`."""
    is_simple = body is not None and body.type == "command"
    settled = settle(walk, body) if body is not None and is_simple else 0
    start = len(walk.script.commands)
    redirects = Redirects(words=_lost_dash(walk, node, whole))
    nodes = [child for child in node.children if child != whole]
    for child in nodes:
        read_redirect(walk, child, redirects)
    if body is not None and is_simple:
        read_command(walk, body, redirects, settled)
    else:
        _compound_with(walk, body, redirects, node, start)
    for child in nodes:
        if child.type == "heredoc_redirect":
            _after_heredoc(walk, child, start)


def _lost_dash(walk: Walk, node: Node, body: Node | None) -> list[Word]:
    """In `python - <<EOF` the grammar drops the dash: it is in no node, only in the text."""
    first = next((c for c in node.children if c != body), None)
    if body is None or first is None:
        return []
    gap = walk.source[body.end_byte : first.start_byte].replace("\\\n", " ").strip(" \t")
    if gap not in {"", "-"}:
        walk.problem(Problem.SYNTAX, gap)
    return [Word("-")] if gap == "-" else []


def _compound_with(
    walk: Walk, body: Node | None, redirects: Redirects, node: Node, start: int
) -> None:
    if body is not None:
        check_streams(walk, redirects, body)
        outer, is_secret, fed = walk.stdin, walk.is_fed_secret, walk.fed
        if redirects.stdin is not None:
            walk.stdin, walk.is_fed_secret = redirects.stdin, redirects.is_secret
        if redirects.stdin is not None or any(r.operator == "<" for r in redirects.redirections):
            walk.fed = tuple(walk.script.commands[start:])
        walk.visit(body)
        walk.stdin, walk.is_fed_secret, walk.fed = outer, is_secret, fed
    emit(walk, node, start, redirects=redirects)


def _after_heredoc(walk: Walk, node: Node, start: int) -> None:
    """`cat <<EOF | sh` and `cat <<EOF && ls`: the grammar hides the rest in the redirect."""
    for child in node.children:
        if child.type == "pipeline":
            outer, walk.upstream = walk.upstream, tuple(walk.script.commands[start:])
            walk.visit(child)
            walk.upstream = outer
        elif child.is_named and child.type not in INSIDE_HEREDOC and not child.is_error:
            walk.visit(child)
