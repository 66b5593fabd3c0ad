"""What is known about commands and places, as data. Each file says at its top how to extend it."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def load_table(name: str) -> dict[str, Any]:
    """The TOML file `name`, read once."""
    return tomllib.loads(files(__name__).joinpath(f"{name}.toml").read_text("utf-8"))


def command_tables() -> list[dict[str, Any]]:
    """Every file about commands."""
    folder = files(__name__).joinpath("commands")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".toml"))
    return [tomllib.loads(folder.joinpath(name).read_text("utf-8")) for name in names]
