"""Which part of the file a heading opens, in the languages people write requirements in."""

import re
import tomllib
import unicodedata
from functools import cache
from importlib.resources import files

from perpetualcc.domain.requirements import StatementKind

_TITLE = re.compile(
    r"^(?:project|projekt|proyecto|projet|projeto|progetto|проект|プロジェクト|项目|프로젝트)"
    r"(?:\s*name)?\s*[:：=–—-]\s*(?P<name>.+)$",
    re.IGNORECASE,
)
# Headings of more words than this are sentences that happen to hold one of the names.
_MAX_WORDS = 4


def plain(text: str) -> str:
    """Case, accents and width folded away, so that `Präferenzen` is `praferenzen`."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return "".join(char for char in folded if not unicodedata.combining(char))


def kind_of_heading(heading: str) -> StatementKind | None:
    """The part that a heading opens; None for a heading of another name."""
    words = re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", plain(heading))
    if not words or len(words) > _MAX_WORDS:
        return None
    known = {*words, *(part for word in words for part in word.split("-")), "".join(words)}
    return next((kind for kind, names in _names().items() if known & names), None)


def project_name(heading: str) -> str:
    """`Project: Name` → `Name`; any other title as it is."""
    found = _TITLE.match(heading.strip())
    return (found["name"] if found else heading).strip()


def names_project(line: str) -> bool:
    """Whether a line says what the project is called."""
    return _TITLE.match(line.strip()) is not None


@cache
def _names() -> dict[StatementKind, frozenset[str]]:
    text = files("perpetualcc.requirements").joinpath("headings.toml").read_text("utf-8")
    return {
        StatementKind(kind): frozenset(plain(name) for name in names)
        for kind, names in tomllib.loads(text).items()
    }
