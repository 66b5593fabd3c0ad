"""A remark that may have become a rule, and what a second reader makes of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """What a user typed, found to be a lasting correction without AI. Data, never instructions."""

    message: str
    assistant: str
    """What the assistant had said before; untrusted, it may repeat what tools and pages say."""
    rule: str
    """The classifier's own wording."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemarkReading:
    """A brain's reading of a remark."""

    is_rule: bool
    """Whether it is a correction that should last."""
    rule: str
    """One short rule in the user's language; empty when the wording cannot be believed."""
