"""Whether a clause chooses a thing, refuses it, or only mentions it."""

from enum import IntEnum

from perpetualcc.brain.rules.terms import Term
from perpetualcc.brain.rules.vocabulary import cues, find_phrases, topics_of_name

# How many words after "legacy" or "from" the thing may stand.
_FOREIGN_REACH = 3
# In so few words "over" compares.
_BRIEF = 5
_OR = frozenset({"or", "oder", "ou", "o", "или", "lub", "eller", "veya", "或", "または"})


# "Four weeks before" tells a time, and "before" alone what was once.
_EARLIER = frozenset({"vorher", "fruher", "davor", "avant", "antes", "раньше"})
# "Whoever has not answered gets a reminder" refuses nothing.
_WHO = frozenset({"who", "whoever", "anyone", "those", "wer", "quien", "chi"})
_TOO = frozenset({"too", "trop", "demasiado", "troppo", "demasiada"})
# "Login over the company's SAML" compares nothing.
_BY_WAY_OF = frozenset(
    [
        "the",
        "a",
        "an",
        "our",
        "https",
        "http",
        "tcp",
        "udp",
        "tls",
        "ssl",
        "ssh",
        "usb",
        "wifi",
        "mqtt",
    ]
)
# "Nobody here wants to maintain X" goes on refusing.
_WANTING = frozenset({"want", "wants", "wanted", "need", "needs", "like", "likes", "has", "have"})
_NOTS = frozenset({"not", "never", "no"})
_COMPARING = frozenset(
    {
        "longer",
        "more",
        "exceed",
        "larger",
        "less",
        "fewer",
        "later",
        "below",
        "bigger",
        "above",
        "higher",
        "lower",
        "slower",
        "shorter",
        "greater",
    }
)


class Polarity(IntEnum):
    """What a clause says about one of its terms."""

    REFUSED = -1
    OPEN = 0
    """Mentioned, perhaps weighed; nothing rests on it."""
    CHOSEN = 1


def polarities(words: list[str], terms: tuple[Term, ...]) -> tuple[Polarity, ...]:
    """One for each term."""
    taken = {
        at for start, end, _ in find_phrases(cues("bounds"), words) for at in range(start, end)
    }
    taken |= _bounded(words)
    if words[:1] == ["no"]:
        # "No HTML report for now" is a no.
        now = find_phrases(cues("present"), words)
        present = {at for start, end, _ in now for at in range(start, end)}
    else:
        present = set()
    marks = [_of_all(words, taken, taken | present)] * len(words)
    if marks[:1] == [Polarity.CHOSEN]:
        _refuse_after(words, marks, taken)
    for at in _belongs_elsewhere(words):
        if marks[at] is Polarity.CHOSEN and _is_name_at(terms, at):
            marks[at] = Polarity.OPEN
    for kind in ("after", "whole", "instead", "open", "dismissed"):
        for start, end, _ in find_phrases(cues(kind), words):
            # "Kein" itself is neither chosen nor refused.
            marks[start:end] = [Polarity.OPEN] * (end - start)
    result = [marks[term.at] for term in terms]
    return tuple(_doubt_alternatives(words, terms, result))


def _of_all(words: list[str], taken: set[int], aside: set[int]) -> Polarity:
    """What is said of a whole clause, whatever the order of its words."""
    if _has(words, "dismissed", taken):
        return Polarity.REFUSED
    # "Ob Bußen verwaltet werden" asks, and says nothing.
    if _has(words, "open", aside) or _is_too_much(words) or words[:1] == ["ob"]:
        return Polarity.OPEN
    return Polarity.REFUSED if _has(words, "whole", taken) else Polarity.CHOSEN


def _belongs_elsewhere(words: list[str]) -> set[int]:
    """Where a name is somebody else's, yesterday's, or for a case alone."""
    after = [
        range(end, min(end + _FOREIGN_REACH, len(words)))
        for _, end, _ in find_phrases(cues("foreign"), words)
    ]
    before = [range(start) for start, _, _ in find_phrases(cues("exceptionally"), words)]
    return {at for reach in (*after, *before) for at in reach}


def _is_too_much(words: list[str]) -> bool:
    """ "Celery is too heavy" weighs; "Windows too" does not."""
    return any(
        word in _TOO and words[at - 1 : at] != ["not"] and words[at + 1] not in _OR | {"and", "but"}
        for at, word in enumerate(words[:-1])
    )


def _bounded(words: list[str]) -> set[int]:
    """The "not" of "must not run longer than"."""
    return {
        at
        for at, word in enumerate(words)
        if (word in _NOTS and _WHO & set(words[max(at - 3, 0) : at]))
        or (word in _NOTS and _COMPARING & set(words[at + 1 : at + 5]) and _measured(words[at:]))
        or (word in _EARLIER and any(one[0].isdigit() for one in words[max(at - 2, 0) : at]))
    }


def _measured(words: list[str]) -> bool:
    """Whether something is compared with: "no longer than", and no "we no longer use"."""
    return any(word == "than" or word[0].isdigit() for word in words[:8])


def _has(words: list[str], kind: str, taken: set[int]) -> bool:
    return any(start not in taken for start, _, _ in find_phrases(cues(kind), words))


def _is_name_at(terms: tuple[Term, ...], at: int) -> bool:
    return any(term.at == at and term.is_name for term in terms)


def _refuse_after(words: list[str], marks: list[Polarity], taken: set[int]) -> None:
    restores = cues("restores")
    starts = [
        (start, end, kind)
        for kind in ("after", "instead")
        for start, end, _ in find_phrases(cues(kind), words)
        if start not in taken
    ]
    if "over" in words and any(word.startswith("prefer") for word in words):
        starts.append((words.index("over"), words.index("over") + 1, "instead"))
    if (
        2 <= len(words) <= _BRIEF
        and "over" in words[1:-1]
        and words[words.index("over") + 1] not in _BY_WAY_OF
    ):
        # "type over interface"
        starts.append((words.index("over"), words.index("over") + 1, "instead"))
    for start, end, kind in sorted(starts):
        refused = False
        for at in range(end, len(words)):
            # "not to use X" and "do not use X" go on refusing; "not X but Y" does not.
            if (
                refused
                and words[at] in restores
                and not (
                    kind == "after"
                    and words[at] in {"to", "with", "by", "use"}
                    and (at < end + 2 or words[at - 1] in _WANTING)
                )
            ):
                break
            marks[at] = Polarity.REFUSED
            refused = refused or words[at] not in {"use", "to", "be", "any", "a", "the", "using"}
        del start


def _doubt_alternatives(
    words: list[str], terms: tuple[Term, ...], result: list[Polarity]
) -> list[Polarity]:
    """Of "X or Y" neither is chosen, when both could serve the same."""
    for at in (index for index, word in enumerate(words) if word in _OR):
        before = [index for index, term in enumerate(terms) if term.at < at and term.value]
        after = [index for index, term in enumerate(terms) if term.at > at and term.value]
        pairs = [
            (one, other)
            for one in before[-4:]
            for other in after[:3]
            if _are_alternatives(terms[one], terms[other])
        ]
        for index in {index for pair in pairs for index in pair}:
            if result[index] is Polarity.CHOSEN:
                result[index] = Polarity.OPEN
    return result


def _are_alternatives(one: Term, other: Term) -> bool:
    if one.is_number and other.is_number:
        return True
    if not (one.is_name and other.is_name):
        return False
    served = topics_of_name()
    ours, theirs = served.get(one.value[1:], frozenset()), served.get(other.value[1:], frozenset())
    return bool(ours & theirs) or not (ours and theirs)
