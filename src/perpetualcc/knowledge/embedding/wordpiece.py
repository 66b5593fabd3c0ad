"""
BERT's uncased tokenizer: basic tokens, then the longest pieces of the vocabulary.

Ours, because the usual package brings 30 MB and a network client. The vocabulary is that of BERT
uncased (Apache-2.0); the algorithm is that of its `tokenization.py`.
"""

import unicodedata
from functools import lru_cache
from importlib import resources

_UNKNOWN, _START, _END = "[UNK]", "[CLS]", "[SEP]"
_MAX_WORD = 100
"""Longer words are unknown, as in BERT."""


class WordPiece:
    """Token ids of texts."""

    def __init__(self) -> None:
        text = resources.files(__package__).joinpath("vocabulary.txt").read_text("utf-8")
        self._ids = {piece: number for number, piece in enumerate(text.split("\n"))}
        self._pieces = lru_cache(maxsize=50_000)(self._pieces_of)

    def ids(self, text: str, limit: int) -> list[int]:
        """At most `limit` ids, the marks for beginning and end among them."""
        found: list[int] = [self._ids[_START]]
        for word in _basic_tokens(text[: limit * 12]):
            found += self._pieces(word)
            if len(found) >= limit:
                break
        return [*found[: limit - 1], self._ids[_END]]

    def _pieces_of(self, word: str) -> tuple[int, ...]:
        if len(word) > _MAX_WORD:
            return (self._ids[_UNKNOWN],)
        found = []
        start = 0
        while start < len(word):
            end = len(word)
            while (piece := ("##" if start else "") + word[start:end]) not in self._ids:
                end -= 1
                if end == start:
                    return (self._ids[_UNKNOWN],)
            found.append(self._ids[piece])
            start = end
        return tuple(found)


def _basic_tokens(text: str) -> list[str]:
    """Lower case without accents; punctuation and Chinese characters stand alone."""
    if not text.isascii():
        text = unicodedata.normalize("NFD", text.lower())
        text = "".join(letter for letter in text if unicodedata.category(letter) != "Mn")
    return "".join(map(_spaced, text.lower())).split()


@lru_cache(maxsize=10_000)
def _spaced(letter: str) -> str:
    if letter.isalnum() and not _is_chinese(ord(letter)):
        return letter
    if letter.isspace() or letter in "\t\n\r":
        return " "
    category = unicodedata.category(letter)
    if category.startswith("C") or letter == "\ufffd":
        return ""
    is_ascii_mark = 33 <= ord(letter) <= 126
    return (
        f" {letter} " if is_ascii_mark or category[0] == "P" or _is_chinese(ord(letter)) else letter
    )


def _is_chinese(point: int) -> bool:
    return (
        0x4E00 <= point <= 0x9FFF
        or 0x3400 <= point <= 0x4DBF
        or 0x20000 <= point <= 0x2CEAF
        or 0xF900 <= point <= 0xFAFF
        or 0x2F800 <= point <= 0x2FA1F
    )
