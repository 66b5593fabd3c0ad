"""
Cutting a run of lines into pieces that a model can read.

A cut goes where a person would make it: after a blank line, before the least indented line.
"""

from collections.abc import Iterator

MAX_CHARS = 2_000
"""About 500 tokens (seed 000, Phase 7), at four characters a token."""


def pieces(lines: list[str], start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """
    The lines `start` to `end` (from 0, inclusive) as (start, end, text) of `MAX_CHARS` at most.

    Blank lines at either end of a piece are left out; a line that is too long is cut itself.
    """
    while start <= end:
        if len(lines[start]) > MAX_CHARS:
            yield from _parts_of_line(lines[start], start)
            start += 1
            continue
        last = _fitting(lines, start, end)
        if last < end:
            last = _best_cut(lines, start, last)
        yield from _trimmed(lines, start, last)
        start = last + 1


def _parts_of_line(line: str, number: int) -> Iterator[tuple[int, int, str]]:
    for offset in range(0, len(line), MAX_CHARS):
        yield number, number, line[offset : offset + MAX_CHARS]


def _fitting(lines: list[str], start: int, end: int) -> int:
    size = 0
    for number in range(start, end + 1):
        size += len(lines[number]) + 1
        if size > MAX_CHARS + 1 and number > start:
            return number - 1
    return end


def _best_cut(lines: list[str], start: int, last: int) -> int:
    """The last line of a piece: between the middle and the end of what fits."""
    earliest = start + (last - start) // 2

    def cost(number: int) -> tuple[int, int]:
        following = lines[number + 1]
        indentation = len(following) - len(following.lstrip())
        is_inside = bool(lines[number].strip())
        return (indentation * 2 + is_inside if following.strip() else 1_000, -number)

    return min(range(earliest, last + 1), key=cost)


def _trimmed(lines: list[str], start: int, end: int) -> Iterator[tuple[int, int, str]]:
    while start <= end and not lines[start].strip():
        start += 1
    while end >= start and not lines[end].strip():
        end -= 1
    if start <= end:
        yield start, end, "\n".join(lines[start : end + 1])
