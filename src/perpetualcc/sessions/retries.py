"""How a failed task is tried again, and when it is not."""

import hashlib
import re

_LONGEST = 300.0
"""Seconds."""


def back_off(attempt: int, key: str) -> float:
    """
    Seconds after the first, second, … failed attempt: 2, 4, 8 …, and up to a quarter more.

    The jitter comes from `key`, so that tasks that failed together do not come back together,
    and a test can know when.
    """
    digest = hashlib.sha256(f"{key} {attempt}".encode()).digest()
    jitter = int.from_bytes(digest[:4]) / 2**32 / 4
    return float(min(2.0 ** max(attempt, 1), _LONGEST) * (1 + jitter))


def same_failure(before: str, now: str) -> bool:
    """Whether two attempts failed the same way: numbers, ids and paths may differ."""
    return bool(before) and _essence(before) == _essence(now)


def _essence(text: str) -> str:
    first = text.strip().splitlines()[0] if text.strip() else ""
    return re.sub(r"/\S+|\b[0-9a-f]{6,}\b|\d+", "#", first.casefold())[:200]
