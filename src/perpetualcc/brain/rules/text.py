"""
Words as rules compare them: folded, cut into tokens, numbers with units made one.

Chinese, Japanese and Korean characters are tokens of their own, so that a phrase is found inside
a sentence without blanks.
"""

import re
import unicodedata
from functools import cache, lru_cache
from typing import NamedTuple

from perpetualcc.brain.rules.tables import table, word_set

_KANA_VOICING = frozenset("\u3099\u309a")
# Letters that Unicode does not take apart.
_LETTERS = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "’": "'", "`": " "}
)
_CONTRACTIONS = (
    (re.compile(r"\bcan't\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\bcannot\b"), "can not"),
    (re.compile(r"(?<=[a-z])'s\b"), ""),
)
_SPECIAL = (
    (re.compile(r"(?<![\w+])c\+\+"), "cplusplus"),
    (re.compile(r"(?<!\w)([cf])#"), r"\1sharp"),
    (re.compile(r"\basp\.net\b"), "aspdotnet"),
    (re.compile(r"(?<!\w)\.net\b"), "dotnet"),
    (re.compile(r"(?<=[a-z])\.js\b"), "js"),
    (re.compile(r"\bci/cd\b"), "ci cd"),
    (re.compile(r"\bend-to-end\b"), "end to end"),
    # "UTF-8" and "UTF8", "ES 2022" and "ES2022" are one.
    (re.compile(r"\b(utf|sha|iso|din|rfc|aes|rsa|crc)[ -](?=\d)|\b(es)[ -](?=20\d\d)"), r"\1\2"),
    (re.compile(r"\b[1-5]xx\b"), "statuscodes"),
    (re.compile(r"\btim(?:es?|ed|ing) out\b"), "timeout"),
    (re.compile(r"\bdark(?:-|\s)(?:mode|theme)\b"), "darkmode"),
    (re.compile(r"(?<=\d)[,_](?=\d{3}(?:\b|_))"), ""),
    # "1,5 Stunden", and not a list of numbers.
    (re.compile(r"(?<![\d.,])(\d{1,3}),(\d{1,2})(?=\s?[^\W\d_])"), r"\1.\2"),
    (
        re.compile(
            r"\b(?:half an hour|halbe[nr]? stunde|media hora|demi-heure|half uur|mezz'ora)\b"
        ),
        "30 minutes",
    ),
)
_TOKEN = re.compile(
    r"\d+(?:\.\d+)*|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)
_SYLLABLE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_NUMBER_WORDS = {
    word: str(number)
    for number, word in enumerate(
        [
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ]
    )
} | {
    word: str(number)
    for words in (
        "fifteen:15 twenty:20 thirty:30 forty:40 fifty:50 sixty:60 hundred:100",
        "zwei:2 drei:3 vier:4 funf:5 sechs:6 sieben:7 acht:8 neun:9 zehn:10 zwolf:12",
        "deux:2 trois:3 quatre:4 cinq:5 sept:7 huit:8 dix:10 douze:12 quinze:15",
        "tres:3 cuatro:4 cinco:5 seis:6 siete:7 ocho:8 nueve:9 diez:10",
        "duas:2 quatro:4 sete:7 oito:8 dez:10 tre:3 quattro:4 cinque:5",
        "twee:2 drie:3 vijf:5 два:2 две:2 три:3 четыре:4 пять:5",
    )
    for word, number in (pair.split(":") for pair in words.split())
}
_CYRILLIC = re.compile(r"[а-я]{4,}")
_CYRILLIC_ENDING = re.compile(
    r"(?<=[а-я]{3})(?:иями|ями|ами|ого|его|ому|ему|ыми|ими|ов|ев|еи|ии|ыи|ои|ом|ем|ам|ям|ах|ях|"  # noqa: RUF001  Russian
    r"ую|юю|ая|яя|ое|ее|ые|ие|ию|ия|а|я|о|е|у|ю|ы|и|ь)$"
)
_PERCENT = frozenset({"%", "percent", "prozent", "pct"})


class Token(NamedTuple):
    """One word of a text."""

    word: str
    """Folded."""
    capital: bool
    """Written with a capital letter, and not only because a sentence begins."""
    is_glued: bool = False
    """Written together with the letters or digits before it: the `4` of `R4`."""


@lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """Case, accents, width and typographic variants folded away."""
    text = unicodedata.normalize("NFKC", text).casefold().translate(_LETTERS)
    parts = unicodedata.normalize("NFKD", text)
    kept = (char for char in parts if not unicodedata.combining(char) or char in _KANA_VOICING)
    return unicodedata.normalize("NFC", "".join(kept))


def _spelled(text: str) -> str:
    for pattern, replacement in (*_CONTRACTIONS, *_SPECIAL):
        text = pattern.sub(replacement, text)
    return text


@lru_cache(maxsize=8192)
def split_tokens(text: str) -> tuple[Token, ...]:
    """The words of a text, with what their spelling says."""
    original = unicodedata.normalize("NFKC", text)
    capitals = {
        fold(found[0])
        for found in re.finditer(
            r"(?<![.!?:\n]\s)(?<!^)\b[^\W\d_]*[A-Z][^\W_]*|\b[A-Z]{2,}\b", original
        )
    }
    tokens: list[Token] = []
    end = -1
    for found in _TOKEN.finditer(_spelled(fold(text))):
        word = found[0]
        is_glued = found.start() == end and not _SYLLABLE.match(word)
        tokens.append(Token(_NUMBER_WORDS.get(word, word), word in capitals, is_glued))
        end = -1 if _SYLLABLE.match(word) else found.end()
    return tuple(tokens)


def singular(word: str) -> str:
    """A plural's singular, roughly; enough for comparing."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith(("eux", "eaux")):
        return word[:-1]
    if len(word) > 6 and word.endswith("ungen"):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "os")):
        return word[:-1]
    return word


# "Died", "tied".
_SHORTEST_PARTICIPLE = 4


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """What the forms of a word share, and words that mean the same."""
    short = _shortened(word)
    return _same().get(short, short)


def _shortened(word: str) -> str:
    """`expires`, `expired` and `expiring` are one; so are `библиотека` and `библиотеку`."""
    if _CYRILLIC.match(word):
        return _CYRILLIC_ENDING.sub("", word)
    word = singular(word)
    if len(word) > _SHORTEST_PARTICIPLE and word.endswith("ied"):
        return f"{word[:-3]}y"
    for ending in ("ization", "isation", "ations", "ation", "ing", "ed", "ment", "ion", "er", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] in "bdgmnprt":
        word = word[:-1]
    if len(word) > 4 and word[-1] in "ao":
        # `fecha` and `fechas`, `muestro` and `muestra`.
        return word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word


@cache
def _same() -> dict[str, str]:
    groups = [[_shortened(word) for word in line.split()] for line in table("words")["same"]]
    return {word: group[0] for group in groups for word in group}


def is_content(word: str) -> bool:
    """Whether a word says something by itself."""
    return word not in word_set("stop")


_UNITS = (("seconds", "s"), ("bytes", "b"), ("metres", "m"))
_MONTH, _YEAR, _MONTHS_OF_YEAR = 30 * 86400, 365 * 86400, 12


def quantity(number: str, unit: str) -> str:
    """
    `15` `minutes` → `#900s`; a unit that only counts things gives an empty string.

    A month has 30 days and twelve of them are a year of 365: so people set "90 days" and "3 months"
    equal, and "12 months" and "365 days".
    """
    if not re.fullmatch(r"\d+(?:\.\d+)?", number):
        return ""
    amount = float(number)
    if unit == "m" and "." in number:
        unit = "meter"
    for kind, mark in _UNITS:
        sizes = table("words")[kind]
        size = sizes.get(unit) or sizes.get(singular(unit))
        if size == _MONTH and amount >= _MONTHS_OF_YEAR:
            amount, size = amount / _MONTHS_OF_YEAR, _YEAR
        if size:
            return f"#{amount * size:g}{mark}"
    return f"#{float(number):g}%" if unit in _PERCENT else ""


# A unit of one letter may be anything.
_SHORTEST_UNIT = 2


# Units that are also words of another language: "an" is a year, and an article.
_BORROWED_UNITS = frozenset({"an", "go", "mo", "ko", "mes", "tag", "ore", "ora", "ano", "dia"})
_ENGLISH = frozenset(
    [
        "the",
        "of",
        "to",
        "is",
        "are",
        "be",
        "should",
        "which",
        "what",
        "how",
        "when",
        "with",
        "for",
        "and",
        "does",
        "do",
        "shall",
        "must",
    ]
)


@lru_cache(maxsize=4096)
def unit_among(text: str) -> str:
    """The last unit that stands there without a number: `seconds` in `timeout_seconds`."""
    words = [token.word for token in split_tokens(text)]
    foreign = _BORROWED_UNITS if _ENGLISH & set(words) else frozenset[str]()
    units = [
        word
        for before, word in zip(["", *words], words, strict=False)
        if len(word) >= _SHORTEST_UNIT
        and not before[:1].isdigit()
        and word not in foreign
        and quantity("1", word)
    ]
    return units[-1] if units else ""
