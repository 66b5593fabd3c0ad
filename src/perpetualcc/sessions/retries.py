"""When a failed task is not tried again."""

import re

from perpetualcc.domain.texts import first_line


def same_failure(before: str, now: str) -> bool:
    """Whether two attempts failed the same way: numbers, ids and paths may differ."""
    return bool(before) and _essence(before) == _essence(now)


def _essence(text: str) -> str:
    return re.sub(r"/\S+|\b[0-9a-f]{6,}\b|\d+", "#", first_line(text).casefold())[:200]
