"""
Puts a project's files back as they were in a snapshot.

What is overwritten or deleted is in a snapshot of its own by then, and git itself looks once more
that it is what the disk holds. What was ignored, then or now, is left alone.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from perpetualcc.domain.folders import alike
from perpetualcc.sessions.snapshots.changes import Change, changes
from perpetualcc.sessions.snapshots.repository import GitError, Patience, Repository, joined
from perpetualcc.sessions.snapshots.taking import Taken, files_of, left_out_of, take

_IGNORES = ".gitignore"
_TO_THE_END = Patience(seconds=86400.0)
"""Half of it put back helps nobody."""
_FILES = frozenset({"100644", "100755"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What putting back comes to."""

    now: Taken
    steps: tuple[Change, ...]
    """Added: it is there again; deleted: it was not there."""
    spared: tuple[str, ...] = ()
    """What is not in the snapshot and stays, as it was ignored then, or left out."""


def plan(repository: Repository, folder: Path, commit: str) -> Plan:
    """
    From the files as they are now to the snapshot; in `folder` is what `carry_out` goes by.

    Raises:
        GitError: git fails, or takes too long; or something is in the way that is in no snapshot.
    """
    now = take(repository, folder / "index", beside=commit)
    found = [one for one in changes(repository, now.tree, commit) if not one.is_submodule]
    gone = [one.name for one in found if one.kind == "deleted"]
    spared = _spared(repository, folder / "then", commit, gone) if gone else frozenset()
    steps = tuple(one for one in found if one.name not in spared)
    _refuse_in_the_way(repository.using(folder / "index"), now, steps)
    return Plan(now=now, steps=steps, spared=tuple(sorted(spared)))


def check_kept(repository: Repository, planned: Plan, kept: str) -> None:
    """Raises GitError where the commit `kept` does not hold the files that this was planned for."""
    if repository.git("rev-parse", f"{kept}^{{tree}}").decode().strip() != planned.now.tree:
        raise GitError("files have changed meanwhile")


def carry_out(repository: Repository, folder: Path, planned: Plan) -> None:
    """
    Write and delete. Again is harmless.

    Raises:
        GitError: a file is not what it was when it was planned, and nothing has been done; or the
            disk does not take it, and the same again does the rest.
    """
    private, other = folder / "index", folder / "other"
    shutil.copyfile(private, other)
    target = _tree(repository.using(other), planned.steps)
    words = ("read-tree", "-m", "-u", "--no-recurse-submodules", planned.now.tree, target)
    replace(repository.using(private), patience=_TO_THE_END.begun()).git(*words)


def _refuse_in_the_way(private: Repository, now: Taken, steps: Sequence[Change]) -> None:
    """
    Raises GitError. Git would remove what it ignores to make room, and of a pipe, of a repository
    or of what cannot be read it says only in the middle that it will not.
    """
    written = [one.name for one in steps if one.kind != "deleted"]
    # As on a disk that ignores case, where a file is known by another spelling.
    known = {alike(name) for name in private.names("ls-files", "-z")} if written else set()
    for name in written:
        for other in _in_its_place(private.top, name):
            if other in now.left_out or alike(other) not in known:
                raise GitError(
                    f"'{other}' is in the way, and no snapshot has it",
                    hint="Move it out of the project, and try again",
                )


def _in_its_place(top: Path, name: str) -> Iterator[str]:
    """What is there now where a file is to be, or a folder that it is to be in."""
    for parent in list(Path(name).parents)[-2::-1]:
        place = top / parent
        if not os.path.lexists(place):
            return
        if place.is_symlink() or not place.is_dir():
            yield str(parent)
            return
    place = top / name
    if place.is_symlink() or not place.is_dir():
        yield from [name] if os.path.lexists(place) else []
        return
    for folder, folders, files in os.walk(place):
        links = [one for one in folders if (Path(folder) / one).is_symlink()]
        yield from (str((Path(folder) / one).relative_to(top)) for one in [*files, *links])


def _tree(private: Repository, steps: Sequence[Change]) -> str:
    """The tree as it is, with these steps done: what is deleted first makes room."""
    in_order = sorted(steps, key=lambda one: one.kind != "deleted")
    told = [
        f"{'0' if one.kind == 'deleted' else one.mode} {one.identity}\t{one.name}"
        for one in in_order
    ]
    private.git("update-index", "-z", "--index-info", given=joined(told))
    return private.git("write-tree").decode().strip()


def _spared(
    repository: Repository, folder: Path, commit: str, names: Sequence[str]
) -> frozenset[str]:
    """What is not in the snapshot, and may have been there all the same."""
    left_out = left_out_of(repository, commit)
    folders = tuple(name for name in left_out if name.endswith("/"))
    there = {name for name in names if name in left_out or name.startswith(folders)}
    return _ignored(repository, folder, commit, names) | there


def _ignored(
    repository: Repository, folder: Path, commit: str, names: Sequence[str]
) -> frozenset[str]:
    """
    Which of these git would have ignored then: a rule that is gone since must not cost what it
    kept out of the snapshot (.env, node_modules).
    """
    for mode, identity, name in files_of(repository, commit):
        if name.rpartition("/")[2] == _IGNORES and mode in _FILES:
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(repository.git("cat-file", "blob", identity))
    folder.mkdir(exist_ok=True)
    own = os.fsdecode(repository.git("rev-parse", "--absolute-git-dir")[:-1])
    there = f"--git-dir={own}", f"--work-tree={folder}"
    then = Repository(top=folder, patience=repository.patience, variables=repository.variables)
    return then.ignored(names, *there)
