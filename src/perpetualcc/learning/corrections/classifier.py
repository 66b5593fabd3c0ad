"""The decision: the strongest sentence and what surrounds it are measured, a model weighs them."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from perpetualcc.learning.corrections import durability, rule
from perpetualcc.learning.corrections.acts import moves
from perpetualcc.learning.corrections.category import category
from perpetualcc.learning.corrections.features import Sentence, analyse
from perpetualcc.learning.corrections.judgement import Judgement, Scope
from perpetualcc.learning.corrections.language import detect
from perpetualcc.learning.corrections.lexicon import Lexicon
from perpetualcc.learning.corrections.model import Weighing, model
from perpetualcc.learning.corrections.signals import Scene, Signals, signals
from perpetualcc.learning.corrections.text import (
    Listed,
    Typed,
    is_headline,
    listed,
    read,
    restore_code,
)
from perpetualcc.learning.corrections.weights import weigh

_ASSISTANT_CHARACTERS = 4_000
"""How much of the assistant's last message is looked at: its end, where it says what it did."""

_MOST_FURTHER = 8
"""Rules of one message beside its first: a page of them is a file's work, CLAUDE.md's."""
_MOST_LISTED = _MOST_FURTHER + 1
_TWICE, _ORDERED, _EVEN, _NEVER = 0.04, 0.12, 0.5, 1.0
"""The model's limit is above these for the many messages that only look like a correction."""
_FOR_GOOD = frozenset({"always", "henceforth", "norm", "project_rule"})
_STANDING = _FOR_GOOD | {"prohibit"}
_ORDERS = ("direct", "request")
_BANS = frozenset({"always", "prohibit", "prohibit_first"})
"""It opens with "never" and what is not to be done."""
_OWN = "you:confesses"
"""Whose own mistake it was corrects nobody, however often they say no."""
_DRAFT = "drafts"
"""The move that has words put down for others, whatever they order."""
_MOMENT = "you:moments"
"""Where it says when something is to be done, a failure is what that is about: "for each bug"."""
_FOR_EVERY = frozenset({"forgood", "moments"})
"""Of how such words are written each time."""
_OPENING = re.compile(r"[^:：]{0,120}[:：]")
"""What says of words that they follow."""
_ALL_OVER = 1.5
"""
"Everywhere" alone is all over this project, as is the language of its comments: beside these the
model has to be surer.
"""
_HAPPENED = frozenset({"self", "symptom"})
_SPEAKS_TO_IT = frozenset(
    {"told", "wrong", "prohibit", "direct", "undo", "blame", "reject", "please"}
)
_NO_RULE = frozenset(
    {"reported", "self", "question_mark", "question_first", "symptom", "praise", "product", "hedge"}
    | {"request_first", "blame", "accept"}
)
"""What makes a sentence another kind of message: beside a rule, it has to be clear."""
_ORDER = frozenset({"direct", "prohibit", "contrast"})
_NO_ORDER = frozenset({"question_mark", "self", "reported", "praise", "blame"})
_ASKS_FOR_IT = frozenset({"demand", "question_mark"})
"""It is no question: "could you please stop that?"."""
_FEW_WORDS = 4
_SAYS_WHAT = _ORDER | {"reject", "norm", "must", "tool", "henceforth", "please"}
"""What a sentence of few words has beside where it holds, if it is a rule by itself."""
_MOST_SPANS, _MOST_PARTS = 60, 4
"""How much of a message is looked at for its rule, and how many sentences or clauses make one."""
_MOST = 8.0
"""Log odds above which more says nothing."""
_SURE, _FAR = 5.0, 0.5
"""
What an order needs to be the rule whatever else is said, and by how much other words have to be
surer, or two sentences than one. Chosen on 460 messages in which readers had marked the rule.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A message as one language reads it."""

    lexicon: Lexicon
    scene: Scene
    reasons: tuple[str, ...]


def classify(message: str, assistant: str = "") -> Judgement:
    """
    Judge one message the user typed, beside the assistant's message it answers.

    Pure, and linear in the length of its input, which is capped.
    """
    reading = understand(message, assistant)
    if reading is None:
        return Judgement(confidence=0.95)
    rest, items = listed(message)
    if items and (rules := list(islice(_rules(items, reading.lexicon, assistant), _MOST_LISTED))):
        beside = classify(rest, assistant)
        if beside.durable:
            return replace(beside, further=(*beside.further, *rules))
        return replace(rules[0], further=tuple(rules[1:]))
    judged = _judge(reading)
    if not judged.durable or len(reading.scene.sentences) == 1:
        return judged
    return replace(judged, further=tuple(_further(reading, assistant)))


def _rules(items: list[Listed], lexicon: Lexicon, assistant: str) -> Iterator[Judgement]:
    """
    The items that are rules by what is above them: it says that they are, or, of a project, each
    would be one behind it. What it forbids is said with each.
    """
    for one in items:
        heading = lexicon.fold(one.heading)
        if lexicon.has("exception", heading) or lexicon.has("request", heading):
            continue
        if not rule.is_heading(heading, lexicon):
            continue
        together = understand(f"{one.heading} {one.item}", assistant)
        denies = any(lexicon.has(name, heading) for name in ("negation", "withheld"))
        alone = together if denies else understand(one.item, assistant)
        if together is None or alone is None or "question_mark" in alone.scene.best:
            continue
        judged = _judge(together)
        is_said = any(lexicon.has(name, heading) for name in ("henceforth", "headline"))
        if judged.durable or (is_said and not lexicon.has("once", alone.scene.best.folded)):
            yield _standing(judged, together, alone)


def _standing(judged: Judgement, together: Reading, alone: Reading) -> Judgement:
    """A rule of a list, worded without what is above it."""
    worded = rule.line(alone.scene.typed.with_code, alone.lexicon)
    return replace(
        judged,
        correction=True,
        durable=True,
        preference=worded,
        scope=_scope(together, model("everywhere").weigh(signals(together.scene))),
        category=category(worded.lower(), together.scene.best.folded),
        language=together.lexicon.code,
    )


def _judge(reading: Reading) -> Judgement:
    found = signals(reading.scene)
    corrects = model("correction").weigh(found)
    why_not = tuple(_why_not(reading.scene, found))
    if why_not or (corrects.score < 0 and corrects.probability < _enough(reading, found)):
        return Judgement(
            confidence=round(min(0.99, max(0.5, 1 - corrects.probability)), 2),
            language=reading.lexicon.code,
            reasons=(*why_not, *reading.reasons, *_strongest(corrects)),
        )
    return _correction(reading, found, corrects)


def _scope(reading: Reading, where: Weighing) -> Scope:
    """Where the rules say that it holds everywhere it does; what else does is learned."""
    best = reading.scene.best.folded
    is_all_over = reading.lexicon.has("all_over", best) or durability.is_of_writing(best)
    is_wide = where.score >= (_ALL_OVER if is_all_over else 0.0)
    return Scope.GLOBAL if is_wide else reading.scene.lasting.scope


def _why_not(scene: Scene, found: Signals) -> Iterator[str]:
    """What rules a correction out, however much else speaks for one."""
    if _is_own(scene.best, found):
        yield "told of oneself"
    doing = _opens_with(scene)
    # "No, the mail: formal", "whenever you write a mail: formal" are said to the assistant.
    if _DRAFT in doing and doing.isdisjoint(_FOR_EVERY) and "reject" not in scene.sentences[0]:
        yield "words for others"


def _opens_with(scene: Scene) -> frozenset[str]:
    """The moves of what says of words that they follow."""
    opening = _OPENING.match(" ".join(scene.typed.sentences))
    return moves(opening[0]) if opening is not None else frozenset()


def _is_own(best: Sentence, found: Signals) -> bool:
    """A mistake of one's own, or what went wrong for oneself: "we always had this bug"."""
    if _OWN in found.named and not best.features & _FOR_GOOD:
        return True
    return best.features >= _HAPPENED and not best.features & _SPEAKS_TO_IT


def _enough(reading: Reading, found: Signals) -> float:
    """What is said for good, of nothing that is built, asked or broken, need not be as likely."""
    best, lexicon = reading.scene.best, reading.lexicon
    doing, first = _opens_with(reading.scene), reading.scene.sentences[0]
    if _DRAFT in doing and (doing & _FOR_EVERY or "always" in first):
        return _ORDERED  # "in every letter to a customer: formal"
    harmless = {"request_first", "symptom"} if _MOMENT in found.named else {"request_first"}
    if best.features & (_NO_RULE - harmless) or f"you:{_DRAFT}" in found.named:
        return _NEVER
    is_order = _is_standing_order(best, lexicon)
    if "henceforth" in best:
        return _TWICE if is_order else _EVEN
    if is_order:
        return _ORDERED
    return _EVEN if best.features >= _BANS else _NEVER


def _is_standing_order(sentence: Sentence, lexicon: Lexicon) -> bool:
    """ "From now on always open ...", "never delete ..."; not "the clock must always show"."""
    found = lexicon.search("always", sentence.folded)
    if found is None:
        return False
    before, after = sentence.folded[: found.start()], sentence.folded[found.end() :].strip()
    for name in ("henceforth", "direct", "please", "bare_reject"):
        before = lexicon.without(name, before)
    is_first = not re.search(r"[^\W\d_]{3}", before)
    orders = (lexicon.search(name, after) for name in _ORDERS)
    is_order = any(order is not None and order.start() == 0 for order in orders)
    # "Migrations never delete!": where the verb is the end, what it is about stands in front.
    is_ban = lexicon.verb_last and "prohibit" in sentence
    return is_ban or (is_first and ("direct" in sentence or is_order))


def _further(reading: Reading, assistant: str) -> Iterator[Judgement]:
    """Of the other sentences those that would be lasting corrections if nothing else was said."""
    scene = reading.scene
    others = (one for one in scene.sentences if one is not scene.best)
    standing = [one for one in others if _stands_alone(one, reading.lexicon)]
    told = {*map(id, _stated(reading).sentences)} if standing else set[int]()
    untold = (one for one in standing if id(one) not in told)
    for sentence in islice(untold, _MOST_FURTHER):
        alone = understand(restore_code(sentence.text, scene.typed), assistant)
        judged = _judge(alone) if alone is not None else Judgement()
        if judged.durable:
            yield judged


def _stands_alone(sentence: Sentence, lexicon: Lexicon) -> bool:
    """Whether it is clearly a rule, and of something: "we always do" is of nothing."""
    if not sentence.features & _STANDING or sentence.features & _NO_RULE:
        return False
    if _says_only_where(sentence, lexicon):
        return False
    if is_headline(sentence.text) and rule.is_heading(sentence.folded, lexicon):
        return False
    return rule.has_matter(sentence, lexicon)


def _says_only_where(sentence: Sentence, lexicon: Lexicon) -> bool:
    """ "In any repo": it belongs to what was said before."""
    is_short = lexicon.spaced and len(sentence.text.split()) <= _FEW_WORDS
    return is_short and "everywhere" in sentence and not sentence.features & _SAYS_WHAT


def understand(message: str, assistant: str) -> Reading | None:
    """The message as the language that fits it best reads it; None when nothing was typed."""
    typed = read(message)
    if not typed.sentences:
        return None
    said = assistant[-_ASSISTANT_CHARACTERS:]
    languages = detect(" ".join(typed.sentences))
    readings = [_read(typed, lexicon, said) for lexicon in languages]
    return max(readings, key=lambda one: one.scene.score)


def _correction(reading: Reading, found: Signals, corrects: Weighing) -> Judgement:
    scene = reading.scene
    lasts, where = (model(name).weigh(found) for name in ("durable", "everywhere"))
    texts = tuple(sentence.folded for sentence in scene.sentences)
    durable = lasts.score >= 0 and not scene.lasting.is_exception
    told = _stated(reading) if durable else _told(scene, reading.lexicon)
    preference = rule.line(told.words, reading.lexicon)
    return Judgement(
        correction=True,
        durable=durable,
        preference=preference,
        scope=_scope(reading, where) if durable else Scope.ONCE,
        category=category(preference.lower(), " ".join(texts)),
        confidence=round(min(0.99, max(0.5, corrects.probability)), 2),
        language=reading.lexicon.code,
        reasons=(
            *reading.reasons,
            *_strongest(corrects),
            *(f"durable: {reason}" for reason in _strongest(lasts)),
            *(f"everywhere: {reason}" for reason in _strongest(where) if durable),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Some of the user's words, and the sentences that these are of."""

    words: str
    sentences: tuple[Sentence, ...]


def _told(scene: Scene, lexicon: Lexicon) -> Told:
    """What says what to do, as the rules see it."""
    sentences = rule.telling(scene.best, scene.sentences, scene.typed, lexicon)
    words = " ".join(restore_code(one.text, scene.typed) for one in sentences)
    return Told(words=words, sentences=sentences)


def _stated(reading: Reading) -> Told:
    """
    What states the rule: what the rules say, unless something else of the message would more
    surely be one if it stood alone.
    """
    scene, lexicon = reading.scene, reading.lexicon
    told = _told(scene, lexicon)
    others = [one for one in islice(_spans(scene), _MOST_SPANS) if _may_state(one, lexicon)]
    if len(others) < 2:
        return told
    enough = _alone(told, scene)
    is_order = any(one.features & _ORDER and not one.features & _NO_ORDER for one in told.sentences)
    if is_order and enough >= _SURE:
        return told
    value, surest = max(((_alone(one, scene), one) for one in others), key=lambda it: it[0])
    return surest if value > enough + _FAR else told


def _may_state(told: Told, lexicon: Lexicon) -> bool:
    """
    Not a reproach, nor "always" or "in any repo" of nothing. Two rules are told one by one, and
    what no grammar knows anything about ("as I said") is told with no other sentence.
    """
    if any(one.features & {"blame", "told"} for one in told.sentences):
        return False
    if _says_only_where(told.sentences[0], lexicon):
        return False
    if len(told.sentences) > 1 and (
        not all(one.features for one in told.sentences)
        or all(_stands_alone(one, lexicon) for one in told.sentences)
    ):
        return False
    return all(rule.has_matter(one, lexicon) for one in told.sentences)


def _spans(scene: Scene) -> Iterator[Told]:
    """Sentences, two that follow each other, and some clauses of a long one."""
    parts = [
        (f"{words.rstrip(' ?')}." if sentence.features >= _ASKS_FOR_IT else words, sentence)
        for sentence in scene.sentences
        for words in rule.clauses(restore_code(sentence.text, scene.typed))
    ]
    for first in range(len(parts)):
        for last in range(first + 1, min(first + _MOST_PARTS, len(parts)) + 1):
            words = " ".join(one for one, _ in parts[first:last])
            sentences = tuple({id(one): one for _, one in parts[first:last]}.values())
            if len(sentences) > 2 or (len(words) > rule.MAX_CHARACTERS and last > first + 1):
                break
            yield Told(words=words, sentences=sentences)


def _alone(told: Told, scene: Scene) -> float:
    """Log odds of a rule, and half of those of a correction, if it were all that was typed."""
    reading = understand(told.words, scene.assistant)
    if reading is None:
        return -math.inf
    found = signals(reading.scene)
    lasts, corrects = (model(name).weigh(found).log_odds for name in ("durable", "correction"))
    second = _FAR * (len(told.sentences) - 1)
    return min(_MOST, lasts) + min(_MOST, corrects) / 2 - second


_SHOWN = 5
"""How many of a model's terms a person is shown."""


def _strongest(weighing: Weighing) -> tuple[str, ...]:
    return tuple(f"{name} {worth:+.2f}" for name, worth in weighing.terms[:_SHOWN])


def _read(typed: Typed, lexicon: Lexicon, assistant: str) -> Reading:
    said = lexicon.fold(assistant)
    sentences = tuple(
        analyse(part, lexicon, said) for text in typed.sentences for part in _parts(text, lexicon)
    )
    weighed = [(*weigh(sentence), sentence) for sentence in sentences]
    score, reasons, best = max(weighed, key=lambda row: row[0])
    around = _surroundings(typed, sentences, best, asked=_asks(assistant))
    return Reading(
        lexicon=lexicon,
        scene=Scene(
            language=lexicon.code,
            typed=typed,
            sentences=sentences,
            best=best,
            score=score + sum(around.values()),
            assistant=said,
            lasting=durability.judge(lexicon, best, sentences),
        ),
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
    folded = lexicon.fold(text)
    turn = lexicon.search("but", folded)
    if turn is None or turn.start() == 0 or len(folded) != len(text):
        return [text]
    denial = lexicon.search("contrast", folded)
    if denial is not None and denial.start() < turn.start() < denial.end():
        return [text]  # "not a card, but the whole view" is one thing
    return [text[: turn.start()], text[turn.end() :]]
