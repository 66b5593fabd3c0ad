"""
Text as a sequence of terms: `@postgresql` for a known name in any spelling, `#900s` for a
quantity in any unit, and the stem of every other word.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from perpetualcc.brain.rules.text import Token, fold, is_content, quantity, split_tokens, stem
from perpetualcc.brain.rules.vocabulary import find_phrases, name_phrases, ordinary_names


@dataclass(frozen=True, slots=True)
class Term:
    """One unit of meaning in a text."""

    value: str
    word: str
    """The folded word, or the first word of a name."""
    at: int
    """Its first token."""

    @property
    def is_name(self) -> bool:
        return self.value.startswith("@")

    @property
    def is_number(self) -> bool:
        return self.value.startswith("#")


@lru_cache(maxsize=8192)
def read_terms(text: str, *, prose: bool = False) -> tuple[Term, ...]:
    """
    Terms in the order of the text, stop words included (their `value` is empty).

    In prose a name that is also an ordinary word counts only when it is written like a name.
    """
    tokens = split_tokens(spelled_out(text))
    names = {start: (end, name) for start, end, name in _names(tokens, prose=prose)}
    terms: list[Term] = []
    at = 0
    while at < len(tokens):
        word = tokens[at].word
        if at in names:
            end, name = names[at]
            terms.append(Term(f"@{name}", word, at))
            at = end
            continue
        end = _written_together(tokens, at)
        if end > at + 1:
            together = "".join(token.word for token in tokens[at:end])
            terms.append(Term(together, together, at))
            at = end
            continue
        following = tokens[at + 1].word if at + 1 < len(tokens) else ""
        measured = quantity(word, following) if word[0].isdigit() else ""
        if measured:
            terms.append(Term(measured, word, at))
            at += 2
            continue
        is_grade = word == "a" and tokens[at].capital and at == len(tokens) - 1
        terms.append(Term(word if is_grade else _value(word), word, at))
        at += 1
    return tuple(terms)


_ONE_OF_A_UNIT = re.compile(
    r"\b(for|after|within|every|in|nach|fur|für|innerhalb|alle|pendant|apres|après|por|durante|tras|"
    r"depois de) (?:an?|eine[rnm]?|une?|una|uma)\s+"
    r"(?=(?:second|minute|hour|day|week|month|year|sekunde|stunde|tag|woche|monat|jahr|seconde|"
    r"heure|jour|semaine|mois|an|hora|minut|d[ií]a|semana|mes|a[nñ]o)\w?\b)",
    re.IGNORECASE,
)


_EACH_UNIT = re.compile(
    r"\b(every|each|jede[nrs]?|chaque|cada|ogni|elke)\s+"
    r"(?=(?:second|minute|hour|day|week|month|year|sekunde|stunde|tag|woche|monat|jahr|seconde|"
    r"heure|jour|semaine|mois|an|hora|minut[oa]|d[ií]a|semana|mes|a[nñ]o|uur|dag|giorno|ora)\b)",
    re.IGNORECASE,
)
# What both services call their own way to run it.
_RUNS_ON = re.compile(
    r"\bci(?:/cd)?(?: (?:pipelines?|jobs?))?(?: (?:runs?|is|lives?|happens?))?"
    r"(?: (?:on|in|with|via|through|by))? (git(?:hub|lab))\b"
    r"(?! (?:actions?|ci|pipelines?|workflows?))",
    re.IGNORECASE,
)


# "1.85.0" and "1.85" are one version; an address has more parts.
_NOUGHTS = re.compile(r"(?:\.0+)+$")
_PARTS_OF_A_VERSION = 2
# "A dark and a light theme" are two themes.
_BOTH_THEMES = re.compile(
    r"\b(dark|light)(\s+(?:and|&)\s+(?:an?\s+)?)(dark|light)[\s-](theme|mode)s?\b", re.IGNORECASE
)
# Where it must run, and not only what it is like.
_RUNS_WITH = re.compile(
    r"\b[ck]ompatib\w+ (?:with|on|avec|con|com|mit|met)\s+"
    r"(?=(?:the |le |la |el |il )?(?:linux|windows|mac\s?os|mac|ios|android|ubuntu|debian|chrome|"
    r"chromium|firefox|safari|edge|node|python|php|java)\b)",
    re.IGNORECASE,
)
_JUST_ONE = re.compile(
    r"\b(?:(?:at most|only|exactly|just) (?:one|a single)|a single|"
    r"(?:höchstens|nur|genau) eine?[nmrs]?|(?:högst|bara|endast) en|(?:hoogstens|slechts) één|"
    r"une seule|un seul|(?:una|un) sol[ao]|uma única|um único|una sola|un solo)\s+(?=[^\W\d])",
    re.IGNORECASE,
)


_MONTH = r"[^\W\d_]{3,10}\.?"
_DATE_FORMATS = (
    # Its name, the ways to write it down, and an example.
    ("isodate", r"yyyy-mm-dd|jjjj-mm-tt|aaaa-mm-(?:jj|dd|gg)", r"\d{4}-\d\d-\d\d"),
    ("dottedday", r"(?:dd|tt|jj|gg)\.mm\.(?:yyyy|jjjj|aaaa)", r"\d\d?\.\d\d?\.\d{4}"),
    (
        "slashedday",
        r"(?:dd|jj|gg)/mm/(?:yyyy|aaaa|jjjj)",
        r"(?:1[3-9]|2\d|3[01])/(?:0?[1-9]|1[0-2])/\d{4}",
    ),
    ("slashedmonth", r"mm/dd/yyyy", r"(?:0?[1-9]|1[0-2])/(?:1[3-9]|2\d|3[01])/\d{4}"),
    (
        "dayandmonth",
        r"d{1,2}\.? (?:month|m{3,4}) y{4}|t{1,2}\. monat j{4}",
        rf"\d\d?\.? {_MONTH} \d{{4}}",
    ),
    ("monthandday", r"(?:month|m{3,4}) d{1,2},? y{4}", rf"{_MONTH} \d\d?,? \d{{4}}"),
)
_WRITTEN_FORMATS = tuple(
    (re.compile(rf"(?<![\w/.-])(?:{written})(?![\w/-])", re.IGNORECASE), name)
    for name, written, _ in _DATE_FORMATS
)
_MAY_BE_A_FORMAT = re.compile(r"yyyy|jjjj|aaaa", re.IGNORECASE)


def date_formats_named(text: str) -> str:
    """`DD.MM.YYYY` as one word: its parts in another order are another format."""
    if _MAY_BE_A_FORMAT.search(text):
        for pattern, name in _WRITTEN_FORMATS:
            text = pattern.sub(name, text)
    return text


def date_format_of(example: str) -> str:
    """The name of the format that a date is written in; empty for anything else."""
    text = date_formats_named(example.strip())
    for name, _, dates in _DATE_FORMATS:
        if text == name or re.fullmatch(dates, text, re.IGNORECASE):
            return name
    return ""


# "7, 14 and 30 days", "10-90 minutes": the unit is said once, at the end.
_MEASURED_ALIKE = re.compile(
    r"(?<![\w.,:/-])(?:\d+,\s+)*\d+"
    r"(?:,\s+|,?\s+(?:and|or|to|und|oder|bis|et|ou|y|o|e|en|of|och|и|или)\s+|\s?[-–]\s?)"
    r"\d+\s?([^\W\d_]+)\b",
    re.IGNORECASE,
)
_NOT_THE_LAST = re.compile(r"(\d+)(?=\s*,|\s+[^\W\d_]+\s+\d|\s?[-–]\s?\d)")


def each_measured(text: str) -> str:
    """Every number with the unit that stands behind the last of its list."""
    return _MEASURED_ALIKE.sub(_with_the_unit, text)


def _with_the_unit(found: re.Match[str]) -> str:
    unit = found[1]
    if len(unit) < _A_UNIT or not quantity("1", fold(unit)):
        return found[0]
    return _NOT_THE_LAST.sub(rf"\1 {unit}", found[0])


def each_named(text: str) -> str:
    """ "A dark and a light theme" as two themes."""
    return _BOTH_THEMES.sub(r"\1 \4\2\3 \4", text)


def spelled_out(text: str) -> str:
    """`80%` and `600/min` in words."""
    text = re.sub(r"(?<=\d)\s*%", " percent", text)
    text = _ONE_OF_A_UNIT.sub(r"\1 1 ", text)
    text = _EACH_UNIT.sub(r"\1 1 ", text)
    text = each_measured(date_formats_named(text))
    text = _RUNS_WITH.sub("for ", text)
    text = _RUNS_ON.sub(r"\1 CI", text)
    text = _JUST_ONE.sub("1 ", text)
    return re.sub(r"(?<=\d)\s*/\s*(?=(?:s|sec|min|h|hour|second|minute|day|d)\b)", " per ", text)


# A unit of one letter may be anything.
_A_UNIT = 2
# So much is the version of a language that is called by a letter: "C99".
_VERSION_OF_A_LETTER = 2


def _written_together(tokens: tuple[Token, ...], at: int) -> int:
    """Where the `CLI11` ends that begins here: letters with digits, and no `v2`."""
    if not tokens[at].word[0].isalpha() or tokens[at].word == "v":
        return at + 1
    end = at + 1
    while end < len(tokens) and tokens[end].is_glued:
        end += 1
    return end


def _value(word: str) -> str:
    if word == "v":
        return ""
    if word[0].isdigit():
        return f"#{_NOUGHTS.sub('', word) if word.count('.') <= _PARTS_OF_A_VERSION else word}"
    return stem(word) if is_content(word) else ""


def _names(tokens: tuple[Token, ...], *, prose: bool) -> list[tuple[int, int, str]]:
    found = [
        (start, end, name)
        for start, end, name in find_phrases(name_phrases(), [token.word for token in tokens])
        if _is_whole(tokens, start, end)
    ]
    if not prose:
        return found
    return [
        (start, end, name)
        for start, end, name in found
        if end - start > 1 or tokens[start].word not in ordinary_names() or tokens[start].capital
    ]


def _is_whole(tokens: tuple[Token, ...], start: int, end: int) -> bool:
    """Whether a name is no part of a longer word: `python3` names Python, and `R4` no R."""
    if tokens[start].is_glued:
        return False
    if end == len(tokens) or not tokens[end].is_glued:
        return True
    after = tokens[end + 1 :]
    ends = not after or not after[0].is_glued
    version = tokens[end].word
    is_letter = end == start + 1 and len(tokens[start].word) == 1
    return version[0].isdigit() and ends and (not is_letter or len(version) >= _VERSION_OF_A_LETTER)


def values(terms: tuple[Term, ...]) -> frozenset[str]:
    """The terms that say something."""
    return frozenset(term.value for term in terms if term.value)


@lru_cache(maxsize=4096)
def phrase(text: str) -> str:
    """Folded text with single blanks, for comparing whole labels."""
    return " ".join(token.word for token in split_tokens(text))
