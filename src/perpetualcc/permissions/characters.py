"""
Characters that make a text look like something else than it is.

Control and bidirectional characters can hide a part of a command from a person; look-alikes
make `rm` something else that looks like `rm` (Trojan Source, CVE-2021-42574).
"""

import re
import unicodedata

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.effects import Finding

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_CARRIAGE_RETURN = re.compile("\r")
_HIDDEN = re.compile(
    "[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_ODD_BLANK = re.compile("[\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")
_RESERVED = re.compile("[\ue000-\uf8ff\ud800-\udfff\ufffd]")
_LOOK_ALIKE = re.compile(
    r"(?:[A-Za-z][\u0370-\u03ff\u0400-\u052f\uff01-\uff5e]|[\u0370-\u03ff\u0400-\u052f\uff01-\uff5e][A-Za-z])"
)

_KINDS = (
    (_CONTROL, Risk.HIGH, "control-characters", "Control characters can hide a part of it"),
    (_HIDDEN, Risk.HIGH, "hidden-characters", "Invisible or direction-changing characters"),
    (_CARRIAGE_RETURN, Risk.MEDIUM, "carriage-return", "Shells and terminals differ about it"),
    (_ODD_BLANK, Risk.MEDIUM, "odd-blanks", "Has blanks that the shell does not take as blanks"),
    (_RESERVED, Risk.MEDIUM, "reserved-characters", "Has characters that stand for nothing"),
    (_LOOK_ALIKE, Risk.MEDIUM, "look-alikes", "Mixes alphabets that look alike within one word"),
)  # fmt: skip


def judge_characters(text: str) -> list[Finding]:
    """What the characters alone say. Nothing for plain ASCII text."""
    if text.isascii() and text.isprintable():
        return []
    return [
        Finding(risk=risk, rule=rule, part=readable(match[0]), explanation=why, kind=rule)
        for pattern, risk, rule, why in _KINDS
        if (match := pattern.search(text))
    ]


_NO_TEXT = re.compile("[\x00\ud800-\udfff]")


def is_broken(text: str) -> bool:
    """NUL and what is left of invalid UTF-8: no program takes them for what they seem."""
    return "\0" in text if text.isascii() else _NO_TEXT.search(text) is not None


def readable(text: str) -> str:
    """Hidden characters by name."""
    return " ".join(f"U+{ord(c):04X} {unicodedata.name(c, '')}".strip() for c in text[:3])


def plain(text: str) -> str:
    """
    The text without what a parser must not see.

    NUL and other control characters become `?`: what they would really do cannot be said, and
    the finding about them stands anyway.
    """
    if text.isascii() and text.isprintable():
        return text
    return _RESERVED.sub("?", _CONTROL.sub("?", text))


_DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069]")


def judge_content(text: str) -> list[Finding]:
    """Text that is written to a file: only what shows another order than it has counts."""
    match = None if text.isascii() else _DIRECTION.search(text)
    if match is None:
        return []
    return [
        Finding(
            risk=Risk.MEDIUM,
            rule="direction-characters",
            part=readable(match[0]),
            explanation="The text has characters that show it in another order",
            kind="direction-characters",
        )
    ]
