"""Takes a snapshot: what is tracked as it is on the disk, and what is new and not ignored."""

import json
import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from perpetualcc.sessions.snapshots.repository import GitError, Repository, joined

_LEFT_OUT = "left-out: "
LARGEST = 10_000_000
"""Bytes of a new file: what is larger is data, and not what somebody wrote."""

_CLOSED = "it cannot be read"
_TRIES = 3
"""A file that becomes a folder between the look and the reading is no reason to have nothing."""
_UNREADABLE = re.compile(rb"^warning: could not open directory '(.*)': ", re.MULTILINE)
"""Of what git says in English, and not by its exit code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """The files of a moment, as a tree of git's."""

    tree: str
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Why, by name; one that ends with `/` is a folder with all that is in it."""

    @property
    def untold(self) -> tuple[str, ...]:
        """`NAME: why`."""
        return tuple(f"{name}: {why}" for name, why in sorted(self.left_out.items()))


def take(repository: Repository, index: Path, *, beside: str = "") -> Taken:
    """
    Write the files into git's objects, and leave in the file `index` what they were read as.

    Tracked files are taken whatever their size; new ones up to `LARGEST` that git does not ignore;
    and whatever is there of what the commit `beside` holds. Submodules and other repositories
    inside are not looked into.

    Raises:
        GitError: git fails, or takes too long.
    """
    for left in reversed(range(_TRIES)):
        try:
            _copy_index(Path(repository.absolute("index")), index)
            return _taken(repository.using(index), beside)
        except GitError:
            if not left or repository.patience.is_over:
                raise
    raise AssertionError


def _copy_index(own: Path, index: Path) -> None:
    index.unlink(missing_ok=True)
    if own.is_file():
        shutil.copyfile(own, index)
        shutil.copystat(own, index)  # files as new as the index are looked at again, others not
    elif own.exists():
        raise GitError(f"'{own}' is no file")


def _taken(private: Repository, beside: str) -> Taken:
    _look_at_all(private)
    gone, changed = _changed(private)
    found, left_out = _new(private)
    if beside:
        found |= _known(private, beside)
        left_out = {name: why for name, why in left_out.items() if name not in found}
    readable = {name for name in changed | found if _is_readable(private.top / name)}
    left_out |= dict.fromkeys((changed | found) - readable, _CLOSED)
    if gone:
        private.git("update-index", "--force-remove", "-z", "--stdin", given=joined(gone))
    words = ("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
    private.git(*words, given=joined(sorted(readable)))
    tree = private.git("write-tree").decode().strip()
    return Taken(tree=tree, left_out=left_out)


def _look_at_all(private: Repository) -> None:
    """
    Also at what git is told not to look at: what is marked by hand, and what is on the disk outside
    of a sparse checkout. What is not on the disk there stays as the index has it.
    """
    told = [(one[0], one[2:]) for one in private.names("ls-files", "-v", "-z", *private.here)]
    sparse = [name for mark, name in told if mark in "sS" and os.path.lexists(private.top / name)]
    for word, names in (
        ("--no-skip-worktree", sparse),
        ("--no-assume-unchanged", [name for mark, name in told if mark.islower()]),
    ):
        if names:
            private.git("update-index", word, "-z", "--stdin", given=joined(names))


def _changed(private: Repository) -> tuple[set[str], set[str]]:
    """Tracked files that are gone, and those that may have changed."""
    words = ("diff-files", "--name-status", "-z", "--no-renames", "--ignore-submodules=all")
    told = list(private.names(*words, *private.here))
    pairs = list(zip(told[::2], told[1::2], strict=True))
    names = {name for _, name in pairs}
    gone = {name for state, name in pairs if state == "D"}
    # Of what is not merged it says nothing of the disk.
    gone |= {name for name in names - gone if not _is_file(private.top, name)}
    return gone, names - gone


def _new(private: Repository) -> tuple[set[str], dict[str, str]]:
    done = private.done("ls-files", "--others", "--exclude-standard", "-z", *private.here)
    found: set[str] = set()
    left_out = {os.fsdecode(name): _CLOSED for name in _UNREADABLE.findall(done.stderr)}
    for name in (os.fsdecode(one) for one in done.stdout.split(b"\0") if one):
        if why := _why_not(private.top / name, name):
            left_out[name] = why
        else:
            found.add(name)
    return found, left_out


def _why_not(path: Path, name: str) -> str:
    if name.endswith("/"):
        return "a repository of its own"
    try:
        size = path.lstat().st_size
    except OSError:
        return ""  # gone meanwhile
    return f"larger than {LARGEST // 1_000_000} MB" if size > LARGEST else ""


def _known(private: Repository, commit: str) -> set[str]:
    """What a snapshot holds and is on the disk, though ignored or larger by now."""
    listed = private.names("ls-tree", "-r", "-z", "--name-only", commit, *private.here)
    tracked = set(private.names("ls-files", "-z", *private.here))
    return {name for name in listed if name not in tracked and _is_file(private.top, name)}


def _is_file(top: Path, name: str) -> bool:
    """A file or a link, below folders that are no links themselves."""
    try:
        mode = (top / name).lstat().st_mode
    except OSError:
        return False
    parents = Path(name).parents
    is_plain = stat.S_ISREG(mode) or stat.S_ISLNK(mode)
    return is_plain and not any((top / one).is_symlink() for one in parents if one.name)


def _is_readable(path: Path) -> bool:
    try:
        is_link = path.is_symlink()
        return is_link or not path.exists() or os.access(path, os.R_OK)
    except OSError:
        return False


def commit(repository: Repository, taken: Taken, head: str, message: str) -> str:
    """
    The commit's id. It is in the repository, and nothing leads to it yet.

    It says itself what was left out: that must never be taken for what was not there.
    """
    parents = ("-p", head) if head else ()
    told = f"{message}\n\n{_LEFT_OUT}{json.dumps(sorted(taken.left_out))}\n"
    words = ("commit-tree", taken.tree, *parents, "-F", "-")
    return repository.git(*words, given=told.encode()).decode().strip()


def left_out_of(repository: Repository, commit: str) -> frozenset[str]:
    """What a snapshot was made without."""
    body = repository.git("cat-file", "commit", commit).decode("utf-8", "replace")
    line = next((one for one in body.split("\n") if one.startswith(_LEFT_OUT)), "")
    return frozenset(json.loads(line.removeprefix(_LEFT_OUT) or "[]"))


def keep(repository: Repository, ref: str, commit: str) -> None:
    """Let the ref lead to it: git removes nothing of it from now on. Twice is once."""
    repository.git("update-ref", "-m", "pcc", ref, commit)


def forget(repository: Repository, ref: str, commit: str) -> None:
    """Remove the ref, where it still leads to that commit."""
    if repository.asked("show-ref", "--verify", "--hash", ref).stdout.strip() == commit.encode():
        repository.git("update-ref", "-d", ref, commit)


def files_of(repository: Repository, commit: str) -> Iterator[tuple[str, str, str]]:
    """Mode, object and name of each file in a commit."""
    for line in repository.names("ls-tree", "-r", "-z", commit):
        facts, _, name = line.partition("\t")
        mode, _, identity = facts.split(" ")
        yield mode, identity, name
