"""The decision: the strongest sentence, what surrounds it, and whether it lasts."""

import math
from dataclasses import dataclass

from perpetualcc.learning.corrections import durability, rule
from perpetualcc.learning.corrections.category import category
from perpetualcc.learning.corrections.features import Sentence, analyse
from perpetualcc.learning.corrections.judgement import Judgement, Scope
from perpetualcc.learning.corrections.language import detect
from perpetualcc.learning.corrections.lexicon import Lexicon
from perpetualcc.learning.corrections.text import Typed, read
from perpetualcc.learning.corrections.weights import THRESHOLD, weigh

_ASSISTANT_CHARACTERS = 4_000
"""How much of the assistant's last message is looked at: its end, where it says what it did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """A message as one language reads it."""

    lexicon: Lexicon
    sentences: tuple[Sentence, ...]
    best: Sentence
    score: float
    reasons: tuple[str, ...]


def classify(message: str, assistant: str = "") -> Judgement:
    """
    Judge one message the user typed, beside the assistant's message it answers.

    Pure, and linear in the length of its input, which is capped.
    """
    typed = read(message)
    if not typed.sentences:
        return Judgement(confidence=0.95)
    languages = detect(" ".join(typed.sentences))
    readings = [_read(typed, lexicon, assistant[-_ASSISTANT_CHARACTERS:]) for lexicon in languages]
    reading = max(readings, key=lambda one: one.score)
    confidence = 1 / (1 + math.exp(-1.2 * (reading.score - THRESHOLD)))
    if reading.score < THRESHOLD:
        return Judgement(
            confidence=round(min(0.99, 1 - confidence), 2),
            language=reading.lexicon.code,
            reasons=reading.reasons,
        )
    return _correction(reading, round(min(0.99, max(0.5, confidence)), 2))


def _correction(reading: _Reading, confidence: float) -> Judgement:
    texts = tuple(sentence.folded for sentence in reading.sentences)
    lasting = durability.judge(reading.lexicon, reading.best, reading.sentences)
    preference = rule.state(reading.best, reading.sentences, reading.lexicon)
    return Judgement(
        correction=True,
        durable=lasting.durable,
        preference=preference,
        scope=lasting.scope if lasting.durable else Scope.ONCE,
        category=category(preference.lower(), " ".join(texts)),
        confidence=confidence,
        language=reading.lexicon.code,
        reasons=(*reading.reasons, *lasting.reasons),
    )


def _read(typed: Typed, lexicon: Lexicon, assistant: str) -> _Reading:
    said = lexicon.fold(assistant)
    sentences = tuple(
        analyse(part, lexicon, said) for text in typed.sentences for part in _parts(text, lexicon)
    )
    weighed = [(*weigh(sentence), sentence) for sentence in sentences]
    score, reasons, best = max(weighed, key=lambda row: row[0])
    around = _surroundings(typed, sentences, best, asked=_asks(assistant))
    return _Reading(
        lexicon=lexicon,
        sentences=sentences,
        best=best,
        score=score + sum(around.values()),
        reasons=(*reasons, *(f"{name} {worth:+.1f}" for name, worth in around.items())),
    )


_FIRM = frozenset({"told", "wrong", "norm", "henceforth", "substitution", "undo"})
"""What a sentence says about the assistant's work whatever else the message holds."""


def _surroundings(
    typed: Typed, sentences: tuple[Sentence, ...], best: Sentence, *, asked: bool
) -> dict[str, float]:
    """What the rest of the message adds or takes away."""
    around: dict[str, float] = {}
    others = [sentence for sentence in sentences if sentence is not best]
    first = sentences[0]
    if any("bare_reject" in sentence for sentence in others) and best is not first:
        around["rejected before"] = 1.0
    if asked and "reject" in first:
        around["answers a question"] = -2.0
    if (typed.had_error or any("symptom" in one for one in others)) and not best.features & _FIRM:
        around["reports a failure"] = -1.5
    cheered = typed.had_cheer or any("praise" in one for one in others)
    if cheered and not best.features & (_FIRM | {"prohibit", "reject"}):
        around["praises"] = -1.0
    if "request_first" in first and best is not first and not best.features & _FIRM:
        around["asks for something new first"] = -0.5
    return around


def _asks(assistant: str) -> bool:
    return assistant.rstrip(" *_`\n").endswith(("?", "？", "؟"))


def _parts(text: str, lexicon: Lexicon) -> list[str]:
    """A sentence, cut where it turns: "nice, but use tabs" is praise and then a correction."""
    turn = lexicon.search("but", lexicon.fold(text))
    if turn is None or turn.start() == 0 or len(lexicon.fold(text)) != len(text):
        return [text]
    return [text[: turn.start()], text[turn.end() :]]
