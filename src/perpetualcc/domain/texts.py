"""Texts cut to the room there is for them (an ellipsis at the end says so), marked, and counts."""

import re
from collections.abc import Sequence
from hashlib import sha256


def cut(text: str, most: int) -> str:
    """At most so many characters of it."""
    return text if len(text) <= most else text[: most - 1] + "…"


def apart(text: str) -> str:
    """
    At most 60 characters, and another text's are others: what is approved of one is not of all that
    begin alike.
    """
    if len(text) <= 60:
        return text
    mark = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{text[:51]}…{mark}"


def inside(mark: str, text: str) -> str:
    """What others wrote, for a block between `<mark>` and `</mark>`: nothing in it ends that."""
    return re.sub(rf"<(?=\s*/\s*{mark}\b)", "<\u200b", text, flags=re.IGNORECASE)


def first_line(text: str, most: int | None = None) -> str:
    """At most so many characters of the first line that is not blank; empty when there is none."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if most is None else cut(line, most)


def first_few(names: Sequence[str], most: int = 3) -> str:
    """At most so many of them."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def from_home(text: str, project: str, *, mark: str = "") -> str:
    """
    The text without the project's path before what lies in it, which goes without saying.

    `mark` stands for it where that alone could be another path: in a call, which may change
    directories.
    """
    if not project:
        return text
    return re.sub(rf"(?<![\w./-]){re.escape(project)}/", lambda _: mark, text)


def counted(number: int, noun: str) -> str:
    """`1 file`, `2,000 files`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def bytes_in_words(size: int, *, digits: int = 0) -> str:
    """`412 MB`, `26.0 GB`: bytes on a disk; `digits` behind the point of megabytes."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.{digits}f} MB"


def thousands(tokens: int) -> str:
    """`999`, `4.9K`, `46K`, `1M`, `1.23M`."""
    if tokens >= 999_500:
        return f"{round(tokens / 1_000_000, 2):g}M"
    if tokens >= 9_950:
        return f"{round(tokens / 1000)}K"
    return f"{round(tokens / 1000, 1):g}K" if tokens >= 1000 else str(tokens)
