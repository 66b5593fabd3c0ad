"""
What grammar says about one sentence: which categories show, and where.

Nothing here decides. A feature is a name; `weights.py` says what each is worth.
"""

import re
from dataclasses import dataclass

from perpetualcc.learning.corrections import families
from perpetualcc.learning.corrections.category import category
from perpetualcc.learning.corrections.judgement import Category
from perpetualcc.learning.corrections.lexicon import Lexicon
from perpetualcc.learning.corrections.text import ERROR_NAME

_CATEGORIES = (
    "wrong", "prohibit", "contrast", "direct", "must", "always", "henceforth", "norm", "told",
    "blame", "undo", "excess", "poor", "working", "repair", "praise", "question", "symptom",
    "request", "product", "reported", "self", "hedge", "accept", "demand", "everywhere",
    "please", "instead",
)  # fmt: skip
_LEADING = 14
"""A rejection counts within this many characters of a sentence's start."""

_WORD = re.compile(r"[^\W\d_]{3,}|[\w.-]{3,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence and what was found in it."""

    text: str
    folded: str
    """With neutral idioms blanked out."""
    features: frozenset[str]

    def __contains__(self, feature: str) -> bool:
        return feature in self.features


def analyse(text: str, lexicon: Lexicon, assistant: str) -> Sentence:
    """Find the grammatical categories of a sentence. `assistant` is folded already."""
    plain = lexicon.fold(text)
    folded = lexicon.without("idiom", plain)
    found = {name for name in _CATEGORIES if lexicon.has(name, folded)}
    found |= _positions(lexicon, folded)
    if text.rstrip().endswith(("?", "？", "؟", ";?")):
        found.add("question_mark")
    found |= _whole(text, lexicon, folded, found, assistant)
    found |= _beside_the_assistant(folded, assistant, lexicon)
    return Sentence(text=text, folded=folded, features=frozenset(found))


_SPECIFIC = re.compile(
    r"[\w-]+\.(?:tsx?|jsx?|py|go|rs|java|rb|php|cs?s|html?|ya?ml|json|md|sql|sh)\b"
    r"|\w+\(\)|/\w+/|\b[a-z]+[A-Z]\w+|\b\d{2,}\b|\w_\w"
)


def _whole(text: str, lexicon: Lexicon, folded: str, found: set[str], assistant: str) -> set[str]:
    """What only the sentence as a whole can say."""
    whole = set()
    asked = assistant.rstrip(" *_`\n").endswith("?")
    if "reject" in found and "bare_reject" not in found and not asked:
        whole.add("objection")
    scope = lexicon.search("project", folded)
    plain = not found & {"question", "request_first", "self", "symptom", "reported"}
    if scope is not None and scope.start() <= _LEADING and plain and len(folded) > scope.end() + 5:
        whole.add("project_rule")
    if _SPECIFIC.search(text):
        whole.add("specific")
    if ERROR_NAME.search(text):
        whole.add("symptom")
    if category(folded) is not Category.OTHER:
        whole.add("topic")
    return whole


def _positions(lexicon: Lexicon, folded: str) -> set[str]:
    found = set()
    rejection = lexicon.search("reject", folded)
    if (
        rejection is not None
        and rejection.start() <= _LEADING
        and not folded[: rejection.start()].strip(" ,.!-…")
    ):
        found.add("reject")
        if len(folded[rejection.end() :].strip(" ,.!…-")) < 2:
            found.add("bare_reject")
    question = lexicon.search("question", folded)
    if question is not None and not _WORD.search(folded[: question.start()]):
        found.add("question_first")
    prohibition = lexicon.search("prohibit", folded)
    if prohibition is not None and not _WORD.search(folded[: prohibition.start()]):
        found.add("prohibit_first")
    request = lexicon.search("request", folded)
    if request is not None and (lexicon.verb_last or request.start() <= _LEADING):
        found.add("request_first")
    return found


def _beside_the_assistant(folded: str, assistant: str, lexicon: Lexicon) -> set[str]:
    """Does the sentence take up what the assistant just said or did?"""
    found = set()
    if families.contrasted(folded):
        found.add("tools")
    kind = families.category_of(folded)
    if kind:
        found.add("tool")
    if kind in {"naming", "style"}:
        found.add("convention")
    if assistant and families.substitutes(folded, assistant):
        found.add("substitution")
    if assistant and _shared(folded, assistant, lexicon):
        found.add("grounded")
    return found


def _shared(folded: str, assistant: str, lexicon: Lexicon) -> bool:
    if not lexicon.spaced:
        runs = re.findall(r"[^\W\d_a-z]{2,}", folded)
        pairs = {run[i : i + 2] for run in runs for i in range(len(run) - 1)}
        return (
            sum(1 for pair in pairs if pair in assistant) >= 2
            or _names(folded) & _names(assistant) != set()
        )
    words = {word for word in _WORD.findall(folded) if word not in lexicon.stop and len(word) > 3}
    said = set(_WORD.findall(assistant))
    stems = {word[:5] for word in said}
    return any(word in said or (len(word) > 5 and word[:5] in stems) for word in words)


def _names(text: str) -> set[str]:
    return {token for token in families.tokens(text) if len(token) > 2}
