"""
Places that are guarded wherever they are: credentials, login files, our own guard-rails.

The list is `knowledge/protected.toml`. Matching is by path components and ignores case, so
that `.ENV` on a case-insensitive disk is what it is, and so is `/private/etc` of macOS.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase, translate
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.knowledge import load_table
from perpetualcc.permissions.shell.script import UNKNOWN

_GLOB = re.compile(r"[*?\[]")
_REMEMBERED = 4096
"""Components of paths that are not looked up again: the most are folders of the project."""
RAW_DEVICES = "raw-devices"
"""Disks and what is typed: what they hold is guarded, and not that they are there."""
_NAMED_ONLY = "secret-file"
_TRANSLATIONS = frozenset(
    {"i18n", "l10n", "lang", "langs", "locale", "locales", "nls", "translation", "translations"}
)
"""Folders in which `auth.json` and `password.json` say how these words are in other languages."""
_TRANSLATED = re.compile(r"[\w-]+\.(?:json5?|ya?ml|php|po|properties|ftl|arb|strings|toml)")
_FOR_TESTS = frozenset({"__fixtures__", "fixtures", "test-data", "test_data", "testdata"})
"""Folders whose keys open nothing."""
_OF_FILES = frozenset({"key-store", "secret-file", "package-credentials"})
"""Places that are known by the names of their files."""
_SOURCE = re.compile(
    r"\.(?:py|pyi|js|jsx|ts|tsx|mjs|cjs|go|rs|java|kt|rb|php|c|h|cc|cpp|hpp|cs|swift|scala|ex|exs|md"
    r"|rst|html|css|scss|vue|svelte|sql|proto|graphql)$"
)
"""`src/credentials/parser.py` and `private_key_parser.go` are code about them, and hold none."""


_CODE_FOLDERS = frozenset(
    {"app", "apps", "cmd", "components", "internal", "lib", "libs", "modules", "packages", "pkg",
     "spec", "src", "test", "tests"}
)  # fmt: skip


class Guard(StrEnum):
    """Why a place is guarded."""

    CREDENTIAL = "credential"
    """Reading it gives away a secret; writing it replaces one."""
    PERSISTENCE = "persistence"
    """What is written there runs later, by itself."""
    GUARDRAIL = "guardrail"
    """It decides what the agent may do."""
    SYSTEM = "system"
    """It belongs to the machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One rule about guarded places."""

    name: str
    guard: Guard
    read: Risk
    write: Risk
    explanation: str
    for_a_brain: bool = False
    """A brain may let it be written, as elsewhere in the project."""


@dataclass(frozen=True, slots=True, eq=False)
class _Pattern:
    parts: tuple[str, ...]
    anchored: bool
    place: Place
    order: tuple[bool, int]
    """What begins with a plain name goes first; then as in the table."""


_HOMES = (("root",), ("home", "*"), ("users", "*"))
"""Where others have theirs: what is guarded in one is in each."""


class ProtectedPlaces:
    """All patterns, indexed by the plain component that the fewest others have."""

    def __init__(self, *, home: str, credentials: Sequence[str], exceptions: Sequence[str]) -> None:
        self._keyed: dict[str, list[tuple[int, _Pattern]]] = {}
        self._wild: list[_Pattern] = []
        self._in_folders: dict[str, list[_Pattern]] = {}
        self._at_home: set[str] = set()
        """Folders of the home that hold credentials, beside whatever else."""
        self._home = tuple(fold(home).strip("/").split("/"))
        self._spoken_for = lru_cache(maxsize=_REMEMBERED)(self._looked_up)
        table = load_table("protected")
        self._exceptions = re.compile(
            "|".join(f"(?:{translate(fold(e))})" for e in (*table["exceptions"], *exceptions))
        )
        places = [(entry["patterns"], _place(entry)) for entry in table["place"]]
        own = Place(
            name="configured-credential", guard=Guard.CREDENTIAL, read=Risk.HIGH, write=Risk.HIGH,
            explanation="The settings name this place as a credential",
        )  # fmt: skip
        every = [(text, place) for texts, place in [*places, (credentials, own)] for text in texts]
        for number, (text, place) in enumerate(every):
            for owner in {self._home, *_HOMES} if text.startswith("~") else (self._home,):
                self._add(number, text, place, owner)
        self._wild_names = re.compile(
            "|".join(translate(p.parts[0]) for p in self._wild) or r"(?!)"
        )

    def _add(self, number: int, text: str, place: Place, owner: tuple[str, ...]) -> None:
        parts = tuple(fold(text).strip("/").split("/"))
        anchored = text.startswith(("/", "~"))
        if parts[0] == "~":
            parts = owner + parts[1:]
        plain = [at for at, part in enumerate(parts) if _GLOB.search(part) is None]
        pattern = _Pattern(parts, anchored, place, order=(0 not in plain, number))
        if len(parts) > 1 and place.guard is Guard.CREDENTIAL:
            self._in_folders.setdefault(parts[-2], []).append(pattern)
            whole = parts if anchored else self._home + parts
            if place.read is Risk.HIGH and whole[: len(self._home)] == self._home:
                above = range(len(self._home) + 1, len(whole))
                self._at_home.update("/" + "/".join(whole[:end]) for end in above)
        if plain:
            at = min(plain, key=lambda at: self._commonness(parts[at]))
            self._keyed.setdefault(parts[at], []).append((at, pattern))
        else:
            self._wild.append(pattern)

    def _commonness(self, part: str) -> tuple[bool, int]:
        """How little a component tells: the home's are in all that is below it."""
        return part in self._home, len(self._keyed.get(part, ()))

    def find(self, path: str, *, skip: int = 0) -> Place | None:
        """
        The strictest rule about an absolute path, which may have globs and unknown parts.

        The first `skip` components are the project's own, and no reason to guard what is in it;
        but an agent's settings are these whatever project they are.
        """
        parts = fold(path).strip("/").split("/")
        is_exception = self._is_exception(parts[-1])
        found: Place | None = None
        for start, pattern in self._candidates(parts):
            end = start + len(pattern.parts)
            if end <= skip and (not _is_an_agents(pattern.place) or parts[end] == "worktrees"):
                continue
            if is_exception and pattern.parts[-1] != parts[-1]:
                continue
            if _is_code_about_it(pattern, parts, skip, start) or _is_translation(
                pattern, parts, skip
            ):
                continue
            if (found is None or _strictness(pattern.place) > _strictness(found)) and _matches(
                pattern.parts, parts, start
            ):
                found = pattern.place
        return found if found is None else _in_tests(found, parts, skip)

    def are_among(self, path: str) -> bool:
        """Whether the glob at the end of `path` may stand for a credential: `~/.docker/*.json`."""
        *folders, glob = fold(path).split("/")
        return any(
            tuple(folders[1 - len(pattern.parts) :]) == pattern.parts[:-1]
            and fnmatchcase(name := pattern.parts[-1], glob)
            and not (name[0] == "." and glob[0] != ".")
            for pattern in self._in_folders.get(folders[-1], ())
        )

    def are_below(self, path: str) -> bool:
        """Whether credentials lie below this folder of the home: `~/.docker`, `~/.claude`."""
        return fold(path) in self._at_home

    def _is_exception(self, name: str) -> bool:
        return self._exceptions.match(name) is not None

    def _candidates(self, parts: Sequence[str]) -> list[tuple[int, _Pattern]]:
        """The patterns that a component speaks for, and where they would begin; in that order."""
        found = [
            (position - at, pattern)
            for position, part in enumerate(parts)
            for at, pattern in self._spoken_for(part)
            if position == at or (position > at and not pattern.anchored)
        ]
        found.sort(key=lambda one: (one[0], one[1].order))
        return found

    def _looked_up(self, part: str) -> tuple[tuple[int, _Pattern], ...]:
        """The patterns that have this component, with its place in them."""
        found = [*self._keyed.get(part, ())]
        if self._wild_names.fullmatch(part):
            found += [(0, one) for one in self._wild if fnmatchcase(part, one.parts[0])]
        if _is_open(part):
            for name, patterns in self._keyed.items():
                if _may_be(part, name):
                    found += patterns
        return tuple(found)


def _is_an_agents(place: Place) -> bool:
    return place.guard is Guard.GUARDRAIL and place.write is Risk.HIGH


def is_source(path: str) -> bool:
    """Whether it is called as code and documentation are, which hold no credentials."""
    return _SOURCE.search(path) is not None


def credentials_in(project: Path) -> Callable[[str], bool]:
    """Whether a file, named relative to the project, is one whose contents are secret."""
    root = str(project)
    own = len(fold(root).strip("/").split("/"))

    def is_secret(path: str) -> bool:
        if is_source(path):  # the most files there are, and never one of these
            return False
        name = path.rpartition("/")[2]  # a file of that name is no folder of code
        place = _usual_places().find(f"{root}/{path}", skip=own) or _usual_places().find(
            f"{root}/{name}", skip=own
        )
        return place is not None and place.guard is Guard.CREDENTIAL and place.read is not Risk.LOW

    return is_secret


@cache
def _usual_places() -> ProtectedPlaces:
    return ProtectedPlaces(home=str(Path.home()), credentials=(), exceptions=())


def _is_code_about_it(pattern: _Pattern, parts: Sequence[str], skip: int, start: int) -> bool:
    """By the file's name; or a folder of that name where code is kept: `src/credentials`."""
    if pattern.place.name != _NAMED_ONLY:
        return False
    if _SOURCE.search(parts[-1]) is not None:
        return True
    is_folder = "." not in parts[-1].replace("...", "") and "." not in pattern.parts[-1]
    return bool(skip) and is_folder and not _CODE_FOLDERS.isdisjoint(parts[skip:start])


def _is_translation(pattern: _Pattern, parts: Sequence[str], skip: int) -> bool:
    """`locales/en/auth.json`."""
    return (
        bool(skip)
        and len(pattern.parts) == 1
        and pattern.place.name in _OF_FILES
        and not _TRANSLATIONS.isdisjoint(parts[skip:-1])
        and _TRANSLATED.fullmatch(parts[-1]) is not None
    )


def _in_tests(place: Place, parts: Sequence[str], skip: int) -> Place:
    """`tests/fixtures/key.pem`: a step less than the key of a server."""
    is_for_tests = skip and place.name in _OF_FILES and not _FOR_TESTS.isdisjoint(parts[skip:-1])
    if not is_for_tests or place.read is not Risk.HIGH:
        return place
    return replace(place, read=Risk.MEDIUM, write=Risk.MEDIUM)


def _place(entry: dict[str, Any]) -> Place:
    return Place(
        name=entry["name"],
        guard=Guard(entry["guard"]),
        read=Risk(entry["read"]),
        write=Risk(entry["write"]),
        explanation=entry["explanation"],
        for_a_brain=entry.get("for_a_brain", False),
    )


def _strictness(place: Place) -> tuple[int, int]:
    return place.read.rank, place.write.rank


def _matches(pattern: Sequence[str], parts: Sequence[str], start: int) -> bool:
    """Whether the components from `start` on are those of the pattern, or may be."""
    if len(parts) - start < len(pattern):
        return False
    return all(
        part == name or fnmatchcase(part, name) or (_is_open(part) and _may_be(part, name))
        for name, part in zip(pattern, parts[start:], strict=False)
    )


def _is_open(part: str) -> bool:
    """A glob that is more than `*`: it could be meant for one name. `*` alone skips dot files."""
    return _GLOB.search(part) is not None and part not in {"*", "**"}


def _may_be(part: str, name: str) -> bool:
    if name.startswith(".") and not part.startswith((".", "[")):
        return False
    if part.startswith("*") and ("." in part or "_" not in name):
        return False  # `*.json` means data, not one file; patterns say what they mean themselves
    return fnmatchcase(name, part)


_ALIASES = re.compile(
    r"(?:/\.nofollow(?=/)|/\.resolve/[^/]+(?=/)|/system/volumes/data(?=/|\Z)"
    r"|/proc/[^/]+/(?:task/[^/]+/)?root(?=/|\Z)|/volumes/[^/]+(?=/(?:users|private|library|system|etc|var|tmp)(?:/|\Z)))*"
    r"(?:/private(?=/(?:etc|tmp|var)(?:/|\Z)))?"
)
"""
Other ways to the same place: on macOS firmlinks, prefixes of its own, the name of the disk and what
`/etc` leads to; on Linux the root of a process.
"""
_ALIASED = ("/p", "/s", "/v", "/.")
_IGNORABLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u00ad]")


def fold(path: str) -> str:
    """One spelling for paths that a file system may take as the same."""
    if path.isascii():
        folded = path.lower()
    else:
        kept = _IGNORABLE.sub("", path)
        folded = unicodedata.normalize("NFKC", kept).casefold().replace(UNKNOWN.casefold(), "*")
    if not folded.startswith(_ALIASED):
        return folded
    alias = _ALIASES.match(folded)
    return (folded[alias.end() :] or "/") if alias else folded
