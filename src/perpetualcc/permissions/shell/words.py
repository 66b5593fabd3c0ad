"""The shell's small text rules: escapes, `$'…'`, braces. Pure functions over strings."""

import re
from itertools import pairwise

BRACE_LIMIT = 64
"""More words than this from one brace expression are not worth enumerating."""

_MOST_ALTERNATIVES = 16
_BRACES = re.compile(r"\{[^{}]*\}")
"""Braces with more in them than is worth enumerating stand for anything."""

_ESCAPE = re.compile(r"\\(\n|.)", re.DOTALL)
_DOUBLE_QUOTED_ESCAPE = re.compile(r'\\([$`"\\\n])')
_ANSI = re.compile(
    r"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})"
    r"|U([0-9a-fA-F]{1,8})|c(.))",
    re.DOTALL,
)
_ANSI_NAMES = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r",
    "t": "\t", "v": "\v", "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_RANGE = re.compile(r"(-?\d+|.)\.\.(-?\d+|.)(?:\.\.(-?\d+))?", re.DOTALL)
"""From any character to any other, as zsh has it: `{-..0}` holds a dot and a slash."""


def unescape(text: str) -> str:
    """Outside quotes: a backslash takes the next character literally; before a newline, neither."""
    return _ESCAPE.sub(lambda m: "" if m[1] == "\n" else m[1], text)


def unescape_double_quoted(text: str) -> str:
    """Inside double quotes only `$`, backtick, `"`, backslash and newline can be escaped."""
    return _DOUBLE_QUOTED_ESCAPE.sub(lambda m: "" if m[1] == "\n" else m[1], text)


def unescape_ansi(text: str) -> str:
    """The inside of `$'…'` (POSIX.1-2024, 2.2.4; bash adds two Unicode forms)."""
    return _ANSI.sub(_ansi_character, text)


def _ansi_character(match: re.Match[str]) -> str:
    name, octal, *hexadecimal, control = match.groups()
    if name:
        return _ANSI_NAMES[name]
    if control:
        return chr(ord(control.upper()) ^ 64) if control.isascii() else control
    code = (
        int(octal, 8) & 0xFF if octal else int(next(digits for digits in hexadecimal if digits), 16)
    )
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"


def expand_braces(text: str, special: list[bool]) -> list[str] | None:
    """
    The words that `a{b,c}{1..3}` becomes. `special[i]` says character i is unquoted.

    None when there are more than `BRACE_LIMIT` of them.
    """
    opening = next((i for i, c in enumerate(text) if c == "{" and special[i]), -1)
    while opening >= 0:
        closing, commas = _matching(text, special, opening)
        inner = text[opening + 1 : closing]
        if closing > 0 and (commas or _RANGE.fullmatch(inner)):
            return _alternatives(text, special, opening, closing, commas)
        opening = next(
            (i for i in range(opening + 1, len(text)) if text[i] == "{" and special[i]), -1
        )
    return [text]


def alternatives(glob: str) -> list[str]:
    """`{a,b}.py` of a tool that opens braces by itself is `a.py` or `b.py`."""
    found = expand_braces(glob, [True] * len(glob))
    return (
        found
        if found and len(found) <= _MOST_ALTERNATIVES
        else [re.sub(r"\*+", "*", _BRACES.sub("*", glob))]
    )


def _matching(text: str, special: list[bool], opening: int) -> tuple[int, list[int]]:
    depth = 0
    commas: list[int] = []
    for i in range(opening, len(text)):
        if not special[i]:
            continue
        if text[i] == "{":
            depth += 1
        elif text[i] == "}":
            depth -= 1
            if depth == 0:
                return i, commas
        elif text[i] == "," and depth == 1:
            commas.append(i)
    return -1, []


def _alternatives(
    text: str, special: list[bool], opening: int, closing: int, commas: list[int]
) -> list[str] | None:
    if commas:
        cuts = [opening, *commas, closing]
        spans = [slice(a + 1, b) for a, b in pairwise(cuts)]
        pieces = [(text[span], special[span]) for span in spans]
    else:
        values = _range(text[opening + 1 : closing])
        if values is None:
            return None
        pieces = [(value, [False] * len(value)) for value in values]
    words: list[str] = []
    for piece, marks in pieces:
        whole = text[:opening] + piece + text[closing + 1 :]
        more = expand_braces(whole, special[:opening] + marks + special[closing + 1 :])
        if more is None or len(words) + len(more) > BRACE_LIMIT:
            return None
        words += more
    return words


def _kind(end: str) -> str | None:
    """What can be counted through; anything else is what only zsh does."""
    if end.isascii() and end.isalpha():
        return "letter"
    return "number" if end.lstrip("-").isdecimal() else None


def _range(inner: str) -> list[str] | None:
    match = _RANGE.fullmatch(inner)
    assert match is not None  # noqa: S101  # the caller matched the same text
    first, last, step = match.groups()
    kinds = [_kind(first), _kind(last)]
    if kinds[0] != kinds[1] or kinds[0] is None or (step and len(step) > 6):
        return None
    low, high = (ord(first), ord(last)) if first.isalpha() else (int(first[:18]), int(last[:18]))
    stride = max(1, abs(int(step or 1)))
    if abs(high - low) // stride >= BRACE_LIMIT:
        return None
    numbers = range(low, high + 1, stride) if low <= high else range(low, high - 1, -stride)
    return [chr(n) if first.isalpha() else str(n) for n in numbers]
