"""What a message is about: by the things it names, the most specific first."""

import re
import tomllib
from functools import cache
from importlib.resources import files

from perpetualcc.learning.corrections import families
from perpetualcc.learning.corrections.judgement import Category


@cache
def _cues() -> dict[str, re.Pattern[str]]:
    source = files("perpetualcc.learning.corrections") / "categories.toml"
    table = tomllib.loads(source.read_text(encoding="utf-8"))
    return {name: re.compile("|".join(cues)) for name, cues in table.items()}


def category(*texts: str) -> Category:
    """Of the first text that names a tool or a topic."""
    for text in texts:
        named = families.category_of(text)
        if named:
            return Category(named)
        for name, cues in _cues().items():
            if cues.search(text):
                return Category(name)
    return Category.OTHER
