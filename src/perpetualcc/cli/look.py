"""
How output looks: colours, panels, tables.

Our own few lines instead of a library, because a listing must cost no more than starting the
command-line parser does (measured: the usual one doubles the time of `pcc list`). Everything
reads the same without colour.
"""

import json
import os
import re
import sys
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from perpetualcc.domain import times

_CODES = {"green": 32, "yellow": 33, "red": 31, "cyan": 36, "dim": 2, "bold": 1}

_PAGES_ROOM = 3
"""Of a terminal's line; a page breaks it."""
_is_for_a_page = ContextVar("_is_for_a_page", default=False)


@contextmanager
def for_a_page() -> Iterator[None]:
    """
    What is written meanwhile, a page of the dashboard makes its own look of: always coloured, with
    room for more, and with times as escapes, since a browser may be in another zone. What
    `printable` has been over cannot contain either.
    """
    before = _is_for_a_page.set(True)
    try:
        yield
    finally:
        _is_for_a_page.reset(before)


def moment(at: float) -> str:
    """As `times.moment`."""
    return f"\x1b]moment;{at}\x07" if _is_for_a_page.get() else times.moment(at)


def clock(at: float) -> str:
    """As `times.clock`."""
    return f"\x1b]clock;{at}\x07" if _is_for_a_page.get() else times.clock(at)


def steers() -> bool:
    """Whether the output is a terminal that understands escape sequences."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def coloured(text: str, colour: str) -> str:
    """The text in a colour, on a terminal that wants one (https://no-color.org)."""
    is_wanted = _is_for_a_page.get() or (steers() and "NO_COLOR" not in os.environ)
    if not colour or not is_wanted:
        return text
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m"


_JOINER, _NON_JOINER, _EMOJI_STYLE = "\u200d", "\u200c", "\ufe0f"
_KEPT = f"\n\t{_JOINER}{_NON_JOINER}"
"""Emoji, and the scripts of Persia and India, need both joiners."""
_SKIN_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"


def width(text: str) -> int:
    """Columns that the text takes on a terminal."""
    return sum(widths_of(text))


def widths_of(text: str) -> Iterator[int]:
    """
    Columns of each character, given what stands before it.

    A symbol that is joined to another takes no room of its own, nor does a skin tone, and the
    emoji style makes a narrow symbol wide (UAX #11, UTS #51). Terminals disagree about these;
    most modern ones do this.
    """
    before, taken = "", 0
    for c in text:
        columns = 2 if unicodedata.east_asian_width(c) in "WF" else 1
        if c == _EMOJI_STYLE:
            columns = 1 if taken == 1 and _is_symbol(before) else 0
        elif _takes_no_room(c, before):
            columns = 0
        yield columns
        before, taken = c, columns


def _takes_no_room(c: str, before: str) -> bool:
    if c in {_JOINER, _NON_JOINER} or unicodedata.category(c) in {"Mn", "Me"}:
        return True
    return (_is_symbol(c) and before == _JOINER) or (c in _SKIN_TONES and _is_symbol(before))


def _is_symbol(c: str) -> bool:
    return c != "" and unicodedata.category(c) == "So"


def printable(text: str) -> str:
    """Text from outside, without what could steer a terminal."""
    return "".join(c if c in _KEPT or c.isprintable() else "�" for c in text)


def one_line(text: str) -> str:
    """The whole text, uncut, without what could steer a terminal."""
    return " ".join(printable(text).split())


def fit(text: str, columns: int) -> str:
    """The text's first line that says something, cut to at most so many columns."""
    columns = columns * _PAGES_ROOM if _is_for_a_page.get() else columns
    line = printable(next(iter(text.strip().splitlines()), "")).replace("\t", " ")
    # No character but a mark or a joiner takes no room, so this much is more than enough.
    beginning = line[: columns * 8 + 8]
    room, end = columns - 1, 0
    if beginning == line and width(line) <= columns:
        return line
    for position, taken in enumerate(widths_of(beginning), start=1):
        room -= taken
        if room < 0:
            break
        end = position
    return line[:end].rstrip().rstrip(_JOINER) + "…"


def wrapped(text: str, columns: int) -> list[str]:
    """The whole text on lines of so many columns at most, broken between words if it can be."""
    lines, line = [], ""
    for word in one_line(text).split():
        if line and width(f"{line} {word}") > columns:
            lines.append(line)
            line = ""
        line = f"{line} {word}" if line else word
        while width(line) > columns:
            head = _beginning(line, columns) or line[0]
            lines.append(head)
            line = line.removeprefix(head)
    return [*lines, line]


def _beginning(text: str, columns: int) -> str:
    room = columns
    for position, taken in enumerate(widths_of(text)):
        room -= taken
        if room < 0:
            return text[:position]
    return text


_COLOURING = re.compile(r"\x1b\[\d*m")
_HEAD = re.compile(
    r"\s*(?:\[[\d:]+\]\s+)?"
    r"(?:Claude: |(?:note|error): |hint:  |(?:\x1b\[\d*m)?[✓✗](?:\x1b\[\d*m)? "
    r"|[A-Z][A-Za-z ]*:  +)?"
)
"""A moment and who speaks, or the name of a value: what follows stands below what was said."""


def hung(line: str) -> str:
    """
    The line, on several where the terminal has no room for it, the further ones below its text.

    Broken between words only; a path or an address that is wider stays whole.
    """
    limit, head = terminal_width(), _HEAD.match(line)
    indent = width(_COLOURING.sub("", head[0])) if head else 0
    if limit is None or limit < 2 * indent or width(_COLOURING.sub("", line)) <= limit:
        return line
    lines, rest = [], ""
    for word in re.findall(r"\s*\S+", line):
        if rest.strip() and width(_COLOURING.sub("", rest + word)) > limit:
            lines.append(rest)
            rest = " " * indent + word.lstrip()
        else:
            rest += word
    return "\n".join([*lines, rest])


def tell(text: str) -> None:
    """A note, an error or a hint, beside what a command prints."""
    print("\n".join(map(hung, printable(text).splitlines())), file=sys.stderr)


def terminal_width() -> int | None:
    """Columns of the terminal; None when the output goes elsewhere and needs no limit."""
    if _is_for_a_page.get() or not sys.stdout.isatty():
        return None
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdecimal() else os.get_terminal_size(1).columns or None


def print_json(value: Any) -> None:
    """What `--json` prints, for programs and for eyes."""
    takes_all = (sys.stdout.encoding or "").lower().startswith("utf")
    print(json.dumps(value, indent=2, ensure_ascii=not takes_all))


def padded(text: str, columns: int) -> str:
    return text + " " * max(0, columns - width(text))


def panel(title: str, lines: Sequence[str]) -> str:
    """A box with a title, as wide as it needs to be and the terminal allows."""
    limit = terminal_width() or 1000
    title = fit(title, max(10, limit - 6))
    lines = [fit(line, max(10, limit - 4)) for line in lines]
    inner = max([width(title) + 4, min(60, limit - 2), *(width(line) + 2 for line in lines)])
    top = f"╭─ {title} {'─' * (inner - width(title) - 3)}╮"
    body = [f"│ {padded(line, inner - 1)}│" for line in lines]
    return "\n".join([top, *body, f"╰{'─' * inner}╯"])


def table(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    colours: Sequence[str] = (),
    wrapping: Collection[str] = (),
) -> str:
    """
    A box with columns; on a terminal the widest give way, and headers wrap, but no word or number
    that stands alone in its cells is cut. On one that is too narrow for that, a block of lines for
    each row. The first line of a cell is cut to its room, further ones wrap.

    `colours`: of each row's last cell, empty for none. Cells themselves are plain text.
    `wrapping`: columns by their headers, in which the first line of a cell wraps, too.
    """
    cells = [[cell.split("\n") for cell in row] for row in [headers, *rows]]
    natural = [max(_natural(row[i]) for row in cells) for i in range(len(headers))]
    limit = terminal_width()
    widths = _narrowed(natural, cells, limit)
    is_cramped = any(
        w < min(wish, _READABLE) and header in wrapping
        for w, wish, header in zip(widths, natural, headers, strict=True)
    )
    if limit is not None and (is_cramped or _boxed(widths) > limit):
        return _blocks(cells, limit, colours)
    cells = [
        [
            _laid(cell, w, wraps=place == 0 or header in wrapping)
            for cell, w, header in zip(row, widths, headers, strict=True)
        ]
        for place, row in enumerate(cells)
    ]
    drawn = [
        _row(row, widths, colour)
        for row, colour in zip(cells, ["", *(colours or [""] * len(rows))], strict=True)
    ]
    bars = ["─" * (columns + 2) for columns in widths]
    return "\n".join(
        [
            f"┌{'┬'.join(bars)}┐",
            drawn[0],
            f"├{'┼'.join(bars)}┤",
            *drawn[1:],
            f"└{'┴'.join(bars)}┘",
        ]
    )


_READABLE = 20
"""Columns below which a text that wraps is better told below its row than in it."""


def _laid(cell: Sequence[str], columns: int, *, wraps: bool) -> list[str]:
    first, *more = cell
    head = wrapped(first, columns) if wraps else [fit(first, columns)]
    return [*head, *(part for line in more for part in wrapped(line, columns))]


_NARROWEST = 10
"""Columns that a cell keeps in a box: of less nobody can tell one name from another."""


_FURTHER = 40
"""Columns from which on a cell's further lines wrap, where nothing else needs more."""


def _natural(cell: Sequence[str]) -> int:
    first, *more = map(width, cell)
    return max(first, min(_FURTHER, max(more, default=0)))


_WORD = 12
"""Columns of a status, a number, how long ago: cut, they say nothing. What is longer is a text."""


def _narrowed(
    widths: list[int], cells: Sequence[Sequence[Sequence[str]]], limit: int | None
) -> list[int]:
    """
    Take from the columns that only their header makes wide, then from the widest, until the table
    fits; never from the first, which names the row: it is what a person types next.
    """
    headers, *rows = cells
    told = [max((_natural(row[i]) for row in rows), default=0) for i in range(len(widths))]
    words = [max(map(width, header.split()), default=0) for (header,) in headers]
    floors = [
        max(word, wide if wide <= _WORD else _NARROWEST)
        for word, wide in zip(words, told, strict=True)
    ]
    widths = list(widths)
    while limit is not None and _boxed(widths) > limit:
        spare = [i for i in range(1, len(widths)) if widths[i] > floors[i]]
        if not spare:
            break
        widths[max(spare, key=lambda i: (widths[i] > told[i], widths[i]))] -= 1
    return widths


def _boxed(widths: Sequence[int]) -> int:
    """Columns of a whole line."""
    return sum(widths) + 3 * len(widths) + 1


def _blocks(cells: Sequence[Sequence[Sequence[str]]], limit: int, colours: Sequence[str]) -> str:
    """The first cell, and the others below it, whole, behind their headers; no empty ones."""
    (_, *headers), *rows = cells
    names = [name for (name,) in headers]
    wide = max(map(width, names), default=0)
    lines: list[str] = []
    for (first, *others), colour in zip(rows, colours or [""] * len(rows), strict=True):
        lines += [fit(line, limit) for line in first]
        for place, (name, cell) in enumerate(zip(names, others, strict=True), start=1):
            head = f"  {padded(name, wide)}  "
            room = max(_NARROWEST, limit - width(head))
            told = [part for line in cell if line for part in wrapped(line, room)]
            heads = [head, *[" " * width(head)] * len(told)]
            shade = colour if place == len(names) else ""
            lines += [h + coloured(line, shade) for h, line in zip(heads, told, strict=False)]
    return "\n".join(lines)


def _row(row: Sequence[Sequence[str]], widths: Sequence[int], colour: str) -> str:
    height = max(len(cell) for cell in row)
    lines = [[cell[i] if i < len(cell) else "" for cell in row] for i in range(height)]
    return "\n".join(_line(line, widths, colour) for line in lines)


def _line(line: Sequence[str], widths: Sequence[int], colour: str) -> str:
    *cells, last = [f" {padded(text, w)} " for text, w in zip(line, widths, strict=True)]
    return "│" + "│".join([*cells, coloured(last, colour)]) + "│"
