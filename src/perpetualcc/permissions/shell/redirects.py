"""Where the streams of a command come from and go to: redirections and here-documents."""

from dataclasses import dataclass, field
from typing import Protocol

from tree_sitter import Node

from perpetualcc.permissions.shell.expander import Expander
from perpetualcc.permissions.shell.script import Problem, Redirection, Word
from perpetualcc.permissions.shell.syntax import REDIRECTS, VALUES


@dataclass(slots=True)
class Redirects:
    """What stands after a command: where its streams go, and words that follow them."""

    redirections: list[Redirection] = field(default_factory=list)
    stdin: str | None = None
    words: list[Word] = field(default_factory=list)


class Reading(Protocol):
    """What is asked of the reader of the script."""

    expander: Expander

    def text(self, node: Node) -> str: ...
    def children(self, node: Node) -> list[Node]: ...
    def words(self, node: Node) -> list[Word]: ...
    def visit(self, node: Node) -> None: ...
    def visit_children(self, node: Node) -> None: ...
    def problem(self, problem: Problem, part: str) -> None: ...


def read_redirect(reader: Reading, node: Node, found: Redirects) -> None:
    if node.type == "file_redirect":
        _file_redirect(reader, node, found)
    elif node.type == "herestring_redirect":
        words = [word for child in node.children if child.is_named for word in reader.words(child)]
        found.stdin = " ".join(word.text for word in words) + "\n"
    elif node.type == "heredoc_redirect":
        _heredoc(reader, node, found)
    else:
        reader.visit(node)


def _file_redirect(reader: Reading, node: Node, found: Redirects) -> None:
    operator, targets = "", []
    for child in reader.children(node):
        if child.is_error or child.is_missing:
            reader.problem(Problem.SYNTAX, reader.text(node))
        elif child.type == "file_descriptor":
            continue
        elif child.is_named:
            targets += reader.words(child)
        else:
            operator = child.type
    if targets:
        found.redirections.append(Redirection(operator=operator, target=targets[0]))
        found.words += targets[1:]
    elif not operator.endswith("-"):
        reader.problem(Problem.SYNTAX, reader.text(node))


def _heredoc(reader: Reading, node: Node, found: Redirects) -> None:
    delimiter, ending, body = "", None, None
    for child in node.children:
        if child.type == "heredoc_start":
            delimiter = reader.text(child)
        elif child.type == "heredoc_body":
            body = child
        elif child.type == "heredoc_end":
            ending = reader.text(child)
        elif child.type in REDIRECTS:
            read_redirect(reader, child, found)
        elif child.is_error or child.is_missing:
            reader.problem(Problem.SYNTAX, reader.text(child))
            reader.visit_children(child)
        elif child.type in VALUES:
            found.words += reader.words(child)
    name = delimiter.strip("'\"")
    is_quoted = name != delimiter
    if ending is None or ending.strip("\t") != name or not name.replace("_", "").isalnum():
        reader.problem(Problem.SYNTAX, reader.text(node))
    found.stdin = _heredoc_text(reader, body, is_quoted=is_quoted)
    if name in (line.strip("\t") for line in found.stdin.splitlines()):
        reader.problem(Problem.SYNTAX, reader.text(node))


def _heredoc_text(reader: Reading, body: Node | None, *, is_quoted: bool) -> str:
    if body is None:
        return ""
    return reader.text(body) if is_quoted else "".join(reader.expander.double_quoted(body))
