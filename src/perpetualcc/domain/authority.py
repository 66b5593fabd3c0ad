"""What a task may touch. An authority never widens by itself."""

from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path


class AuthorityLevel(IntEnum):
    """Seed 003, FR-3."""

    READ_ONLY = 1
    """Search, analyse, report; no writes."""
    ISOLATED_WRITES = 2
    """Writes only below named directories."""
    FULL = 3
    """Everything the policy allows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Authority:
    """What one task may touch, however it came to run."""

    level: AuthorityLevel = AuthorityLevel.FULL
    writable: tuple[Path, ...] = ()
    """Level 2 only: the directories that may be written."""
    allow_network: bool = True
