"""
The border to tree-sitter: text in, syntax tree out, within bounds of time and size.

Only ASCII crosses it: the grammar's scanner reads outside its tables, and ends the process, on
some other characters (tree-sitter-bash 0.25.1). Every other character goes as a full stop, which
is a plain character of words; so offsets in the tree are offsets in the text.

The grammar is quick on everything people write, but some hostile inputs take it minutes
(measured: 100 kB of `a=(`, 16 s; of `ls|`, 70 s), so every parse has a budget.
"""

import re
import threading
import time
from functools import cache
from itertools import pairwise

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

LENGTH_LIMIT = 1_000_000
"""Longer scripts are not read at all."""
PARSE_SECONDS = 0.08
"""Processor time for one parse; a 100 kB line of ordinary commands takes 0.04 s."""
NODE_LIMIT = 20_000
"""Nodes of one syntax tree. A here-document is one node, however long."""
SMALL_BYTES = 400
"""Below this even the worst input is quick, and the plain call is cheaper."""


TRIES = 8
"""Parses of one text; more are a line that was made for it."""

_OTHERS = re.compile(r"[^\x01-\x7f]")
_DOCUMENT = re.compile(r"(<<-?[ \t]*(?:\w+|'\w+'|\"\w+\")[^\n]*\n)\\[^\n']")
"""A here-document that begins with a backslash, which the grammar takes for more words."""
_INDENTED = re.compile(r"(?m)(?<!\\\n)^[ \t]+(?=\\*\$\()")
"""`$(…)` that begins an indented line of a here-document, which the grammar takes for text."""
_LINE = re.compile(
    r"((?<!\\)(?:\\\\)*\n|(?:^|(?<=\s))#[^\n'\"#]*\n)((?:\\\n)*\\(?=[\w./~+@%:,=\n-]))",
    re.MULTILINE,
)
r"""
A line that begins as `\rm`, or is a backslash alone: the grammar takes it for more words of the
line before.
"""


def parse(text: str) -> Node | None:
    """The root of the syntax tree, or None when the budget was used up."""
    if len(text) > LENGTH_LIMIT:
        return None
    if "\n\\" in text:
        text = _LINE.sub(lambda m: m[1] + m[2].replace("\\", " "), text)
    if "<<" in text:
        text = _INDENTED.sub(lambda m: "." * len(m[0]), _DOCUMENT.sub(r"\1..", text))
    source = (text if text.isascii() else _OTHERS.sub(".", text)).replace("\0", ".").encode("ascii")
    root = _parsed(source)
    if root is None or not any(sign in source for sign in _MISTAKEN):
        return root
    for _ in range(TRIES):
        if not (found := _mistaken(root, source)):
            return root
        for node in found:
            length = node.end_byte - node.start_byte
            source = source[: node.start_byte] + b"." * length + source[node.end_byte :]
        if (root := _parsed(source)) is None:
            return None
    return None


_MISTAKEN = (b"==", b"=~", b"<<")
"""Signs of what `_mistaken` finds."""


def _mistaken(root: Node, source: bytes) -> list[Node]:
    """
    What the grammar takes for something else than it is. `==` and `=~` that are words of a command
    make a pattern of what follows, as far as a bracket: `echo == a; id ]` runs `id`. A line that
    only begins as a here-document ends, `EOF && ls`, belongs to it.
    """
    found, left = [], [root]
    while left:
        node = left.pop()
        children = node.children
        left += children
        if node.type == "command":
            found += [sign for sign, pattern in pairwise(children) if pattern.type == "regex"]
        elif node.type == "heredoc_end":
            line_end = source.find(b"\n", node.end_byte)
            behind = source[node.end_byte : None if line_end < 0 else line_end]
            if behind and b")" not in behind:  # within `$(…)` it may end there
                found.append(node)
    return found


def _parsed(source: bytes) -> Node | None:
    parser = _parsers.parser
    if len(source) <= SMALL_BYTES:
        return parser.parse(source).root_node
    deadline = time.thread_time() + PARSE_SECONDS
    try:
        root = parser.parse(
            lambda offset, _point: source[offset : offset + 65_536],
            progress_callback=lambda _offset, _has_error: time.thread_time() > deadline,
        ).root_node
    except ValueError:  # how the binding reports that the callback stopped it
        parser.reset()
        return None
    return root if root.descendant_count <= NODE_LIMIT else None


class _Parsers(threading.local):
    """A parser each thread: one must not be used by two at a time."""

    def __init__(self) -> None:
        self.parser = Parser(_language())


@cache
def _language() -> Language:
    return Language(tree_sitter_bash.language())


_parsers = _Parsers()
