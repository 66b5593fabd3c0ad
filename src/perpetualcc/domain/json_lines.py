"""One JSON object a line, as the `--jsonl` commands read it; what is wrong with a line is said."""

import json
from typing import Any, NoReturn

from perpetualcc.domain.errors import PerpetualError


class UnusableLine(PerpetualError):  # noqa: N818  # says what the line is
    """A line that cannot be answered. The message goes into the line that comes out."""

    def __init__(self, problem: str, id: Any = None) -> None:  # noqa: A002  # the key's name
        super().__init__(problem)
        self.id = id
        """The line's own id where it has one that can be written again; None otherwise."""


def object_of(line: str | bytes) -> dict[str, Any]:
    """
    The object of one line.

    Raises:
        UnusableLine: no UTF-8, no JSON, no object, or an `id` that JSON cannot hold.
    """
    try:
        text = line.decode("utf-8") if isinstance(line, bytes) else line
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise UnusableLine(f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise UnusableLine("not a JSON object")
    try:
        json.dumps(value.get("id"), allow_nan=False)
    except ValueError as error:  # 1e400 is read as infinity, and infinity is no JSON
        raise UnusableLine("'id' is a number beyond all bounds") from error
    return value


def text_of(record: dict[str, Any], key: str) -> str:
    """
    A text that must be there and say something.

    Raises:
        UnusableLine: it is missing, empty or something else.
    """
    value = record.get(key)
    if not isinstance(value, str) or not value.strip():
        raise UnusableLine(f"{key!r} is missing, empty or not a text", record.get("id"))
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
