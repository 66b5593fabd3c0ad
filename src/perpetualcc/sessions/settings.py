"""`[sessions]` of the configuration (seed 000)."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """How many sessions work, and how they go on."""

    max_concurrent: int = 5
    """Sessions that work at the same time; the others wait for a place."""
    auto_resume: bool = True
    """Go on by itself when a usage limit resets."""
