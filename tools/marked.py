"""A part of a page that is written by a program, between two marks."""

import re


def replace_between(text: str, name: str, body: str) -> str:
    """
    Put `body` between `<!-- name: … -->` and `<!-- /name -->`.

    Raises:
        ValueError: the page has no such marks.
    """
    pattern = _pattern(name)
    if not pattern.search(text):
        raise ValueError(f"The page has no marks <!-- {name}: … --> and <!-- /{name} -->")
    return pattern.sub(lambda found: f"{found[1]}\n{body.strip()}\n{found[3]}", text)


def between(text: str, name: str) -> str:
    """What stands between the marks."""
    found = _pattern(name).search(text)
    if found is None:
        raise ValueError(f"The page has no marks <!-- {name}: … --> and <!-- /{name} -->")
    return found[2].strip()


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(<!-- {name}:[^\n]*-->)(.*?)(<!-- /{name} -->)", re.DOTALL)


def cell(text: str) -> str:
    """Text as it may stand in a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")
