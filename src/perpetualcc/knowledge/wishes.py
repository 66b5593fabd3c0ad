"""
What a query says of the files it wants: code, unless it speaks of tests or documents; and where.

A commit that fixes a test says "test"; a question about code may say so, too, and still means
the code. And commit messages begin with the part they change: `parser: …`, `fix(parser): …`.
"""

import re
from dataclasses import dataclass

_QUESTION = re.compile(
    r"\?\s*$|^\s*(where|how|what|which|who|when|why|is|are|does|do|can)\b", re.IGNORECASE
)
_TESTS = re.compile(
    # "Tests whether …" begins what a function says of itself.
    r"(?<![a-z])(?!\Atests? (?:if|whether|a|an|for)\b)(unit)?test(s|ed|ing)?(?![a-z])",
    re.IGNORECASE,
)
_DOCUMENTS = re.compile(
    r"(?<![a-z])"
    r"(docs?|documents?|documented|documentation|readme|manual|man ?pages?|changelog)(?![a-z])",
    re.IGNORECASE,
)
_SCOPE = re.compile(r"\s*(?:\w+\(([^)\n]{2,40})\)|([\w./*-]{2,40}(?:,? [\w./*-]{2,20})?))!?:\s")
_KINDS = frozenset(
    """
    build chore ci docs doc feat feature fix fixes perf refactor revert style upstream note warning
    deprecated returns example todo
    """.split()  # noqa: SIM905  # words read better as words
)
"""Of Conventional Commits, and others that name no part."""
_SHORTEST = 3
"""Letters of a part: fewer are in any path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """Which files are not to stand back, and which come first."""

    tests: bool = False
    documents: bool = False
    parts: tuple[str, ...] = ()
    """What the path is to hold, without punctuation: `fontchooser`."""

    def share_in(self, path: str) -> float:
        """How many of the parts a path holds, from 0 to 1."""
        if not self.parts:
            return 0.0
        plain = _plain(path)
        return sum(part in plain for part in self.parts) / len(self.parts)


def wishes(query: str) -> Wishes:
    """
    Read them from the query's words.

    Speaking of tests and documents: .60 to .61, .48 to .56 and .76 to .80 for commit messages of
    nine packages in C, Java, Python and PHP, of one repository and of fourteen libraries (317). The
    part named first: .63 to .69 for the nine, .54 to .65 for six others (81). Docstrings and
    questions are as before.
    """
    if _QUESTION.search(query):
        return Wishes()
    match = _SCOPE.match(query)
    scope = (match[1] or match[2]).lower() if match else ""
    named = [part for part in re.split(r"[\s,/]+", scope) if part not in _KINDS]
    return Wishes(
        tests=_TESTS.search(query) is not None or any("test" in part for part in named),
        documents=_DOCUMENTS.search(query) is not None,
        parts=tuple(part for part in map(_plain, named) if len(part) >= _SHORTEST),
    )


def _plain(text: str) -> str:
    """Letters and digits: `font-chooser` and `FontChooser` are one."""
    return "".join(filter(str.isalnum, text.lower()))
