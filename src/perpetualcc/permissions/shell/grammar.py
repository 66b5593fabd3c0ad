"""
The border to tree-sitter: text in, syntax tree out, within bounds of time and size.

The grammar is quick on everything people write, but some hostile inputs take it minutes
(measured: 100 kB of `a=(`, 16 s; of `ls|`, 70 s), so every parse has a budget.
"""

import time
from functools import cache

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

BYTES_LIMIT = 1_000_000
"""Longer scripts are not read at all."""
PARSE_SECONDS = 0.12
"""Processor time for one parse; a 100 kB line of ordinary commands takes 0.04 s."""
SMALL_BYTES = 400
"""Below this even the worst input is quick, and the plain call is cheaper."""


def parse(source: bytes) -> Node | None:
    """The root of the syntax tree, or None when the budget was used up."""
    if len(source) > BYTES_LIMIT:
        return None
    parser = _parser()
    if len(source) <= SMALL_BYTES:
        return parser.parse(source).root_node
    deadline = time.thread_time() + PARSE_SECONDS
    try:
        return parser.parse(
            lambda offset, _point: source[offset : offset + 65_536],
            progress_callback=lambda _offset, _has_error: time.thread_time() > deadline,
        ).root_node
    except ValueError:  # how the binding reports that the callback stopped it
        parser.reset()
        return None


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_bash.language()))
