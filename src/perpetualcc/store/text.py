"""What may be written: JSON and text that SQLite can hold, without live secrets."""

import json
from collections.abc import Mapping
from typing import Any

from perpetualcc.domain.secrets import redact, redact_named
from perpetualcc.domain.texts import cut


def storable(text: str) -> str:
    """The text without lone surrogates, which arguments and broken streams can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")


def to_json(value: Any) -> str:
    """Compact JSON, ASCII only. Anything JSON does not know becomes its text."""
    return json.dumps(value, separators=(",", ":"), default=str)


def redacted(value: Any) -> Any:
    """The same JSON value with every string redacted, keys and what they call a secret included."""
    return _redacted("", value)


def _redacted(name: str, value: Any) -> Any:
    """`name`: of the field that holds it, or its list."""
    match value:
        case str():
            return redact_named(name, value) if name else redact(value)
        case Mapping():
            return {redact(str(key)): _redacted(str(key), item) for key, item in value.items()}
        case list() | tuple():
            return [_redacted(name, item) for item in value]
        case None | bool() | int() | float():
            return value
        case _:
            return redact(str(value))


def shortened(value: Any, most: int) -> Any:
    """The same JSON value with every text cut to at most so many characters."""
    match value:
        case str():
            return cut(value, most)
        case dict():
            return {name: shortened(one, most) for name, one in value.items()}
        case list():
            return [shortened(one, most) for one in value]
        case _:
            return value
