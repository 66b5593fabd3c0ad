"""Browsers elsewhere that a person let in. What one may do is in the grant kept here, never in what
it says of itself."""

import hashlib
from dataclasses import dataclass
from enum import StrEnum

from perpetualcc.domain.errors import PerpetualError

_LONGEST_NAME = 40
"""Characters: a column of a table."""


class Scope(StrEnum):
    """What a device may do; each holds the ones before it."""

    LOOK = "look"
    ANSWER = "answer"
    WORK = "work"

    def holds(self, other: "Scope") -> bool:
        order = list(Scope)
        return order.index(other) <= order.index(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A browser that a person paired, or invited: then it has no key yet."""

    name: str
    scope: Scope
    key: str
    """Its public key, Ed25519 in base64url; empty while it is only invited."""
    made_at: float
    expires_at: float | None
    """Until when an invitation counts."""
    seen_at: float | None


def digest_of(code: str) -> str:
    """An invitation's code as it is kept: whoever reads the database cannot use it."""
    return hashlib.sha256(code.encode()).hexdigest()


def checked_name(name: str) -> str:
    """Raises PerpetualError for what nobody could read or type, or what a shell might run."""
    name = " ".join(name.split())
    if not 0 < len(name) <= _LONGEST_NAME or not all(c.isalnum() or c in " ._-" for c in name):
        raise PerpetualError(
            "A device's name has 1 to 40 letters, digits, spaces, dots or dashes",
            hint='Such as: pcc devices pair "my phone"',
        )
    return name
