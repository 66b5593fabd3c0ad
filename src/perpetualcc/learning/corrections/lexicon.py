r"""
A language as data: its grammatical categories, one file a language in `languages/`.

A category is a list of patterns separated by `;` or new lines. A pattern is a regular expression
over folded text with five abbreviations: a space is any white space, `*` behind a letter completes
a word, `~` is a gap of at most five words (or fourteen characters where words are not spaced), `^`
in front is the start of a clause, `$` behind is the end of the sentence. Patterns begin and end at
word boundaries in languages that have them. They are folded like the text, so they are in lower
case: write `[^\w]`, not the capital class.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from perpetualcc.learning.corrections.text import fold

LETTER = r"[\w\u0300-\u036f\u0591-\u05c7\u064b-\u0652\u0900-\u0963\u0966-\u0983\u0e31-\u0e4e]"
"""A word's character: `\\w` leaves out the vowel signs that many scripts write as marks."""

_SPACED_GAP = r"(?:[\s,]+(?:\S+\s+){0,5}?)"
_UNSPACED_GAP = r"(?:.{0,14}?)"


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """One language, compiled. Compared by identity: there is one of each."""

    code: str
    name: str
    script: str
    accents: bool
    """Whether diacritics are kept: in Vietnamese they are the word."""
    spaced: bool
    verb_last: bool
    """The verb ends the sentence: a request does not show at its beginning."""
    stop: frozenset[str]
    letters: frozenset[str]
    """Letters that only this language of its script writes."""
    categories: Mapping[str, str]
    """Regular expressions, compiled when first looked for: a message needs one language."""

    def fold(self, text: str) -> str:
        return fold(text, accents=self.accents)

    def search(self, category: str, folded: str) -> re.Match[str] | None:
        """The first place where a category shows in folded text."""
        return _compiled(self, category).search(folded)

    def has(self, category: str, folded: str) -> bool:
        return self.search(category, folded) is not None

    def every(self, category: str, folded: str) -> Iterator[re.Match[str]]:
        """All places where a category shows, that do not overlap."""
        return _compiled(self, category).finditer(folded)

    def without(self, category: str, folded: str) -> str:
        """The text with every occurrence of a category blanked out."""
        return _compiled(self, category).sub(" … ", folded)


@cache
def _compiled(lexicon: Lexicon, category: str) -> re.Pattern[str]:
    """
    Raises:
        ValueError: a pattern is not a regular expression; the message names it.
    """
    source = lexicon.categories.get(category, "(?!)")
    try:
        return re.compile(source)
    except re.error as error:
        raise ValueError(f"{lexicon.code}: category {category!r}: {error}") from error


@cache
def lexicons() -> tuple[Lexicon, ...]:
    """Every language there is a file for, by code."""
    folder = files("perpetualcc.learning.corrections") / "languages"
    found = sorted(file.name for file in folder.iterdir() if file.name.endswith(".toml"))
    return tuple(
        compile_lexicon(name.removesuffix(".toml"), (folder / name).read_text(encoding="utf-8"))
        for name in found
    )


def english() -> Lexicon:
    """What words of no certain language are read as."""
    return next(one for one in lexicons() if one.code == "en")


def compile_lexicon(code: str, source: str) -> Lexicon:
    """A lexicon from a language file's text."""
    data = tomllib.loads(source)
    accents, spaced = (
        data.get("accents", False),
        data.get("spaced", data["script"] not in _UNSPACED),
    )
    lead = fold(data.get("lead", ""), accents=accents)
    compiler = _Patterns(accents=accents, spaced=spaced, lead=lead)
    return Lexicon(
        code=code,
        name=data["name"],
        script=data["script"],
        accents=accents,
        spaced=spaced,
        verb_last=data.get("verb_last", False),
        stop=frozenset(data["stop"].split()),
        letters=frozenset(data.get("letters", "")),
        categories={name: compiler.category(text) for name, text in data["categories"].items()},
    )


_UNSPACED = frozenset({"han", "kana", "thai", "hangul"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Patterns:
    accents: bool
    spaced: bool
    lead: str

    def category(self, text: str) -> str:
        parts = [part.strip() for part in re.split(r"[;\n]", text)]
        alternatives = [self._pattern(one) for part in parts if part for one in _alternatives(part)]
        return "|".join(f"(?:{one})" for one in alternatives)

    def _pattern(self, part: str) -> str:
        starts, part = part.startswith("^"), part.removeprefix("^")
        ends, part = part.endswith("$"), part.removesuffix("$")
        body = fold(part, accents=self.accents)
        body = re.sub(r"(?<=(?<!\\)\w)\*", lambda _: f"{LETTER}*", body) if self.spaced else body
        body = re.sub(r" ?~ ?", lambda _: _SPACED_GAP if self.spaced else _UNSPACED_GAP, body)
        body = body.replace(" ?", r"\s*").replace(" ", r"\s+" if self.spaced else r"\s*")
        left = self._clause_start() if starts else self._boundary(before=True)
        if body.startswith(","):
            left = ""
        right = r"(?=[\s.!?。！？…]*$)" if ends else self._boundary(before=False)
        return f"{left}(?:{body}){right}"

    def _boundary(self, *, before: bool) -> str:
        if not self.spaced:
            return ""
        return rf"(?<!{LETTER})(?<![/_.@-])" if before else rf"(?:(?<=\s)|(?!{LETTER})(?![/_]\w))"

    def _clause_start(self) -> str:
        if not self.spaced:
            return rf"(?:^\W*|[,、;:.。!?…—(~]\s*)(?:(?:{self.lead})[\s,、]*){{0,3}}"
        words = self.lead.replace(" ", "[ ]")
        first = rf"(?<!{LETTER})(?=(?:{words})[\s,])" if words else "(?!)"
        start = rf"(?:^[^\w]*|[,،;:!?…—–(.،।]\s*|\s-+\s|{first})"
        return start + (rf"(?:(?:{words})[\s,:]+){{0,3}}" if words else "")


def _alternatives(part: str) -> list[str]:
    """Cut at the `|` that stand outside brackets: `^` and `$` belong to one alternative."""
    pieces, depth, start = [], 0, 0
    for position, character in enumerate(part):
        if position and part[position - 1] == "\\":
            continue
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
        if character == "|" and depth == 0:
            pieces.append(part[start:position])
            start = position + 1
    return [piece for piece in (*pieces, part[start:]) if piece]
