"""When a failed task is not tried again."""

import re


def same_failure(before: str, now: str) -> bool:
    """Whether two attempts failed the same way: numbers, ids and paths may differ."""
    return bool(before) and _essence(before) == _essence(now)


def _essence(text: str) -> str:
    first = text.strip().splitlines()[0] if text.strip() else ""
    return re.sub(r"/\S+|\b[0-9a-f]{6,}\b|\d+", "#", first.casefold())[:200]
