"""
Whether a call touches the paths that a rule denies.

Anything that may be meant counts: a glob that may stand for such a path, a folder that is
written, copied or searched as a whole, one that is taken away with all that is in it.
"""

import posixpath
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from perpetualcc.permissions.effects import Effect, EffectKind
from perpetualcc.permissions.paths import contains
from perpetualcc.permissions.protected import fold
from perpetualcc.permissions.worktrees import root_of

_GLOB = re.compile(r"[*?\[]")
_CLASS = re.compile(r"\[[^\]/]+\]")
_TOUCHES = frozenset({EffectKind.READ, EffectKind.WRITE, EffectKind.DELETE})
_ACROSS = "\0"
"""Stands for `**/`: any folders."""
_LONGEST = 1_000
"""Characters; a longer path is compared as it is written."""


def touches(effect: Effect, pattern: str, project: str) -> bool:
    """
    Whether `effect` reads, writes or deletes what `pattern` (from `project`) stands for.

    However it is spelled: on the usual disk of a Mac `SECRETS` is the folder `secrets`.
    """
    if effect.kind not in _TOUCHES or effect.lists:
        return False
    return any(
        _meets(fold(path), fold(absolute), effect.kind, fold(root))
        for path in (effect.target, *effect.also)
        for root, absolute in starts(pattern, project, path)
    )


def starts(pattern: str, project: str, path: str) -> Iterator[tuple[str, str]]:
    """
    A relative pattern starts at the project, and at the worktree of it that `path` lies in. `**/`
    stands for no folder as well.
    """
    for root in {project, root_of(project, path)}:
        absolute = pattern if pattern.startswith("/") else f"{root}/{pattern}"
        yield root, absolute
        if "**/" in pattern:
            yield root, absolute.replace("**/", "")


def _meets(path: str, pattern: str, kind: EffectKind, root: str) -> bool:
    if not path.startswith("/"):
        return False
    if fnmatchcase(path, pattern) or contains(pattern, path):
        return True
    place = _fixed(pattern)
    if kind is EffectKind.DELETE and contains(path, place):
        return True
    if path == place and place != root and _GLOB.search(pattern) is not None:
        return True
    return _GLOB.search(path) is not None and _overlap(path, pattern)


def _fixed(pattern: str) -> str:
    """The folder in which all that a pattern stands for lies; without a glob the path itself."""
    match = _GLOB.search(pattern)
    return posixpath.dirname(pattern[: match.start()] + "x") if match else pattern


def _overlap(path: str, pattern: str) -> bool:
    """Whether some path fits both. A rule's `*` goes across folders, a shell's does not."""
    if len(path) > _LONGEST or len(pattern) > _LONGEST:
        return False
    mine = _tokens(path.replace("/**/", f"/{_ACROSS}"))
    theirs = _tokens(pattern)
    reached = {0}
    for sign in mine:
        reached = _closed(reached, theirs)
        if sign in {"*", _ACROSS}:
            reached |= _after_star(reached, theirs, crosses=sign == _ACROSS)
        else:
            reached = {
                at if theirs[at] == "*" else at + 1
                for at in reached
                if at < len(theirs) and _fits(sign, theirs[at])
            }
    return len(theirs) in _closed(reached, theirs)


def _tokens(glob: str) -> str:
    return re.sub(r"\*+", "*", _CLASS.sub("?", glob))


def _closed(reached: set[int], theirs: str) -> set[int]:
    """A star may stand for nothing."""
    found = set(reached)
    for at, sign in enumerate(theirs):
        if at in found and sign == "*":
            found.add(at + 1)
    return found


def _after_star(reached: set[int], theirs: str, *, crosses: bool) -> set[int]:
    found: set[int] = set()
    for start in reached:
        for at in range(start, len(theirs)):
            if theirs[at] == "/" and not crosses:
                break
            found.add(at + 1)
    return found


def _fits(mine: str, theirs: str) -> bool:
    return theirs in {"*", "?", mine} or (mine == "?" and theirs != "/")
