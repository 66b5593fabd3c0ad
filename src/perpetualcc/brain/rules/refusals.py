"""What the requirements refuse, or leave for later, of what a question would bring."""

import re
from functools import lru_cache

from perpetualcc.brain.rules.asking import Asked, specific
from perpetualcc.brain.rules.choices import generic
from perpetualcc.brain.rules.evidence import Clause, broad_topics
from perpetualcc.brain.rules.nearness import has
from perpetualcc.brain.rules.scopes import fits
from perpetualcc.brain.rules.tables import word_set
from perpetualcc.brain.rules.terms import read_terms, values
from perpetualcc.brain.rules.text import fold, split_tokens, stem
from perpetualcc.brain.rules.vocabulary import (
    cues,
    find_phrases,
    find_topics,
    patterns,
    topics_of_name,
)
from perpetualcc.domain.requirements import Statement, StatementKind

_ASIDES = re.compile(r"[,;:.()]\s+|\s[–—-]\s")
_ENDS = re.compile(r"(?<=[.!?;])\s+|\n+")
_LISTED = re.compile(r"[,:()]\s*|\s(?:and|und|y|et|e|en|och|и|but|or)\s", re.IGNORECASE)
_ARE_POSTPONED = re.compile(
    r"\b(?:are|is|will be|were|have been|has been|werden|wird|sind|sont|est|son|sono|sao|worden)"
    r" (?:\w+ ){0,2}(?:postponed|deferred|verschoben|reportee?s?|pospuest\w+|aplazad\w+|adiad\w+|"
    r"rimandat\w+|uitgesteld)\b|\b(?:come|comes|follow|follows) later\b|"
    r"\b(?:is|are) (?:for|planned for) (?:a |the )?(?:later|next|second|future)\b"
)
_COMING = frozenset(map(stem, ("come", "follow", "plan", "planned", "postponed", "deferred", "do")))
# "WhatsApp-Nachrichten wollen wir nicht": where other languages say no.
_NOT_AT_END = frozenset({"not", "no", "nicht", "niet", "inte", "ikke", "нет"})
_WANTING = frozenset(
    map(stem, ["want", "wollen", "mochten", "willen", "queremos", "voulons", "vogliamo"])
    # of "WhatsApp messages", and of 使用
) | {stem("nachrichten"), "使", "用"}
_HAVING = frozenset(
    map(stem, ["contain", "include", "have", "accept", "require", "allow", "support", "able", "be"])
)


# A value that switches its key off: "Tablet layout: not in version 1".
_OFF = re.compile(
    r"^(?:no|none|never|false|off|disabled|nein|niemals|nunca|jamais|mai|nooit|nao|not|nicht|non|"
    r"niet)"
    r"(?:$|[ ]?[,;.(–—-]|"
    r" (?:now|yet|planned|needed|wanted|supported|allowed|required|"
    r"in (?:version|this|the first|v)|for now|"
    r"vorgesehen|geplant|notig|jetzt|in der ersten|prevu\w*|previst\w*|nodig|gepland)\b)"
)
_OFF_KEY = re.compile(
    r"\b(?:not[ _]supported|unsupported|not[ _]planned|excluded|no[ _]gos?|nicht[ _]unterstutzt|"
    r"ausgeschlossen|non[ _]supporte\w*|no[ _]soportad\w*|non[ _]supportat\w*|niet[ _]ondersteund)$"
)
_DROPPED = re.compile(
    r"\b(?:was|were|is|are|has been|have been|wurden?|ist|sind)(?: \w+(?: and| und)?)? "
    r"(?:dropped|rejected|discarded|ruled out|descoped|cancelled|verworfen|gestrichen)\b"
)
_NONE_OF = re.compile(
    r"^(?:no|never|neither|kein\w*|aucune?|pas d[e\x27]|ningun\w*|nessun\w*|nenhum\w*|geen|"
    r"(?:do not|never) (?:use|add|introduce|install|integrate)|(?:no|nao|non) usar[e]?|"
    r"ne pas utiliser) (?P<list>.+)$"
)
# "No Redis, except for sessions": neither all of it nor for ever.
_LIMITED = re.compile(
    r"\b(?:except\w*|unless|until|besides?|only|but|other than|apart from|beyond|more|less|before|"
    r"after|yet|if|when|ausser|sofern|solange|nur|bis|sauf|salvo|excepto|exceto|tranne|solo|"
    r"seulement|si|avant|antes|hasta|behalve|tenzij)\b|\d"
)
_ITEMS = re.compile(
    r"\s*(?:,|/)\s*(?:(?:or|nor|and|oder|und|ni|ou|et|y|o|e|of|en) )?|\s(?:or|nor|oder|ni|ou|of)\s"
)
_WHERE = re.compile(
    r"\s(?:in|on|inside|within|im|auf|an|dans|sur|en|nel|nella|su|no|na|nos|nas|op)\s"
)
_BROUGHT = re.compile(
    r"\b(?:be|add\w*|support\w*|enabl\w*|includ\w*|implement\w*|offer\w*|provid\w*|need\w*|with|"
    r"prepare\w*|for|have|has|get|use|using|einbauen|vorsehen)\b((?: \S+){1,3})"
)


def refusal_of(asked: Asked, clauses: tuple[Clause, ...]) -> Clause | None:
    """The line that refuses what the question would bring, its kind, or leaves it for later."""
    return (
        declined_by(asked, clauses)
        or postponed_by(asked, clauses)
        or kind_refused_by(asked, clauses)
        or _switched_off_by(asked, clauses)
    )


def declined_by(asked: Asked, clauses: tuple[Clause, ...]) -> Clause | None:
    """
    The line that refuses, in a part of its own, just what the question speaks of; None for none.

    "Should it be async with tokio?" and "No unsafe, no async." A question that itself asks to do
    without something is not for this.
    """
    if patterns("consent", "without").search(asked.folded):
        return None
    for clause in clauses:
        if clause.statement.kind is StatementKind.TASK or not clause.refused:
            continue
        # What is refused nowhere in particular is refused everywhere.
        holds = not clause.scopes or fits(asked.scopes, clause.scopes, asked.topics)
        if holds and (_refuses_just(asked, clause, clauses) or _refuses_all_of_it(asked, clause)):
            return clause
    return None


def kind_refused_by(asked: Asked, clauses: tuple[Clause, ...]) -> Clause | None:
    """
    The line that refuses the whole kind of thing that the question names one of; None for none.

    "No analytics." and "Should I count page views with Plausible?"
    """
    if not _would_add(asked):
        return None
    served = topics_of_name()
    kinds = frozenset[str]().union(
        *(served.get(term[1:], frozenset()) for term in asked.terms if term[0] == "@")
    )
    if not kinds:
        return None
    found = None
    for clause in clauses:
        if clause.chosen & asked.terms:
            return None
        if found or clause.statement.kind is StatementKind.TASK or not clause.refused:
            continue
        named = find_topics([*split_tokens(_refused_text(clause))])
        # "Deep analytics" are not all analytics: what is refused is the kind, and no more.
        whole = {topic for start, end, topic in named if topic in kinds}
        if whole and fits(asked.scopes, clause.scopes, asked.topics) and _names_kind(clause, named):
            found = clause
    return found


def _would_add(asked: Asked) -> bool:
    """Whether the question is about bringing something in, and not about going without."""
    brings = patterns("consent", "brings").search(asked.folded)
    return brings is not None and not patterns("consent", "without").search(asked.folded)


def _refused_text(clause: Clause) -> str:
    return " ".join(term.word for term in clause.terms if term.value in clause.refused)


def _names_kind(clause: Clause, named: list[tuple[int, int, str]]) -> bool:
    words = [term for term in clause.terms if term.value and term.value in clause.refused]
    return len(words) <= sum(end - start for start, end, _ in named) and not clause.chosen


def postponed_by(asked: Asked, clauses: tuple[Clause, ...]) -> Clause | None:
    """
    The line that leaves for later what the question would add now; None for none.

    "Safari comes later." and "Should I add the Safari target?"
    """
    if not _would_add(asked):
        return None
    told = asked.stems | asked.terms
    return next(
        (
            clause
            for clause in clauses
            if clause.statement.kind is not StatementKind.TASK
            and fits(asked.scopes, clause.scopes, asked.topics)
            and any(
                all(has(told, word) for word in words) for words in _postponed(clause.statement)
            )
        ),
        None,
    )


@lru_cache(maxsize=4096)
def _postponed(statement: Statement) -> tuple[frozenset[str], ...]:
    """What a line leaves for later: each thing, by the words that say something."""
    things: list[frozenset[str]] = []
    if statement.text.rstrip().endswith("?"):
        return ()
    for sentence in _ENDS.split(f"{statement.key}: {statement.text}"):
        parts = [part for part in _LISTED.split(sentence) if part.strip()]
        later = [
            find_phrases(cues("postponed"), [token.word for token in split_tokens(part)])
            for part in parts
        ]
        # "Loyalty points and stock keeping are postponed": both are.
        whole = bool(_ARE_POSTPONED.search(fold(sentence)))
        things += [
            _thing(part, found) for part, found in zip(parts, later, strict=True) if found or whole
        ]
    return tuple(thing for thing in things if thing)


def _thing(part: str, later: list[tuple[int, int, str]]) -> frozenset[str]:
    taken = {at for start, end, _ in later for at in range(start, end)}
    terms = tuple(term for term in read_terms(part) if term.at not in taken)
    return values(terms) - word_set("asking") - generic() - _COMING


def _refuses_all_of_it(asked: Asked, clause: Clause) -> bool:
    """ "Bodies must not be logged", and the question is whether to log bodies."""
    refused = clause.refused - word_set("asking") - _WANTING - _HAVING
    told = asked.stems | asked.terms
    if not refused - generic() or not all(has(told, word) for word in refused):
        return False
    subject = clause.chosen - word_set("asking") - generic() - word_set("plain_subjects")
    missing = frozenset(word for word in subject if not has(told, word))
    return len(missing) <= 1 and missing < (subject | {""})


def _refuses_just(asked: Asked, clause: Clause, clauses: tuple[Clause, ...]) -> bool:
    topics = specific(clause.key_topics)
    is_elsewhere = bool(topics) and not broad_topics(topics) & asked.topics
    others = frozenset[str]().union(
        *(one.about for one in clauses if one.statement is not clause.statement)
    )
    for part in _ASIDES.split(clause.statement.text):
        words = [token.word for token in split_tokens(part)]
        if not (find_phrases(cues("after"), words[:3]) or _NOT_AT_END & set(words[-1:])):
            continue
        refused = values(read_terms(part)) & clause.refused - word_set("asking") - generic()
        refused -= _WANTING
        if is_elsewhere and refused & others:
            continue
        if refused and all(has(asked.terms, word) for word in refused):
            return True
    return False


def is_refused(asked: Asked, clauses: tuple[Clause, ...]) -> bool:
    """
    Whether any line refuses something that a routine question speaks of.

    Of what is told before it a name is enough; any other word may stand there by chance, and it
    takes two of one line.
    """
    about = asked.stems - word_set("asking")
    spoken = asked.terms - word_set("asking")
    shared = (about & clause.refused for clause in clauses)
    return any(
        len(words) > 1 or any(word[0] == "@" or word in spoken for word in words)
        for words in shared
    )


def _switched_off_by(asked: Asked, clauses: tuple[Clause, ...]) -> Clause | None:
    """The line whose value, list or verb says no to just what the question speaks of."""
    if patterns("consent", "without").search(asked.folded):
        return None
    if not any(patterns("consent", key).search(asked.folded) for key in _OF_BUILDING):
        return None
    chosen = frozenset[str]().union(*(clause.chosen for clause in clauses))
    for clause in clauses:
        if clause.statement.kind is StatementKind.TASK:
            continue
        things = [one for one in _off(clause.statement) if not _names(one) & chosen]
        if any(_are_in(asked.terms, thing, asked) for thing in things):
            return clause
    return None


_OF_BUILDING = ("brings", "of_the_product")


def _names(thing: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in thing if word[0] == "@")


def _are_in(told: frozenset[str], thing: frozenset[str], asked: Asked) -> bool:
    if not thing or not all(has(told, word) for word in thing):
        return False
    if len(thing) > 1 or _names(thing):
        return True
    # One word is enough only where it is what would be brought.
    brought = " ".join(_BROUGHT.findall(asked.folded))
    return has(frozenset(stem(token.word) for token in split_tokens(brought)), *thing)


@lru_cache(maxsize=4096)
def _off(statement: Statement) -> tuple[frozenset[str], ...]:
    """What a line says no to: each thing, by the words that say something."""
    key, text = fold(statement.key.rpartition(" / ")[2]), fold(statement.text).strip()
    if key and _OFF.search(text.strip(" .")):
        return (_said(key),)
    if _OFF_KEY.search(key):
        return tuple(_said(item) for item in _ITEMS.split(text))
    things: list[frozenset[str]] = []
    for sentence in _ENDS.split(text):
        for part in re.split(r"[:;]\s+|\s[–—-]\s", sentence):
            found = _DROPPED.search(part)
            if found:
                things.append(_said(part[: found.start()]))
            things += _listed(part.strip(" ."))
    return tuple(thing for thing in things if thing)


def _listed(part: str) -> list[frozenset[str]]:
    """`names` and `addresses`, each with the logs, of "No names or addresses in the logs"."""
    found = _NONE_OF.match(part)
    if found is None:
        return []
    where = _WHERE.search(found["list"])
    place = _said(found["list"][where.end() :]) if where else frozenset[str]()
    items = _ITEMS.split(found["list"][: where.start()] if where else found["list"])
    if where:
        return [said | place for item in items if (said := _said(item))]
    if len(items) == 1 or _LIMITED.search(part):
        return []
    # One word of a list may be a part of anything, unless it is a name.
    return [
        said
        for item in items
        if (said := _said(item)) and (len(said) > 1 or any(word[0] == "@" for word in said))
    ]


def _said(text: str) -> frozenset[str]:
    return values(read_terms(text)) - word_set("asking") - _HAVING
