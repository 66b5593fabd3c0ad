"""
What is written into a file counts beside where: a live key, a stranger's package, nothing; and code
that would do harm once the project's tests are run.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from perpetualcc.domain.foreign_files import read_regular
from perpetualcc.domain.secrets import holds_token
from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.characters import judge_content
from perpetualcc.permissions.effects import Finding
from perpetualcc.permissions.knowledge import load_table
from perpetualcc.permissions.written_code import TEXT_LIMIT, Harm, harms_in, is_prose

_MADE_UP = re.compile(r"test|spec|fixture|example|sample|mock|fake", re.IGNORECASE)
"""In a path: a key there is none that opens anything."""
_SHOWN = 60


_TRANSLATED = re.compile(
    r"/(?:i18n|l10n|lang|languages?|locales?|messages|translations?)/"
    r"|\.(?:arb|ftl|po|pot|properties|strings|xliff?)$",
    re.IGNORECASE,
)
"""In a path: characters of direction belong there."""


def judge_written(path: str, project: str, given: Mapping[str, Any]) -> Iterator[Finding]:
    """`path`: canonical. `given`: what a tool that writes files was given."""
    below = path.removeprefix(project)
    edits = given.get("edits")
    parts = [given, *(one for one in _list(edits) if isinstance(one, Mapping))]
    new = "\n".join(_texts(parts, "content", "new_string", "new_source"))
    yield from [] if _TRANSLATED.search(below) else judge_content(new)
    yield from _brought(below, new, "\n".join(_texts(parts, "old_string")))
    yield from judge_code(path, new, parts)
    if isinstance(whole := given.get("content"), str) and not whole.strip() and _has_more(path):
        yield _finding("empty", posixpath.basename(path), "Empties a file that holds something")


def judge_code(path: str, new: str, edits: Iterable[Mapping[str, Any]] = ()) -> Iterator[Finding]:
    """
    What the file would do when it is run, and does not do yet.

    Of a file that is edited all of it counts as it will be: harm may be written in two halves.
    """
    replaced = [one for one in edits if isinstance(one.get("old_string"), str)]
    before = _text_of(path) if replaced else None
    found = dict.fromkeys(harms_in(new, path))
    if before is not None:
        # Also at its end: what Claude Code finds to replace there need not be found here.
        found |= dict.fromkeys(harms_in(f"{_edited(before, replaced)}\n{new}", path))
    if len(new) > TEXT_LIMIT and not is_prose(path):
        why = "More code than is looked through"
        yield _finding("code-too-long", posixpath.basename(path), why)
    was = set(harms_in(before or _text_of(path) or "", path)) if found else set()
    yield from (_harm(harm, what, path) for harm, what in found if (harm, what) not in was)


def _harm(harm: Harm, what: str, path: str) -> Finding:
    """A document is not run, but it can be made into something that is."""
    risk = Risk.MEDIUM if is_prose(path) else harm.risk
    rule, shown = harm.rule, what[:_SHOWN]
    return Finding(risk=risk, rule=rule, part=shown, kind=rule, explanation=harm.explanation)


def _text_of(path: str) -> str | None:
    """What it holds now, as far as it is looked at; None where there is no such file."""
    try:
        return read_regular(Path(path), TEXT_LIMIT).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None


def _edited(text: str, edits: Iterable[Mapping[str, Any]]) -> str:
    """One after the other, as Claude Code makes them."""
    for edit in edits:
        old, new = edit["old_string"], edit.get("new_string")
        if old and isinstance(new, str):
            text = text.replace(old, new, -1 if edit.get("replace_all") is True else 1)
    return text


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _texts(parts: Iterable[Mapping[str, Any]], *names: str) -> Iterator[str]:
    found = (part.get(name) for part in parts for name in names)
    return (text for text in found if isinstance(text, str))


def _brought(path: str, new: str, old: str) -> Iterator[Finding]:
    """`old`: what stands there now, as far as the call says it."""
    if holds_token(new) and not holds_token(old) and not _MADE_UP.search(path):
        why = "The text holds what looks like a live token or key"
        yield _finding("writes-token", posixpath.basename(path), why)
    for found in _from_strangers(posixpath.basename(path).lower(), new):
        if found not in old:
            why = "An install takes a package from there, whose code runs here"
            yield _finding("foreign-package", found, why)


def _from_strangers(name: str, text: str) -> Iterator[str]:
    """What a list of packages takes from an address, or from another registry."""
    for entry in load_table("manifests")["manifest"]:
        if any(re.fullmatch(one, name) for one in entry["names"]):
            for match in re.finditer(entry["foreign"], text, re.MULTILINE):
                yield match[0].strip()


def _has_more(path: str) -> bool:
    try:
        return Path(path).stat().st_size > 0
    except (OSError, ValueError):
        return False


def _finding(rule: str, part: str, why: str) -> Finding:
    return Finding(risk=Risk.MEDIUM, rule=rule, part=part[:_SHOWN], kind=rule, explanation=why)
