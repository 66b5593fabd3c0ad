"""The tables beside this module, read once."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def table(name: str) -> Mapping[str, Any]:
    """One of the tables, as it is written."""
    text = files("perpetualcc.brain.rules").joinpath(f"{name}.toml").read_text("utf-8")
    return tomllib.loads(text)


@cache
def word_set(name: str) -> frozenset[str]:
    """One of the lists of `words.toml`."""
    return frozenset(table("words")[name])
