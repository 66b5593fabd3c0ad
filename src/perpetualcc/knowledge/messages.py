r"""
What a commit message says of the change, without what only tools and readers of history need.

Who signed it off, where it was reviewed, which commit it came from: names, addresses and hashes
are rare words in code, so BM25 takes them for the most telling ones of the message. Whole
messages of eight repositories (176) find .744 without them and .672 with them; docstrings and
questions hold none, and are as before.
"""

import re

_KEY = re.compile(
    r"[A-Z][A-Za-z]*(-[A-Za-z]+)+: *\S|\(cherry[ -]picked from\b"
    r"|(bug|closes|fixes|resolves|refs?|issue|ticket|link|see|cc|topic): *\S",
    re.IGNORECASE,
)
"""A line such as `git interpret-trailers` reads, or writes for a cherry-pick."""
_SIGNED = re.compile(
    r"\b[A-Z][A-Za-z]*(-[A-Za-z]+)*-[Bb]y: *([^<>\n]{0,60}<[^<>\s]+>|[^\n]*$)"
    r"|\b(Change-Id|PR-URL|Part-of): *\S+",
    re.MULTILINE,
)
"""The same where the lines of a message were joined to one."""
_NOISE = re.compile(
    r"\[(PATCH[^\]]*|ci skip|skip ci)\]"
    r"|^Merge (pull request|branch|remote-tracking branch|tag) \S.*$"
    r"|\w+://[^\s>)]+"
    r"|<?[\w.+-]+@[\w-]+(\.[\w-]+)+>?"
    r"|\bCVE-\d{4}-\d+"
    r"|(?<![\w&])(#|gh-|bpo-)\d+\b"
    # A hash: 40 digits, or fewer among which are both letters and numbers.
    r"|\b[0-9a-f]{40}\b|\b(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,39}\b",
    re.MULTILINE,
)
_KIND = re.compile(
    r"\A\s*(?:feat|feature|fix|chore|refactor|perf|style|revert)(?:\(([^)\n]*)\))?!?:(?=\s)"
)
"""Of Conventional Commits: what was done, in a word that code does not say."""


def without_trailers(text: str) -> str:
    """The message itself; the text as it is where nothing else would be left of it."""
    first, _, rest = text.strip().partition("\n")
    paragraphs = re.split(r"\n\s*\n", rest.strip())
    while paragraphs and _is_trailers(paragraphs[-1]):
        paragraphs.pop()
    told = "\n".join([first, *paragraphs]).strip()
    told = _NOISE.sub(" ", _SIGNED.sub(" ", told))
    told = _KIND.sub(r"\1 ", told)
    return told if re.search(r"\w", told) else text


def _is_trailers(paragraph: str) -> bool:
    """Whether each line is a trailer, or goes on with one by being indented."""
    lines = paragraph.split("\n")
    return all(_KEY.match(line) or not line.strip() or line[0] in " \t" for line in lines)
