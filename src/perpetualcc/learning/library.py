"""All that was learned, over the memories of every project and the global one."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.folders import main_tree, outward
from perpetualcc.domain.private_files import make_private, write_whole
from perpetualcc.domain.secrets import redact
from perpetualcc.learning import block, seal
from perpetualcc.learning.files import locked, read_json
from perpetualcc.learning.memory_file import Memory, MemoryFile
from perpetualcc.learning.places import Places
from perpetualcc.learning.preferences import (
    Preference,
    Status,
    accept,
    contradicts,
    is_same,
    join,
    merge,
    named_apart,
)

log = logging.getLogger(__name__)

GLOBAL = ""
"""The name of no project: the global memory."""

_Some = tuple[Preference, ...]
_Step = Callable[[_Some, _Some], tuple[_Some, _Some]]
"""What we wrote and what we did not; both after a change."""


class NoSuchPreference(PerpetualError):  # noqa: N818  # says what happened
    """No id begins so."""

    def __init__(self, identity: str) -> None:
        super().__init__(f"No preference begins with {identity!r}", hint="See `pcc learn list`")


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """A preference and the project it belongs to."""

    project: str
    preference: Preference
    is_ours: bool = True
    """We wrote it down. False: it came with the project's files, or from an import."""
    former: str = ""
    """Where we wrote it, if the project was at another path then: it was moved, or copied."""


class SeveralPreferences(PerpetualError):  # noqa: N818  # says what happened
    """The id begins several, or several projects have it."""

    def __init__(self, identity: str, found: list[Learned]) -> None:
        homes = list(dict.fromkeys(one.project or "every project" for one in found))
        if len(homes) > 1:
            hint = f"Add --project, or --global for the one of every project: {', '.join(homes)}"
        else:
            hint = f"Type more of it: {', '.join(one.preference.id for one in found)}"
        super().__init__(f"{len(found)} preferences begin with {identity!r}", hint=hint)


class Library:
    """Reads, changes and publishes preferences. Every change renews what sessions are told."""

    def __init__(self, places: Places) -> None:
        self._places = places

    def remember(self, project: str, preference: Preference, *, event: str) -> None:
        """
        Merge a remark into what is known; the same event counts once. Raises OSError.

        Only what a person here said counts together. A candidate that came with the project and
        asks for the same gives way to the person's own words.
        """
        home = GLOBAL if preference.scope == "global" else project

        def step(ours: _Some, foreign: _Some) -> tuple[_Some, _Some]:
            left = tuple(one for one in foreign if not _gives_way(one, preference))
            new = named_apart((*left, preference))[-1]
            return merge(ours, new), left

        self._change(home, step, event=event)
        self._register(home)

    def all(self, project: str | None = None, *, above: bool = False) -> list[Learned]:
        """Everything known, or one project's and the global; `above`: also that of its folders."""
        homes = self._homes() if project is None else [project, GLOBAL]
        if project and above:
            homes = self._homes_of(project)
        return [one for home in dict.fromkeys(homes) for one in self._known(home)]

    def pending(self, project: str | None = None, *, above: bool = False) -> list[Learned]:
        """
        Candidates that wait for review, surest first; of those that came along, no rule that a
        person here accepted already where it would hold.
        """
        everything = self.all(project, above=above)
        known = [one for one in everything if one.preference.status is Status.CANDIDATE]
        rules = {home: self._accepted(home) for home in {one.project for one in known}}
        waiting = [
            one
            for one in known
            if one.is_ours or not any(is_same(one.preference, rule) for rule in rules[one.project])
        ]
        return sorted(waiting, key=lambda one: (-one.preference.confidence, one.preference.id))

    def damaged(self, *projects: str) -> list[Path]:
        """Memories that nobody can read any more: the global one, of these projects, or of all."""
        homes = dict.fromkeys((GLOBAL, *(projects or self._homes())))
        places = self._places
        paths = (places.memory(home) if home else places.everywhere for home in homes)
        files = map(MemoryFile, paths)
        return [file.path for file in files if file.is_damaged]

    def _known(self, home: str) -> Iterator[Learned]:
        for one in self._file(home).load().preferences:
            if seal.is_ours(one, home, self._places):
                yield Learned(project=home, preference=one)
            else:  # whoever accepted it, it was nobody here
                status = Status.CANDIDATE if one.status is Status.ACCEPTED else one.status
                foreign = replace(one, status=status, seal="")
                former = self._former(one, home)
                yield Learned(project=home, preference=foreign, is_ours=False, former=former)

    def _former(self, preference: Preference, home: str) -> str:
        """The project that we know under whose path this was written, or empty."""
        others = (one for one in self._homes() if one not in {GLOBAL, home})
        return next((one for one in others if self._is_ours(preference, one)), "")

    def notice(self, project: str) -> None:
        """
        Know a project that was moved here, or one that it is in: what we wrote of it waits for
        review again.
        """
        known = set(self._homes())
        for place in map(str, outward(Path(project))):
            if place not in known and any(one.former for one in self._known(place)):
                self._register(place)
                self.publish(place)

    def _accepted(self, project: str) -> list[Preference]:
        """All that a person of this account accepted and that holds in a project."""
        homes = self._homes_of(project)
        known = (one for home in homes for one in self._known(home))
        return [one.preference for one in known if self.is_accepted(one)]

    def find(self, identity: str, home: str | None = None, *, to_review: bool = False) -> Learned:
        """
        By the beginning of its id: everywhere, or in one project, or in `GLOBAL`.

        The same rule has one id everywhere; `to_review`: where one of them waits, it is meant.

        Raises `NoSuchPreference`, `SeveralPreferences`.
        """
        known = self.all(home)
        found = [one for one in known if identity and one.preference.id.startswith(identity)]
        if home is not None:
            found = [one for one in found if one.project == home] or found
        if to_review:
            candidates = [one for one in found if one.preference.status is Status.CANDIDATE]
            found = candidates or found
        if not found:
            raise NoSuchPreference(identity)
        if len(found) > 1:
            raise SeveralPreferences(identity, found)
        return found[0]

    def is_accepted(self, learned: Learned) -> bool:
        """Whether a person of this account accepted it: the file's word is not enough."""
        return seal.is_accepted(learned.preference, learned.project, self._places)

    def in_force(self, project: str | None = None) -> list[Preference]:
        """What a person of this account accepted and nothing newer took the place of."""
        return [one.preference for one in self.all(project) if self.is_accepted(one)]

    def contrary_to(self, learned: Learned) -> list[Preference]:
        """The rules whose place it takes when it is accepted."""
        new = learned.preference
        rules = self.in_force(learned.project)
        return [one for one in rules if one.scope == new.scope and contradicts(one, new)]

    def told(self, project: str) -> list[Preference]:
        """The rules for a project: none to which a nearer one says the contrary, or the same."""
        told: list[Preference] = []
        for home in self._homes_of(project):
            rules = [one.preference for one in self._known(home) if self.is_accepted(one)]
            told += [one for one in rules if not any(_yields(one, other) for other in told)]
        return told

    def accept(self, learned: Learned, *, rule: str = "") -> Preference:
        """Make it a rule, in new words when given; contrary rules of its scope yield."""
        worded = replace(learned.preference, rule=redact(rule or learned.preference.rule))
        if worded.rule != learned.preference.rule:
            from perpetualcc.learning.claim_reader import read_claim  # noqa: PLC0415  # when edited

            worded = replace(worded, prefers=read_claim(worded.rule).first_wanted())

        def step(ours: _Some, foreign: _Some) -> tuple[_Some, _Some]:
            now = _now(learned, (*ours, *foreign))
            rule = replace(now, rule=worded.rule, prefers=worded.prefers, status=Status.ACCEPTED)
            return accept(_with(ours, rule), rule), _without(foreign, rule)

        self._change(learned.project, step)
        # The backup shall have it, too: a damaged memory takes nothing back that was accepted.
        self._change(learned.project, lambda ours, foreign: (ours, foreign))
        self.publish(learned.project)
        return replace(worded, status=Status.ACCEPTED)

    def reject(self, learned: Learned) -> None:
        """Keep it, so that repetition does not bring it back, but never tell it to a session."""

        def step(ours: _Some, foreign: _Some) -> tuple[_Some, _Some]:
            refused = replace(_now(learned, (*ours, *foreign)), status=Status.REJECTED)
            return _with(ours, refused), _without(foreign, refused)

        self._change(learned.project, step)
        self.publish(learned.project)

    def forget(self, learned: Learned) -> None:
        """Remove it and its evidence."""
        for _ in range(2):  # the first leaves it in the backup
            self._change(
                learned.project,
                lambda ours, foreign: (
                    _without(ours, learned.preference), _without(foreign, learned.preference),
                ),
            )  # fmt: skip
        self.publish(learned.project)

    def put(self, project: str, preference: Preference) -> bool:
        """
        Add one from an export, as a candidate: a file of somebody else is not consent.

        False when it was known. Doing it again changes nothing.
        """
        new = False

        def step(ours: _Some, foreign: _Some) -> tuple[_Some, _Some]:
            nonlocal new
            joined = join((*ours, *foreign), _imported(preference))
            new = len(joined) > len(ours) + len(foreign)
            return joined[: len(ours)], joined[len(ours) :]

        self._change(project, step)
        self._register(project)
        return new

    def publish(self, project: str) -> None:
        """
        Renew the blocks that new sessions read: those of the projects in this one, too.

        A project that is away, on a disk that is not mounted, keeps what it has.
        """
        with locked(self._places.home / "blocks.lock"):  # who reads first must not write last
            for home in [project, *filter(partial(_is_within, project), self._homes())]:
                if home == project or Path(home).is_dir():
                    self._publish(home)

    def _publish(self, home: str) -> None:
        target = self._places.block(home)
        moved = sum(bool(one.former) for one in self.pending(home))
        if text := block.render(self.told(home), moved=moved):
            write_whole(target, text)
        else:
            target.unlink(missing_ok=True)

    def make_private(self) -> None:
        """Close the memories that an older version, or a copy of a project, left open to others."""
        for home in self._homes():
            make_private(self._file(home).path.parent.glob("*memory.*"))

    def _change(self, home: str, step: _Step, *, event: str = "") -> None:
        """Apply a step to what we wrote and what we did not, and seal the former."""

        def change(memory: Memory) -> Memory:
            ours = tuple(one for one in memory.preferences if self._is_ours(one, home))
            foreign = tuple(one for one in memory.preferences if one not in ours)
            ours, foreign = step(ours, foreign)
            written = (seal.sealed(one, home, self._places) for one in ours)
            return Memory(preferences=(*foreign, *written), events=memory.events)

        file = self._file(home)
        try:
            file.change(change, event=event)
        except OSError as error:
            # A full disk, one that knows no links: the project cannot keep it, we can.
            if home == GLOBAL or file.path == self._places.stand_in(home):
                raise
            log.warning("%s cannot be written (%s), its stand-in is", file.path, error.strerror)
            MemoryFile(self._places.stand_in(home), first=file).change(change, event=event)

    def _is_ours(self, preference: Preference, home: str) -> bool:
        return seal.is_ours(preference, home, self._places)

    def _file(self, project: str) -> MemoryFile:
        """Where a project's memory is. What was kept in its stand-in moves into it when it can."""
        if project == GLOBAL:
            return MemoryFile(self._places.everywhere)
        own = MemoryFile(self._places.memory(project), is_in_project=True)
        stand_in = MemoryFile(self._places.stand_in(project), first=own if own.is_ours else None)
        if not (own.is_ours and own.can_be_written):
            return stand_in
        if stand_in.path.exists():
            try:
                own.take_over(stand_in)
            except OSError:
                return stand_in
        return own

    def _homes(self) -> Iterator[str]:
        yield GLOBAL
        known = read_json(self._places.registry) or {}
        yield from (str(one) for one in known.get("projects", []))

    def _homes_of(self, project: str) -> list[str]:
        """Whose rules hold in a project, the nearest first: those of the folders it is in, too."""
        known = set(self._homes())
        place = Path(project)
        # A worktree is the same repository, whatever an older version learned there.
        folders = (*outward(place), *outward(main_tree(place))) if project else ()
        above = (one for one in map(str, folders) if one in known)
        return list(dict.fromkeys((project, *above, GLOBAL)))

    def _register(self, project: str) -> None:
        if project == GLOBAL or project in set(self._homes()):
            return
        with locked(self._places.home / "registry.lock"):
            projects = [*self._homes(), project]
            write_whole(self._places.registry, _as_registry(projects))


def _is_within(project: str, home: str) -> bool:
    """Whether another project is a folder or a worktree of it."""
    places = (home, f"{main_tree(Path(home))}/")
    return home != project and any(one.startswith(f"{project}/") for one in places)


def _as_registry(projects: list[str]) -> str:
    import json  # noqa: PLC0415  # two lines use it

    known = sorted({one for one in projects if one})
    # Paths may hold bytes that are not UTF-8; escaped, they survive.
    return json.dumps({"version": 1, "projects": known}, indent=2) + "\n"


def _imported(preference: Preference) -> Preference:
    evidence = tuple(replace(one, said=redact(one.said)) for one in preference.evidence)
    return replace(
        preference,
        rule=redact(preference.rule),
        status=Status.CANDIDATE,
        seal="",
        evidence=evidence,
    )


def _now(learned: Learned, known: _Some) -> Preference:
    """
    What became of it since a person looked: it may have been said again. Of other words by now, it
    is what the person saw. Raises `NoSuchPreference`: it was forgotten.
    """
    seen = learned.preference
    now = next((one for one in known if one.id == seen.id), None)
    if now is None:
        raise NoSuchPreference(seen.id)
    return now if now.rule == seen.rule else seen


def _with(some: _Some, one: Preference) -> _Some:
    """In the place of its former self, or as the last."""
    if all(other.id != one.id for other in some):
        return (*some, one)
    return tuple(one if other.id == one.id else other for other in some)


def _without(some: _Some, one: Preference) -> _Some:
    return tuple(other for other in some if other.id != one.id)


def _yields(far: Preference, near: Preference) -> bool:
    return contradicts(far, near) or is_same(far, near)


def _gives_way(foreign: Preference, said: Preference) -> bool:
    return (
        foreign.status is Status.CANDIDATE
        and foreign.scope == said.scope
        and is_same(foreign, said)
    )
