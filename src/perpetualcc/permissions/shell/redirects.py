"""Where the streams of a command come from and go to: redirections and here-documents."""

import re
from dataclasses import dataclass, field

from tree_sitter import Node

from perpetualcc.permissions.shell.script import Problem, Redirection, Word
from perpetualcc.permissions.shell.syntax import REDIRECTS, VALUES
from perpetualcc.permissions.shell.variables import is_given_secret
from perpetualcc.permissions.shell.walk import Walk


@dataclass(slots=True)
class Redirects:
    """What stands after a command: where its streams go, and words that follow them."""

    redirections: list[Redirection] = field(default_factory=list)
    stdin: str | None = None
    is_secret: bool = False
    """There is a secret in that text."""
    words: list[Word] = field(default_factory=list)

    @property
    def feeds(self) -> bool:
        """Whether they give the command something to read."""
        return self.stdin is not None or any(
            r.operator == "<" and r.target.text != "/dev/null" for r in self.redirections
        )


def read_redirect(walk: Walk, node: Node, found: Redirects) -> None:
    if node.type == "file_redirect":
        _file_redirect(walk, node, found)
    elif node.type == "herestring_redirect":
        words = [word for child in node.children if child.is_named for word in walk.words(child)]
        if found.feeds:  # bash reads the last, zsh one after the other
            walk.problem(Problem.UNKNOWN_CONSTRUCT, walk.text(node))
        found.stdin = " ".join(word.text for word in words) + "\n"
        found.is_secret = any(word.is_secret for word in words)
    elif node.type == "heredoc_redirect":
        _heredoc(walk, node, found)
    else:
        walk.visit(node)


def _file_redirect(walk: Walk, node: Node, found: Redirects) -> None:
    operator = ""
    targets: list[Word] = []
    words: list[Word] = []
    for child in walk.children(node):
        if child.is_error or child.is_missing:
            walk.problem(Problem.SYNTAX, walk.text(node))
        elif child.type == "file_descriptor":
            continue
        elif not child.is_named:
            operator = child.type
        elif not targets:
            targets = walk.words(child)
        else:
            words += walk.words(child)
    if words and [target.text for target in targets] == ["!"]:  # `>! file` of zsh
        walk.problem(Problem.UNKNOWN_CONSTRUCT, walk.text(node))
        targets = [words.pop(0)]
    if targets:  # bash refuses `> {a,b}`, zsh writes to both
        found.redirections += [Redirection(operator=operator, target=word) for word in targets]
        found.words += words
    elif not operator.endswith("-"):
        walk.problem(Problem.SYNTAX, walk.text(node))


def _heredoc(walk: Walk, node: Node, found: Redirects) -> None:
    parts = {child.type: child for child in node.children}
    start, body, ending = (parts.get(f"heredoc_{part}") for part in ("start", "body", "end"))
    delimiter = walk.text(start) if start is not None else ""
    line_end = _line_end(walk.source, node if start is None else start, node)
    rest = [child for child in node.children if child not in (start, body, ending)]
    for child in rest:
        if child.start_byte < line_end:
            _beside_heredoc(walk, child, line_end, found)
    name = delimiter.strip("'\"")
    is_quoted = name != delimiter
    written = "" if ending is None else walk.text(ending).strip("\t")
    is_whole = delimiter in {name, f"'{name}'", f'"{name}"'}
    is_ended = (
        ending is None or walk.source[ending.end_byte : ending.end_byte + 1].strip("\n") == ""
    )
    if not (is_whole and is_ended) or written != name or not name.replace("_", "").isalnum():
        walk.problem(Problem.SYNTAX, walk.text(node))
    if ending is not None and any(child.end_byte > line_end for child in rest):
        text = walk.source[line_end + 1 : ending.start_byte]
        found.stdin = text if is_quoted else walk.document(text.removesuffix("\n"))
        found.is_secret = not is_quoted and is_given_secret(text, walk.variables.secrets)
    elif body is None or is_quoted:
        found.stdin = "" if body is None else walk.text(body)
    else:
        found.stdin, found.is_secret = walk.expander.document(body)
    if name in (line.strip("\t") for line in found.stdin.splitlines()):
        walk.problem(Problem.SYNTAX, walk.text(node))


def _beside_heredoc(walk: Walk, node: Node, line_end: int, found: Redirects) -> None:
    """What stands behind `<<EOF` on its line; a node that goes on below was misread."""
    if node.end_byte > line_end:
        walk.problem(Problem.SYNTAX, walk.text(node))
    if node.type in REDIRECTS:
        read_redirect(walk, node, found)
    elif node.is_error or node.is_missing:
        walk.problem(Problem.SYNTAX, walk.text(node))
        walk.visit_children(node)
    elif node.type in VALUES:
        found.words += walk.words(node)


_LINE_END = re.compile(r"(?<!\\)\n")


def _line_end(source: str, start: Node, whole: Node) -> int:
    """Before the body; one that begins with a backslash the grammar takes for words."""
    found = _LINE_END.search(source, start.end_byte, whole.end_byte)
    return found.start() if found else whole.end_byte
