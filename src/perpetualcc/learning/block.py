"""The short marked block that a new session reads: accepted preferences, most useful first."""

from perpetualcc.domain.secrets import redact
from perpetualcc.learning.preferences import Preference, says_something

TOKEN_BUDGET = 400
"""A block is read with every request: a page of rules would cost more than it gives."""
_CHARACTERS_PER_TOKEN = 3.0
_OPEN = "<perpetualcc-preferences>"
_CLOSE = "</perpetualcc-preferences>"
_INTRODUCTION = (
    "The user set these preferences in earlier sessions. Follow them unless told otherwise."
)
_MOVED = (
    "This project was moved or copied here, so {number} of its preferences count only after the"
    " user's review: say so once, and that `pcc learn review` shows them."
)


def render(preferences: list[Preference], *, moved: int = 0, budget: int = TOKEN_BUDGET) -> str:
    """
    The block, or empty when there is nothing to say. `moved` wait since the project was moved.

    The most useful rules come first. What does not fit into `budget` tokens (estimated) is left
    out. Secrets and markers are taken out.
    """
    lines: list[str] = []
    left = budget * _CHARACTERS_PER_TOKEN - len(_INTRODUCTION) - len(_OPEN) - len(_CLOSE)
    for preference in most_useful_first(preferences):
        if not says_something(preference.rule):
            continue
        line = f"- {_plain(preference.rule)}"
        cost = _cost(line)
        if cost > left:
            continue  # one long rule keeps no other away
        lines.append(line)
        left -= cost
    said = [_INTRODUCTION, *lines] if lines else []
    if moved:
        said.append(_MOVED.format(number=moved))
    return "\n".join([_OPEN, *said, _CLOSE]) + "\n" if said else ""


def most_useful_first(preferences: list[Preference]) -> list[Preference]:
    """Project rules come before global ones, then by confidence, repetition and age."""
    return sorted(preferences, key=_usefulness, reverse=True)


def _usefulness(preference: Preference) -> tuple[bool, float, int, float]:
    return (
        preference.scope == "project",
        preference.confidence,
        preference.seen,
        preference.last_seen,
    )


def _cost(line: str) -> float:
    """Characters, where one of a script without alphabet counts as three."""
    return sum(3.0 if character >= "\u2e80" else 1.0 for character in line) + 1


def _plain(rule: str) -> str:
    return redact(" ".join(rule.split())).replace("<", "‹").replace(">", "›")
