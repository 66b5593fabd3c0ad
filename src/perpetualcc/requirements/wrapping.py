"""Which lines of plain text go on with the line before, and which say something of their own."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

_GOES_ON = (",", ";", ":", "(", "–", "—", "-", "/", "&")


def own_lines(lines: Iterable[tuple[int, str]]) -> frozenset[int]:
    """
    Numbers of lines that begin anew, however long the line above them is.

    Text that an editor wrapped breaks where the next word would not have fitted. Where most
    breaks of a block come although it would have, the block is a list without bullets.
    """
    return frozenset(
        number
        for block in _blocks(lines)
        if _is_list([line for _, line in block])
        for (_, above), (number, line) in pairwise(block)
        if not line[:1].islower() and not above.endswith(_GOES_ON)
    )


def _blocks(lines: Iterable[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """What stands together between empty lines."""
    block: list[tuple[int, str]] = []
    for number, line in lines:
        if line.strip():
            block.append((number, line.strip()))
        elif block:
            yield block
            block = []
    yield block


def _is_list(lines: Sequence[str]) -> bool:
    width = max(map(len, lines), default=0)
    breaks = [len(above) + 1 + len(line.split()[0]) <= width for above, line in pairwise(lines)]
    return len(breaks) > 1 and 2 * sum(breaks) > len(breaks)
