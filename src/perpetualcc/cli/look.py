"""
How output looks: colours, panels, tables, times.

Our own few lines instead of a library, because a listing must cost no more than starting the
command-line parser does (measured: the usual one doubles the time of `pcc list`). Everything
reads the same without colour.
"""

import os
import sys
import time
import unicodedata
from collections.abc import Sequence

_CODES = {"green": 32, "yellow": 33, "red": 31, "cyan": 36, "dim": 2, "bold": 1}


def coloured(text: str, colour: str) -> str:
    """The text in a colour, on a terminal that wants one (https://no-color.org)."""
    if not colour or not sys.stdout.isatty() or "NO_COLOR" in os.environ:
        return text
    return f"\x1b[{_CODES[colour]}m{text}\x1b[0m"


def width(text: str) -> int:
    """Columns that the text takes on a terminal."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def printable(text: str) -> str:
    """Text from outside, without what could steer a terminal."""
    return "".join(c if c in "\n\t" or c.isprintable() else "�" for c in text)


def fit(text: str, columns: int) -> str:
    """The text's first line, cut to at most so many columns."""
    line = printable(text).splitlines()[0] if text.strip() else ""
    if width(line) <= columns:
        return line
    while line and width(line) > columns - 1:
        line = line[:-1]
    return line.rstrip() + "…"


def padded(text: str, columns: int) -> str:
    return text + " " * max(0, columns - width(text))


def panel(title: str, lines: Sequence[str]) -> str:
    """A box with a title, as wide as it needs to be."""
    inner = max([width(title) + 4, 60, *(width(line) + 2 for line in lines)])
    top = f"╭─ {title} {'─' * (inner - width(title) - 3)}╮"
    body = [f"│ {padded(line, inner - 1)}│" for line in lines]
    return "\n".join([top, *body, f"╰{'─' * inner}╯"])


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A box with columns. A cell may have several lines."""
    cells = [[cell.split("\n") for cell in row] for row in [headers, *rows]]
    widths = [max(width(line) for row in cells for line in row[i]) for i in range(len(headers))]
    drawn = [_row(row, widths) for row in cells]
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


def _row(row: Sequence[Sequence[str]], widths: Sequence[int]) -> str:
    height = max(len(cell) for cell in row)
    lines = [[cell[i] if i < len(cell) else "" for cell in row] for i in range(height)]
    return "\n".join(
        "│" + "│".join(f" {padded(text, w)} " for text, w in zip(line, widths, strict=True)) + "│"
        for line in lines
    )


def clock(at: float) -> str:
    """`14:30:22`, local time."""
    return time.strftime("%H:%M:%S", time.localtime(at))


def moment(at: float) -> str:
    """`17:30` today, `Mon 17:30` within a week, else with the date; local time."""
    local, now = time.localtime(at), time.localtime()
    if local[:3] == now[:3]:
        return time.strftime("%H:%M", local)
    if 0 < at - time.time() < 6 * 86400:
        return time.strftime("%a %H:%M", local)
    return time.strftime("%Y-%m-%d %H:%M", local)


def duration(seconds: float) -> str:
    """`12s`, `5m`, `2h 15m`, `3d 4h`."""
    total = int(max(0, seconds))
    days, hours, minutes = total // 86400, total // 3600 % 24, total // 60 % 60
    if days:
        return f"{days}d {hours}h"
    if hours:
        return f"{hours}h {minutes}m"
    return f"{minutes}m" if minutes else f"{total}s"


def thousands(tokens: int) -> str:
    """`45K`, `1M`."""
    if tokens >= 1_000_000:
        return f"{tokens / 1_000_000:g}M"[:5]
    return f"{tokens // 1000}K" if tokens >= 1000 else str(tokens)
