"""Requirements as clauses: what each is about, and what it chooses or refuses."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from perpetualcc.brain.rules.polarity import Polarity, polarities
from perpetualcc.brain.rules.scopes import scopes_of
from perpetualcc.brain.rules.tables import table, word_set
from perpetualcc.brain.rules.terms import (
    Term,
    each_measured,
    each_named,
    phrase,
    read_terms,
    spelled_out,
    values,
)
from perpetualcc.brain.rules.text import fold, is_content, quantity, split_tokens, stem, unit_among
from perpetualcc.brain.rules.vocabulary import cues, find_phrases, find_topics, topics_of_name
from perpetualcc.domain.requirements import Requirements, Statement, StatementKind

_BREAKS = re.compile(
    r",\s+(?:so|therefore|hence|donc|deshalb|daher|por eso)\s+(?!that\b)|"
    r"(?<=[.!?])\s+|(?<=[。！？])|\s*[;；]\s*|\s+[–—]\s+|\s+-\s+|\n"  # noqa: RUF001  full width
    r"|,?\s+(?:but|however|whereas|while|although|aber|sondern|pero|sino|mais|maar|но|ale|ma|mas)"
    r"\s+"
    r"|,\s*(?=(?:please\s+|bitte\s+)?(?:not|no|never|without|use|prefer|only|avoid|"
    r"do not|don't|rather|instead|nicht|nur|nie|kein\w*|ohne|sin|solo|sólo|nunca|nada de|pas|"
    r"sans|jamais|seulement|uniquement|sem|nao|não|só|apenas|non|senza|niet|geen|alleen|не|без|только|tylko)\b)"
    r"|,?\s+(?=(?:except|unless|apart from|with the exception|außer|ausser|bis auf|ausgenommen|"
    r"sauf|hormis|salvo|excepto|menos en|exceto|tranne|behalve|кроме)\b)"
    # "No exceptions in the core, errors are values": another subject begins.
    r"|,\s+(?!(?:they|it|these|those|this|that|which|who|sie|er|es|ils?|elles?|dat|ze)\b)(?=(?:[\w:*`-]+\s+){1,3}(?:is|are|ist|sind|est|sont|zijn|är|goes|go|lives?|comes?)\b)"
    # "Cash is rounded to 5 cents, cards not": only the cards.
    r"|,\s+(?=(?:[\w'-]+\s+){1,3}(?:not|no|nicht|keine?|niet|geen|pas|inte|ikke|nie|нет|не)\s*[.!]?$)"
    # "No global store, React's context is enough": what is enough is wanted.
    r"|,\s+(?=(?:[\w'-]+\s+){1,5}(?:suffi\w*|reich\w*|genüg\w*|genueg\w*|basta\w*|volstaat|"
    r"(?:is|are)\s+enough|will\s+do|wystarcz\w*|хватит|достаточно)\b)"
    # "No field injection, constructor injection only": what is the only one is wanted.
    r"|,\s+(?=(?:[\w.+#-]+\s+){2,3}(?:only|nur|seulement|uniquement|solo|solamente|apenas|"
    r"soltanto|alleen|bara)\s*[.!]?$)"
    # Chinese, Japanese and Korean put no blank there, and say no at the beginning or at the end.
    r"|[,\uff0c、](?=以前|之前|原来|曾|旧|過去|元々|もとは|예전|이전)"
    r"|[,\uff0c、](?=[^,\uff0c、。]*"
    r"(?:不使用|不用|不要|不得|禁止|不能|而不是|避免|只用|仅|ない|なし|不可|않|금지|말 것))",
    re.IGNORECASE,
)
# "Do not use Redis, we run a single Postgres": who does something else says it positively.
_WE_DO = re.compile(
    r",\s+(?=(?:we|everything|wir|alles|nous|on|tout|wij|we|alles|vi|allt|мы)\s+[^\W\d]"
    r"|(?:usamos|tenemos|queremos|guardamos|trabajamos|todo|usamos|temos|queremos|tudo|usiamo|"
    r"abbiamo|vogliamo|tutto|используем|храним)\s"
    r"|(?:(?:the|our|a|der|die|das|unser\w*|le|la|les|notre|el|los|las|nuestr[oa])\s+)?"
    r"[\w.+#-]+\s+(?:does|do|runs?|handles?|covers?|holds?|keeps?|stays?|has|have|"
    r"macht|läuft|laufen|deckt|hält|bleibt|bleiben|hat|haben|fait|tourne|gère|garde|reste|"
    r"hace|corre|cubre|guarda|queda)\b)",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\s*[(（]([^()（）]*)[)）]")
_LIST_BREAK = re.compile(r",\s+|\s+(?:and|und|y|et|e|en|и)\s+", re.IGNORECASE)
_PARTS = re.compile(r"[,;:()]\s|\s[–—-]\s|\s(?:and|und|y|et|e|en|och|и|but|while)\s", re.IGNORECASE)
_COMMA = re.compile(r",\s+")
_FOR = re.compile(r"\w+\s+(?:for|as|in|on|für|para|pour|per|voor|als)\s+\w+", re.IGNORECASE)
# "Sessions end after 30 minutes, on the scanners after 8 hours": still sessions.
_AT_A_PLACE = re.compile(
    r"\s*(?:on|in|at|for|with|during|auf|bei|im|in der|fur|für|am|sur|dans|pour|chez|en|para|"
    r"nos?|nas?|em|su|per|op|voor|на|для|в|при)\s",
    re.IGNORECASE,
)
_EXCEPT = re.compile(
    r"\s*(?:except|unless|apart from|with the exception|außer|ausser|bis auf|ausgenommen|sauf|"
    r"hormis|salvo|excepto|menos en|exceto|tranne|behalve|кроме)\b",
    re.IGNORECASE,
)
_EXCEPT_ANYWHERE = re.compile(
    r"\b(?:except|unless|apart from|with the exception of|außer|ausser|ausgenommen|sauf|hormis|"
    r"salvo|excepto|exceto|tranne|behalve|кроме)\b",
    re.IGNORECASE,
)
_ONLY_FOR = re.compile(
    r"(?<=\w)\s+(?:only|nur|seulement|uniquement|solo|sólo|solamente|apenas|soltanto|alleen|bara)\s+"
    r"(?:for|in|on|when|while|für|fur|in|bei|pour|dans|para|en|per|voor|bij|för)\s",
    re.IGNORECASE,
)
_SLASH = re.compile(r"(?<=\w)\s*/\s*(?=\w)")


# Headings that tell how one works on a project, and not for which part of it that holds.
_HOW_TO = frozenset({"development", "developing", "contributing", "entwicklung", "desarrollo"})
_ALWAYS_OPEN = frozenset({"legacy", "tbd", "undecided", "optional", "future", "previous"})
# So few words are a name and no sentence, whatever they are written like.
_SHORT = 3
# So many lines with one key, and it is no key.
_LABELS = 4
# So many words before a colon, one of them no content word, may be a sentence.
_SENTENCE = 4


@dataclass(frozen=True)
class Clause:
    """A part of a statement that says one thing."""

    statement: Statement
    terms: tuple[Term, ...]
    topics: frozenset[str]
    """Topics that its own words name."""
    key_topics: frozenset[str]
    heading_topics: frozenset[str]
    key_stems: frozenset[str]
    key_rest: frozenset[str]
    """Stems of the key that name no topic: `TTL` in `Cache TTL`."""
    heading_stems: frozenset[str]
    about: frozenset[str]
    """Stems of the clause with its key and heading."""
    scopes: frozenset[str]
    chosen: frozenset[str]
    refused: frozenset[str]
    open: frozenset[str]
    """Terms that are weighed, or only mentioned."""
    said_words: frozenset[str]
    """What its own words and its key say, without its heading."""
    parts: tuple[frozenset[str], ...]
    """Of its whole line: the words between commas, brackets and "and"."""
    condition: frozenset[str] = frozenset()
    """Of "default exports only for pages": the words after "only for"."""
    is_exception: bool = False
    """Whether it says for what the rest of its line does not hold."""

    @cached_property
    def served(self) -> frozenset[frozenset[str]]:
        """What each product that it chooses is good for."""
        known = topics_of_name()
        named = (known.get(term[1:]) for term in self.chosen if term.startswith("@"))
        return frozenset(topics for topics in named if topics)

    @cached_property
    def says_none(self) -> bool:
        """Whether its value is "none"."""
        return fold(self.statement.text).partition(",")[0].strip(" .") in word_set("none")


def read_evidence(requirements: Requirements) -> tuple[Clause, ...]:
    """Everything the requirements say, clause by clause."""
    times = Counter(statement.key for statement in requirements.statements)
    return tuple(
        clause
        for statement in requirements.statements
        for one in (statement, *_sentence_in_key(statement))
        for clause in _clauses(_unlabelled(one, times))
    )


def _unlabelled(statement: Statement, times: Counter[str]) -> Statement:
    """ "Acceptance: …" on line after line says what the lines are, not what they are about."""
    is_label = times[statement.key] >= _LABELS and find_topics([*split_tokens(statement.key)]) == []
    # Words that refuse or weigh still do.
    is_telling = _mood(statement.key, "") is not None
    return replace(statement, key="") if is_label and not is_telling else statement


def _sentence_in_key(statement: Statement) -> tuple[Statement, ...]:
    """ "Names in kebab-case: `team-app`" says it before the colon."""
    key = statement.key.rpartition(" / ")[2]
    words = [token.word for token in split_tokens(key)]
    is_sentence = len(words) >= _SENTENCE and not all(map(is_content, words))
    return (replace(statement, key="", text=key),) if is_sentence else ()


def _clauses(statement: Statement) -> Iterator[Clause]:
    key = statement.key
    key_tokens = list(split_tokens(key))
    found = find_topics(key_tokens)
    in_topics = {at for start, end, _ in found for at in range(start, end)}
    key_terms = read_terms(key)
    rest = frozenset(one.value for one in key_terms if one.value and one.at not in in_topics)
    heading = list(split_tokens(statement.heading))
    context = values(key_terms) | values(read_terms(statement.heading))
    mood = _mood(key, statement.heading)
    whole = _with_units(each_named(statement.text), unit_among(key))
    for piece, inherited in _pieces(whole, lists=mood is Polarity.REFUSED):
        text = spelled_out(piece)
        tokens = split_tokens(text)
        terms = read_terms(text, prose=not key and len(tokens) > _SHORT)
        words = [token.word for token in tokens]
        marks = polarities(words, terms)
        if statement.text.rstrip().endswith("?"):
            marks = tuple(Polarity.OPEN for _ in marks)
        if _SLASH.search(piece):
            marks = _doubt_slashes(piece, terms, marks)
        if mood is not None:
            marks = _in_mood(marks, mood)
        chosen, refused, weighed = (
            frozenset(term.value for term, own in zip(terms, marks, strict=True) if own is mark)
            - {""}
            for mark in (Polarity.CHOSEN, Polarity.REFUSED, Polarity.OPEN)
        )
        yield Clause(
            chosen=chosen,
            refused=refused,
            open=weighed,
            said_words=values(terms) | values(key_terms),
            parts=_parts(whole),
            is_exception=bool(_EXCEPT.match(piece)),
            condition=_condition(piece),
            statement=statement,
            terms=terms,
            topics=frozenset(topic for _, _, topic in find_topics(list(tokens))),
            key_topics=frozenset(topic for _, _, topic in found),
            heading_topics=frozenset(topic for _, _, topic in find_topics(heading)),
            key_stems=values(key_terms),
            key_rest=rest,
            heading_stems=values(read_terms(statement.heading)),
            about=context | inherited | values(terms),
            scopes=scopes_of(
                [*words, *(token.word for token in key_tokens)],
                heading=[]
                if statement.kind is StatementKind.TASK or phrase(statement.heading) in _HOW_TO
                else [token.word for token in heading],
            ),
        )


@lru_cache(maxsize=4096)
def _parts(text: str) -> tuple[frozenset[str], ...]:
    """The words of each part of a sentence, between commas, brackets and "and"."""
    parts = [values(read_terms(part)) for part in _PARTS.split(text) if part.strip()]
    return tuple(part for part in parts if part)


_MEASURED = re.compile(r"(\d+(?:\.\d+)?) ([^\W\d_]+)")
_BARE = re.compile(r"(?<![\w.:-])(\d+(?:\.\d+)?)(?=\s*(?:[,;.)]\s|[,;.)]?$))")


@lru_cache(maxsize=4096)
def _with_units(text: str, unit: str) -> str:
    """ "Warn after 12 hours, error after 24": hours. The key may have the unit, too."""
    text = each_measured(text)
    if unit and not any(quantity(one[1], fold(one[2])) for one in _MEASURED.finditer(text)):
        return _BARE.sub(rf"\1 {unit}", text)
    for found in _MEASURED.finditer(text):
        if quantity(found[1], fold(found[2])):
            rest = _BARE.sub(rf"\1 {found[2]}", text[found.end() :])
            return text[: found.end()] + rest
    return text


def _condition(piece: str) -> frozenset[str]:
    found = _ONLY_FOR.search(piece)
    return values(read_terms(piece[found.end() :])) if found else frozenset()


def _in_mood(marks: tuple[Polarity, ...], mood: Polarity) -> tuple[Polarity, ...]:
    """What is weighed below "Don't", such as "add packages without asking", stays weighed."""
    if mood is Polarity.REFUSED:
        return tuple(mark if mark is Polarity.OPEN else mood for mark in marks)
    return tuple(mood for _ in marks)


def _mood(key: str, heading: str) -> Polarity | None:
    """What a key or heading says about everything under it."""
    for text in (key, heading):
        words = [token.word for token in split_tokens(text)]
        if find_phrases(cues("refused_headings"), words):
            return Polarity.REFUSED
        for start, end, _ in find_phrases(cues("open_headings"), words):
            # "Background" alone tells a story; "Background jobs" are something else.
            if end - start > 1 or len(words) == 1 or words[start] in _ALWAYS_OPEN:
                return Polarity.OPEN
    return None


def _pieces(text: str, *, lists: bool) -> Iterator[tuple[str, frozenset[str]]]:
    """The parts that say one thing each, with the stems that a part leaves unsaid."""
    text = _ASIDE.sub(_read_along, text)
    asides = [aside for aside in _ASIDE.findall(text) if _says_something_else(aside)]
    for aside in asides:
        text = re.sub(rf"\s*[(（]{re.escape(aside)}[)）]", " ", text, count=1)
    before: frozenset[str] = frozenset()
    sentences = [part for one in _BREAKS.split(text) for part in _resumed(one)]
    for sentence in [*(part for one in sentences for part in _unweighed(one)), *asides]:
        if not sentence or not sentence.strip():
            continue
        parts = _LIST_BREAK.split(sentence) if lists else _list_pieces(sentence)
        lends = len(parts) > 1 and not _FOR.search(parts[0])
        unsaid = _predicate(parts[0]) if lends else frozenset[str]()
        for number, part in enumerate(parts):
            special = number and ((lends and _AT_A_PLACE.match(part)) or _is_bare(part))
            shared = _words(parts[0]) if special else unsaid
            yield part, before | shared if number else before
        before = frozenset(
            term.value
            for term in read_terms(sentence)
            if term.value and not term.is_name and not term.is_number
        )


def _resumed(sentence: str | None) -> list[str]:
    """Where something was refused, who does something else begins anew."""
    parts = _WE_DO.split(sentence or "")
    kept = [parts[0]]
    for part in parts[1:]:
        if _has_cue(kept[-1], "after", "whole") and not _has_cue(part, "open"):
            kept.append(part)
        else:
            kept[-1] += f", {part}"
    return kept


def _unweighed(sentence: str | None) -> Iterator[str]:
    """Take "X, with Y as fallback" apart at its commas, so that Y alone is weighed."""
    parts = _COMMA.split(sentence or "")
    if len(parts) > 1 and not _is_weighed(parts[0]) and any(map(_is_weighed, parts[1:])):
        yield from parts
        return
    for at in range(2, len(parts)):
        # "By letter, e-mail only, if the box is ticked": the condition holds for what it follows.
        if _is_weighed(", ".join(parts[at - 1 : at + 1])):
            yield from parts[: at - 1]
            yield ", ".join(parts[at - 1 :])
            return
    if sentence:
        yield sentence


def _is_weighed(part: str) -> bool:
    return bool(find_phrases(cues("open"), [token.word for token in split_tokens(part)]))


def _words(part: str) -> frozenset[str]:
    return frozenset(
        term.value
        for term in read_terms(part)
        if term.value and not (term.is_name or term.is_number)
    )


def _is_bare(part: str) -> bool:
    """ "…, at most 30 MB": a number, and nothing that it is a number of."""
    terms = [term for term in read_terms(part) if term.value]
    measures = frozenset(map(stem, word_set("measures")))
    return any(term.is_number for term in terms) and all(
        term.is_number or term.value in measures for term in terms
    )


def _read_along(aside: re.Match[str]) -> str:
    """ "No global store (Redux, Zustand)" refuses these as well: they stay in their sentence."""
    host = [one for one in _BREAKS.split(aside.string[: aside.start()]) if one][-1:]
    refuses = any(_has_cue(one, "after", "whole", "dismissed") for one in host)
    is_own = _has_cue(aside[1], "after", "whole", "open", "instead", "dismissed")
    return f", {aside[1]}" if refuses and not is_own else aside[0]


def _has_cue(text: str, *kinds: str) -> bool:
    words = [token.word for token in split_tokens(text)]
    return any(find_phrases(cues(kind), words) for kind in kinds)


def _predicate(part: str) -> frozenset[str]:
    """What "access tokens expire after 15 minutes" lends to ", refresh tokens after 7 days"."""
    terms = [term for term in read_terms(part) if term.value]
    if not terms or terms[0].is_name or terms[0].is_number:
        return frozenset()
    return frozenset(term.value for term in terms[1:] if not term.is_name and not term.is_number)


def _says_something_else(aside: str) -> bool:
    has_name = any(term.is_name for term in read_terms(aside))
    return has_name or _has_cue(aside, "after", "whole", "open", "instead")


def _list_pieces(sentence: str) -> list[str]:
    """Take "X for A, Y for B" apart, and leave "X, Y and Z" together."""
    parts = [part for part in _LIST_BREAK.split(sentence) if part.strip()]
    if len(parts) < 2:
        return [sentence]
    for_something = _joined_by_for(parts)
    if len(for_something) > 1:
        return for_something
    whole: list[str] = []
    for part in parts:
        if _stands_alone(part):
            whole.append(part)
        elif not whole:
            return [sentence]
        else:
            whole[-1] += f" and {part}"
    return whole


def _joined_by_for(parts: list[str]) -> list[str]:
    """ "X for A, Y for B and C" is two parts; empty when the first is no "X for A"."""
    joined: list[str] = []
    for part in parts:
        if _FOR.search(part):
            joined.append(part)
        elif not joined:
            return []
        else:
            joined[-1] += f" and {part}"
    return joined


def _stands_alone(part: str) -> bool:
    terms = read_terms(part)
    has_fact = any(term.is_name or term.is_number for term in terms)
    return has_fact and any(
        term.value and not term.is_name and not term.is_number for term in terms
    )


_BESIDE = 300
"""Characters before and after a slash that are looked at: not all of a list, each time."""


def _doubt_slashes(
    piece: str, terms: tuple[Term, ...], marks: tuple[Polarity, ...]
) -> tuple[Polarity, ...]:
    """`PostgreSQL/MySQL` chooses neither."""
    joined = [
        {
            term.value
            for term in read_terms(piece[max(0, found.start() - _BESIDE) : found.start()])[-1:]
        }
        | {term.value for term in read_terms(piece[found.end() : found.end() + _BESIDE])[:1]}
        for found in _SLASH.finditer(piece)
    ]
    pairs = [pair for pair in joined if len(pair) == 2 and all(one.startswith("@") for one in pair)]
    served = topics_of_name()
    doubtful: set[str] = set()
    for pair in pairs:
        one, other = (served.get(value[1:], frozenset()) for value in pair)
        if one & other:
            doubtful |= pair
    return tuple(
        Polarity.OPEN if term.value in doubtful and mark is Polarity.CHOSEN else mark
        for term, mark in zip(terms, marks, strict=True)
    )


def exception_of(text: str) -> frozenset[str] | None:
    """The words of what a line makes an exception of; None when it makes none."""
    found = _EXCEPT_ANYWHERE.search(text)
    return None if found is None else values(read_terms(text[found.end() :]))


@lru_cache(maxsize=1024)
@lru_cache(maxsize=4096)
def broad_topics(topics: frozenset[str]) -> frozenset[str]:
    """Topics, and for a broad one such as `framework` those it may mean."""
    rows = table("topics")
    return topics | {narrow for topic in topics for narrow in rows[topic].get("narrower", ())}
