"""
Code to chunks: one for each function, one for what a class says itself, the rest by runs of lines.

Nested functions stay with their outer one, as long as that fits.
"""

from collections.abc import Iterator

from perpetualcc.knowledge.parse.languages import LANGUAGES
from perpetualcc.knowledge.parse.pieces import MAX_CHARS, pieces
from perpetualcc.knowledge.parse.syntax import Span
from perpetualcc.knowledge.values import Chunk, ChunkKind

SMALL_CLASS = 800
"""Characters up to which a class and its methods are one chunk."""
SMALL_GAP = 120
"""Characters between two definitions that belong to the second."""


class CodeChunks:
    """The chunks of one file of code."""

    def __init__(
        self, lines: list[str], spans: tuple[Span, ...], names: tuple[str, ...], language: str
    ) -> None:
        self._lines = lines
        self._spans = spans
        self._names = names
        self._comments = LANGUAGES[language].comments

    def __iter__(self) -> Iterator[Chunk]:
        yield from self._inside(0, len(self._lines) - 1, range(len(self._spans)), None)

    def _inside(
        self, start: int, end: int, candidates: range, owner: int | None
    ) -> Iterator[Chunk]:
        """The chunks of a file or class: its definitions, and the gaps between them."""
        cursor = start
        index = candidates.start
        while index < candidates.stop:
            span = self._spans[index]
            beyond = self._after(index, candidates.stop)
            if span.start >= cursor or (owner is None and span.end > cursor):
                lead = self._lead_in(max(span.start, cursor), cursor)
                if self._size(cursor, lead - 1) > SMALL_GAP:
                    yield from self._gap(cursor, lead - 1, owner)
                else:
                    lead = cursor
                yield from self._definition(index, lead, range(index + 1, beyond))
                cursor = span.end + 1
            index = beyond
        yield from self._gap(cursor, end, owner)

    def _after(self, index: int, stop: int) -> int:
        """The first span behind `index` that is not inside it."""
        end = self._spans[index].end
        index += 1
        while index < stop and self._spans[index].end <= end:
            index += 1
        return index

    def _lead_in(self, start: int, earliest: int) -> int:
        """Where the comments and attributes directly above a definition begin."""
        while start > earliest and self._lines[start - 1].lstrip().startswith(self._comments):
            start -= 1
        return start

    def _size(self, start: int, end: int) -> int:
        return sum(len(line.strip()) for line in self._lines[start : end + 1])

    def _definition(self, index: int, start: int, inner: range) -> Iterator[Chunk]:
        span = self._spans[index]
        is_small = self._size(start, span.end) <= SMALL_CLASS
        if span.kind is ChunkKind.CLASS and inner and not is_small:
            yield from self._inside(start, span.end, inner, index)
            return
        for first, last, text in pieces(self._lines, start, span.end):
            yield Chunk(
                start=first + 1,
                end=last + 1,
                text=text,
                kind=span.kind,
                symbol=self._names[index],
                signature=span.signature,
            )

    def _gap(self, start: int, end: int, owner: int | None) -> Iterator[Chunk]:
        span = None if owner is None else self._spans[owner]
        for first, last, text in pieces(self._lines, start, end):
            if len(text.strip()) < 3:  # a closing bracket
                continue
            yield Chunk(
                start=first + 1,
                end=last + 1,
                text=text,
                kind=ChunkKind.MODULE if span is None else ChunkKind.CLASS,
                symbol="" if owner is None else self._names[owner],
                signature="" if span is None else span.signature,
            )


__all__ = ["MAX_CHARS", "CodeChunks"]
