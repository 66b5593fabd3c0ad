"""A text as terms to look for: words, the parts of names, and pairs where words are not spaced."""

import re
import unicodedata

MOST_TERMS = 64
_NAME_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_WORDS = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]+")
_COMMON = frozenset(
    ["a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "i", "in", "is", "it", "of",
     "on", "or", "that", "the", "this", "to", "was", "we", "with", "you"]
)  # fmt: skip


def terms_of(text: str) -> list[str]:
    """Distinct terms in their order, at most `MOST_TERMS`; `parseDate` is also `parse`, `date`."""
    text = unicodedata.normalize("NFKC", text[:8_000])
    found: dict[str, None] = {}
    for word in _WORDS.findall(text):
        for term in _cut(word):
            if term not in _COMMON:
                found[term] = None
        if len(found) >= MOST_TERMS:
            break
    return list(found)[:MOST_TERMS]


def _cut(word: str) -> list[str]:
    if _UNSPACED.search(word):
        runs = _UNSPACED.findall(word)
        pairs = [run[i : i + 2] for run in runs for i in range(max(1, len(run) - 1))]
        return pairs + [rest.lower() for rest in _UNSPACED.split(word) if rest]
    whole = _plain(word)
    parts = [part.lower() for part in _NAME_PARTS.findall(word)] if word.isascii() else []
    return [whole, *(part for part in parts if part != whole and len(part) > 1)]


def _plain(word: str) -> str:
    """Without accents and case, as the index folds them too."""
    bare = unicodedata.normalize("NFD", word.lower())
    return "".join(character for character in bare if not unicodedata.combining(character)) or word
