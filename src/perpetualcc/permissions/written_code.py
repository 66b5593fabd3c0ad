"""
What a text would do when it is run, as far as a search can tell: `knowledge/written.toml`.

What is LOW afterwards (`npm test`) runs what was written before, so the harm is looked for where it
is written. A search finds what is said plainly; it does not understand code.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.knowledge import load_table

TEXT_LIMIT = 200_000
"""Characters of a text that are searched."""

_PART = re.compile(r"<<(\w+)>>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Harm:
    """One thing that code must not do without a person having seen it."""

    rule: str
    risk: Risk
    explanation: str
    words: tuple[str, ...]
    with_words: tuple[str, ...]
    """One of each is in every text that does it."""
    pattern: re.Pattern[str]
    also: re.Pattern[str] | None
    names: re.Pattern[str] | None
    in_shell: bool
    """Looked for in what a shell runs, and in code that starts programs."""

    def found_in(self, text: str, name: str) -> str:
        """What of the text does it; empty where nothing does."""
        if not any(word in text for word in self.words):
            return ""
        if self.with_words and not any(word in text for word in self.with_words):
            return ""
        if self.names is not None and self.names.search(name) is None:
            return ""
        if self.in_shell and _only_says(text, name):
            return ""
        found = self.pattern.search(text)
        if found is None or (self.also is not None and self.also.search(text) is None):
            return ""
        return found[0].strip()


def harms_in(text: str, name: str) -> Iterator[tuple[Harm, str]]:
    """
    Each harm in a text that goes into a file of this name, and what of the text does it.

    In a document only what is HIGH.
    """
    text, is_read = text[:TEXT_LIMIT], is_prose(name)
    for harm in _harms():
        if is_read and harm.risk is not Risk.HIGH:
            continue
        if found := harm.found_in(text, name):
            yield harm, found


def is_prose(path: str) -> bool:
    """Whether a file of this name is read and not run: a document, or data for tests."""
    named = _patterns()
    is_data = named["data"].search(path) and not named["code"].search(path)
    return bool(is_data or named["prose"].search(path))


def _only_says(text: str, name: str) -> bool:
    """Code that starts no program, so that a line of shell in it is a text."""
    named = _patterns()
    return named["code"].search(name) is not None and named["starts"].search(text) is None


@cache
def _harms() -> tuple[Harm, ...]:
    return tuple(
        Harm(
            rule=entry["rule"],
            risk=Risk(entry["risk"]),
            explanation=entry["explanation"],
            words=tuple(entry["words"]),
            with_words=tuple(entry.get("with_words", ())),
            pattern=re.compile("|".join(map(_filled, entry["patterns"])), re.MULTILINE),
            also=re.compile(entry["also"], re.MULTILINE) if "also" in entry else None,
            names=re.compile(entry["names"], re.IGNORECASE) if "names" in entry else None,
            in_shell=entry.get("where") == "shell",
        )
        for entry in load_table("written")["harm"]
    )


def _filled(pattern: str) -> str:
    """With the parts that it names, which may name others."""
    parts = load_table("written")["part"]
    while (filled := _PART.sub(lambda match: str(parts[match[1]]), pattern)) != pattern:
        pattern = filled
    return pattern


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    table = load_table("written")
    names = {key: re.compile(table[key], re.IGNORECASE) for key in ("prose", "data", "code")}
    return {**names, "starts": re.compile(table["starts"])}
