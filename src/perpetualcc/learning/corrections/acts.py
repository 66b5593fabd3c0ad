"""
What either side does with its words, told by phrases: the assistant with its last ones, the user
with a message.

A "no" after an offer is an answer, after a report mostly the news of a failure, after an intention
a correction. The phrases are in `acts.toml` and `moves.toml`.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from perpetualcc.learning.corrections.text import fold

LAST = 240
"""Characters of the assistant's words that are looked at: how it hands over to the user."""
_ASKED = ("?", "？", "؟")
_CODE = re.compile(r"[{}=<>$`]|\w\(|^\s*[\w./-]+\s+-{1,2}\w", re.MULTILINE)
_TOOLS = ("⎿", "Update(", "Write(", "Edit(", "Bash")


def acts(said: str) -> frozenset[str]:
    """What the assistant does: as in `acts.toml`, asks, asked, shows; or states, or is silent."""
    last = said[-LAST:].strip(" *_`\n")
    if not last:
        return frozenset({"silent"})
    found = _found("acts", last)
    if last.endswith(_ASKED):
        found.add("asks")
    elif any(sign in last for sign in _ASKED):
        found.add("asked")
    if _CODE.search(last) or any(one in last for one in _TOOLS):
        found.add("shows")
    return frozenset(found or {"states"})


def moves(text: str) -> frozenset[str]:
    """What the user does: fails, owns, changes their mind, wonders, briefs; see `moves.toml`."""
    return frozenset(_found("moves", text))


def _found(table: str, text: str) -> set[str]:
    folded = fold(text, accents=False)
    return {name for name, phrases in _phrases(table).items() if phrases.search(folded)}


@cache
def _phrases(table: str) -> Mapping[str, re.Pattern[str]]:
    source = files("perpetualcc.learning.corrections") / f"{table}.toml"
    tables = tomllib.loads(source.read_text(encoding="utf-8"))
    return {name: re.compile(_pattern(text)) for name, text in tables.items()}


def _pattern(text: str) -> str:
    """Phrases stand alone where words are spaced; nobody has to type an apostrophe."""
    entries = [fold(one, accents=False) for line in text.splitlines() for one in line.split("|")]
    spaced = [
        re.escape(one).replace(r"\*", r"\w*").replace("'", "'?")
        for one in entries
        if one < "\u2e80"
    ]
    runs = [re.escape(one) for one in entries if one >= "\u2e80"]
    return rf"(?<!\w)(?:{'|'.join(spaced)})(?!\w)|{'|'.join(runs)}"
