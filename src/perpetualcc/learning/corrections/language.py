"""Which language a message is in: by its script first, then by its function words."""

import re
from functools import cache

from perpetualcc.learning.corrections.lexicon import Lexicon, lexicons
from perpetualcc.learning.corrections.text import fold

_SCRIPTS = (
    ("kana", re.compile(r"[\u3040-\u30ff]")),
    ("hangul", re.compile(r"[\uac00-\ud7a3\u1100-\u11ff]")),
    ("han", re.compile(r"[\u4e00-\u9fff]")),
    ("cyrillic", re.compile(r"[\u0400-\u04ff]")),
    ("arabic", re.compile(r"[\u0600-\u06ff]")),
    ("devanagari", re.compile(r"[\u0900-\u097f]")),
    ("thai", re.compile(r"[\u0e00-\u0e7f]")),
    ("hebrew", re.compile(r"[\u0590-\u05ff]")),
    ("greek", re.compile(r"[\u0370-\u03ff]")),
    ("bengali", re.compile(r"[\u0980-\u09ff]")),
)
_WORD = re.compile(r"[^\W\d_]{2,}(?:'[^\W\d_]+)?|[^\W\d_]'[^\W\d_]+|[^\Wa-z\d_]")


def detect(text: str) -> list[Lexicon]:
    """
    The lexicons to read a message with, best first; one as a rule.

    A short Latin message may fit two languages equally; then both are returned and the caller
    takes the stronger reading.
    """
    script = script_of(text)
    candidates = [lexicon for lexicon in lexicons() if lexicon.script == script]
    if not candidates:
        return [lexicon for lexicon in lexicons() if lexicon.code == "en"]
    if len(candidates) == 1:
        return candidates
    ranked = sorted(
        ((_score(text, one), one.code == "en", one) for one in candidates),
        key=lambda row: row[:2],
        reverse=True,
    )
    best = ranked[0][0]
    if best == 0:
        return [one for one in candidates if one.code == "en"] or candidates[:1]
    return [one for score, _, one in ranked if score > best * 0.92][:2]


def script_of(text: str) -> str:
    """The script that decides: any kana is Japanese; otherwise the one with most letters."""
    counts = {name: len(pattern.findall(text)) for name, pattern in _SCRIPTS}
    if counts["kana"] and counts["kana"] * 8 >= counts["han"]:
        return "kana"
    name, count = max(counts.items(), key=lambda item: item[1])
    latin = sum(1 for character in text if character.isascii() and character.isalpha())
    # One foreign letter stands for a whole word where Latin letters are mostly code.
    return name if count * 12 >= latin and count else "latin"


def _score(text: str, lexicon: Lexicon) -> float:
    words = _WORD.findall(fold(text, accents=True))
    folded = _WORD.findall(fold(text, accents=False))
    stop, bare = _stop_words(lexicon)
    hits = float(len(set(words) & stop))
    plainly = sum(
        word not in stop and plain in bare for word, plain in zip(words, folded, strict=False)
    )
    # A word typed without its accents counts a little less; one alone is another language's
    # where accents make the words: "no" is not "nó".
    hits += 0.6 * (0 if lexicon.accents and plainly == 1 and not hits else plainly)
    hits += sum(0.5 for letter in set(fold(text, accents=True)) if letter in lexicon.letters)
    return hits


@cache
def _stop_words(lexicon: Lexicon) -> tuple[frozenset[str], frozenset[str]]:
    words = frozenset(fold(word, accents=True) for word in lexicon.stop)
    return words, frozenset(fold(word, accents=False) for word in words)
