"""
Whether a question asks how the product is to be, or about something somebody would do now.

By grammar: who does it, once or again and again, and whether it is about things that are there.
What cannot be told is taken for something done now.
"""

import re
from enum import StrEnum
from functools import lru_cache

from perpetualcc.brain.rules.text import fold
from perpetualcc.brain.rules.vocabulary import patterns

_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")
_OPENING = " ¿¡\"'“”„«»-–—*"


class Stance(StrEnum):
    """What answering a question does."""

    ACT = "act"
    """Somebody would do something, now, or nobody knows who does what."""
    MEANS = "means"
    """Somebody chooses what to build with."""
    DESIGN = "design"
    """It is settled how the product behaves or looks."""
    ENCOUNTER = "encounter"
    """It is settled how a part of the product treats things that are there."""


def sentences_of(text: str) -> list[str]:
    """Folded, without what opens them."""
    return [one.strip(_OPENING) for one in _SENTENCES.split(fold(text)) if one.strip(_OPENING)]


def is_about_what_is_there(folded: str) -> bool:
    """Whether things that are there would be touched, or it is about now."""
    return _has("about_what_is_there", folded)


@lru_cache(maxsize=512)
def stance_of(text: str) -> Stance:
    """Read from the text of a question alone, without its options."""
    sentences = sentences_of(text)
    if not sentences:
        return Stance.ACT
    asking = next((one for one in reversed(sentences) if one.endswith("?")), sentences[-1])
    told = [one for one in sentences if one is not asking]
    if any(_has("told_of_now", one) for one in told):
        return Stance.ACT
    whole = patterns("stance", "told_as_a_case").sub(" ", " ".join(sentences))
    if _is_of_the_product(asking, whole):
        if not _has("about_what_is_there", whole):
            return Stance.DESIGN
        return Stance.ENCOUNTER if _has("of_a_part", asking) else Stance.ACT
    if _has("means", asking) and not _has("about_what_is_there", whole):
        return Stance.DESIGN if _has("technology", asking) else Stance.MEANS
    return Stance.ACT


def _is_of_the_product(asking: str, whole: str) -> bool:
    if _has("somebody", asking) and not _has("wished_of_the_product", asking):
        return False
    if not _has("form", asking):
        return False
    if not _has("once", asking):
        return True
    if _has("of_the_work", whole):
        return False
    return _has("by_itself", asking) or _has("by_what_means", asking)


def _has(key: str, text: str) -> bool:
    return bool(patterns("stance", key).search(text))
