"""What the classifier says about one message."""

from dataclasses import dataclass, field
from enum import StrEnum


class Scope(StrEnum):
    """Where a rule holds."""

    PROJECT = "project"
    """In the project in which it was said: the default, because it does the least harm."""
    GLOBAL = "global"
    """In every project of this user."""
    ONCE = "once"
    """For the task at hand only; never becomes a rule."""


class Category(StrEnum):
    """What a rule is about."""

    STYLE = "style"
    TOOLING = "tooling"
    WORKFLOW = "workflow"
    ARCHITECTURE = "architecture"
    COMMUNICATION = "communication"
    TESTING = "testing"
    NAMING = "naming"
    DOCUMENTATION = "documentation"
    SECURITY = "security"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One message, judged. Without a correction every other field keeps its default."""

    correction: bool = False
    durable: bool = False
    preference: str = ""
    """One short rule in the user's own language."""
    scope: Scope = Scope.ONCE
    category: Category = Category.OTHER
    confidence: float = 0.0
    """How sure the classifier is of `correction`, whichever way it went: 0.5 to 0.99."""
    language: str = ""
    reasons: tuple[str, ...] = field(default=())
    """The features that counted, with their weights, for `pcc learn classify --explain`."""
    further: tuple["Judgement", ...] = field(default=())
    """The message's other lasting rules, in their order: what it says beside `preference`."""
