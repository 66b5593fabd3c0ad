"""What a question is about: its topic, its words, and whether it can be answered by yes or no."""

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from perpetualcc.brain.rules.choices import Choice, generic
from perpetualcc.brain.rules.evidence import broad_topics
from perpetualcc.brain.rules.scopes import scopes_of, telling
from perpetualcc.brain.rules.tables import table, word_set
from perpetualcc.brain.rules.terms import read_terms, values
from perpetualcc.brain.rules.text import Token, fold, split_tokens, stem
from perpetualcc.brain.rules.vocabulary import find_topics, topics_of_name
from perpetualcc.domain.questions import Question

_WH = re.compile(
    r"^(?:[^,]{0,60},\s*)?(?:and |so |then |also )?"
    r"(?:which|what|how|where|when|who|whom|why|welch\w*|was|wie|wo|wann|wohin|cual\w*|que|como|donde|"
    r"cuando|quel\w*|comment|ou|quand|qual|quais|onde|quando|come|dove|welke|wat|hoe|waar|jak\w*|ktor\w*|gdzie|"
    r"как\w*|где|когда|что|hangi|nasil|vilken|vilket|hvilken|hva|hvor)\b"
)
_WH_ANYWHERE = re.compile(
    r"\b(?:which|what|how|where|welche[rsnm]?|quel(?:le)?s?|cuale?s?|quale)\b|どの|何|どこ|どう|哪|什么|如何|怎么|어떤|무엇|어디|어떻게"
)


_POINTS_BACK = re.compile(r"\b(?:that|this|it|so|das|dies|es|cela|ca|eso|esto|lo)\b")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as rules see it."""

    folded: str
    """Its last sentence that asks, folded."""
    whole: str
    """All of it, folded, with its header."""
    told: tuple[str, ...]
    """Its other sentences, folded: what is told before the question."""
    topics: frozenset[str]
    stems: frozenset[str]
    """Of the words that say something, those of the options excepted."""
    key_stems: frozenset[str]
    """The same without words that could be in any question."""
    terms: frozenset[str]
    titled: frozenset[str]
    """Stems that only its header has."""
    scopes: frozenset[str]
    offered: frozenset[str]
    """Every term of the labels."""
    measures: frozenset[str]
    """Words of measuring, when every option is a number."""
    is_open: bool
    """Whether it asks which, what or how."""


def read_question(question: Question, choices: tuple[Choice, ...]) -> Asked:
    """Read a question together with its options, which often say what it is about."""
    sentence = _asking_sentence(question.text)
    tokens = list(split_tokens(sentence))
    header = list(split_tokens(question.header))
    terms = values(read_terms(sentence, prose=True))
    if _POINTS_BACK.search(fold(sentence)) and not terms - word_set("asking") - generic():
        # "It would help to log bodies. Should I add that?"
        terms |= values(read_terms(question.text, prose=True))
    offered = frozenset().union(*(choice.own for choice in choices)) if choices else frozenset()
    stems = values(read_terms(f"{question.text} ; {question.header}", prose=True))
    named = [choice for choice in choices if choice.own and choice.own <= stems]
    if len(named) < 2:
        # "JSON Feed" among the options does not make the question one about anything but feeds.
        offered = frozenset(term for term in offered if term.startswith(("@", "#")))
    folded = fold(sentence).strip().lstrip("¿¡ ")
    return Asked(
        folded=folded,
        whole=fold(f"{question.text} {question.header}"),
        told=tuple(fold(one).strip() for one in _sentences(question.text) if one != sentence),
        topics=broad_topics(_topics(question, tokens, header, choices)),
        stems=stems - offered,
        key_stems=stems - offered - generic(),
        terms=terms,
        titled=stems - values(read_terms(question.text, prose=True)),
        scopes=scopes_of(token.word for token in split_tokens(question.text))
        | telling(scopes_of(token.word for token in header)),
        offered=frozenset[str]().union(*(choice.every for choice in choices)),
        measures=_measures(choices),
        is_open=bool(_WH.match(folded) or _WH_ANYWHERE.search(folded)),
    )


def _measures(choices: tuple[Choice, ...]) -> frozenset[str]:
    numbers = bool(choices) and all(choice.numbers for choice in choices)
    return frozenset(map(stem, word_set("measures"))) if numbers else frozenset()


def _sentences(text: str) -> list[str]:
    return [one for one in re.split(r"(?<=[.!?？。])\s+|(?<=[？。])|\n+", text) if one.strip()]


def _asking_sentence(text: str) -> str:
    sentences = _sentences(text)
    asking = [one for one in sentences if "?" in one or "？" in one]
    return (asking or sentences or [text])[-1]


def _topics(
    question: Question, tokens: list[Token], header: list[Token], choices: tuple[Choice, ...]
) -> frozenset[str]:
    named = [topic for _, _, topic in find_topics(tokens)]
    in_header = [topic for _, _, topic in find_topics(header)]
    everything = [topic for _, _, topic in find_topics(list(split_tokens(question.text)))]
    served = _served_by(choices)
    candidates = [*_after_which(tokens), *named, *in_header, *everything]
    if not candidates:
        return _shared(served)
    wide = {one: broad_topics(frozenset({one})) for one in candidates}
    best = max((max(served[topic] for topic in wide[one]) for one in candidates), default=0)
    if best == 0 and _shared(served) and table("topics")[candidates[0]]["names"]:
        return _shared(served)
    if best > 0:
        fitting = [one for one in candidates if max(served[topic] for topic in wide[one]) == best]
        return frozenset({fitting[0]})
    if in_header and in_header[0] in named:
        return frozenset({in_header[0]})
    return frozenset({candidates[0]})


def _after_which(tokens: list[Token]) -> list[str]:
    words = [token.word for token in tokens]
    at = next((index for index, word in enumerate(words) if word in _WHICH), None)
    if at is None:
        return []
    return [topic for start, _, topic in find_topics(tokens[at + 1 :]) if start < 5]


_WHICH = frozenset(
    [
        "which",
        "what",
        "welche",
        "welcher",
        "welches",
        "welchen",
        "cual",
        "que",
        "quel",
        "quelle",
        "quels",
        "quelles",
        "qual",
        "quale",
        "quais",
        "welke",
        "hangi",
    ]
)


def _served_by(choices: tuple[Choice, ...]) -> Counter[str]:
    """How many options name something that serves each topic."""
    served: Counter[str] = Counter()
    for choice in choices:
        topics = frozenset().union(
            *(
                topics_of_name().get(name[1:], frozenset())
                for name in choice.every
                if name[0] == "@"
            )
        )
        served.update(topics)
    return served


def _shared(served: Counter[str]) -> frozenset[str]:
    """What most options serve, if it is more than one."""
    most = max(served.values(), default=0)
    return frozenset(topic for topic, count in served.items() if count == most and count > 1)


@lru_cache(maxsize=4096)
def specific(topics: frozenset[str]) -> frozenset[str]:
    """Without the topics that are named by words of many meanings."""
    rows = table("topics")
    return frozenset(topic for topic in topics if not rows[topic].get("broad"))
