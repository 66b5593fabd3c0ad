"""All that was learned, over the memories of every project and the global one."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.private_files import make_private
from perpetualcc.domain.secrets import redact
from perpetualcc.learning import block, seal
from perpetualcc.learning.claim_reader import read_claim
from perpetualcc.learning.files import locked, read_json, write_whole
from perpetualcc.learning.memory_file import Memory, MemoryFile
from perpetualcc.learning.places import Places
from perpetualcc.learning.preferences import (
    Preference,
    Status,
    accept,
    contradicts,
    join,
    merge,
)

GLOBAL = ""
"""The name of no project: the global memory."""


class NoSuchPreference(PerpetualError):  # noqa: N818  # says what happened
    """No id begins so."""

    def __init__(self, identity: str) -> None:
        super().__init__(f"No preference begins with {identity!r}", hint="See `pcc learn list`")


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """A preference and the project it belongs to."""

    project: str
    preference: Preference


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
        """Merge a remark into what is known; the same event counts once. Raises OSError."""
        home = GLOBAL if preference.scope == "global" else project
        self._file(home).change(
            lambda memory: _with(memory, merge(memory.preferences, preference)), event=event
        )
        self._register(home)

    def all(self, project: str | None = None) -> list[Learned]:
        """Everything known, or what concerns one project: its own and the global."""
        homes = self._homes() if project is None else [project, GLOBAL]
        return [
            Learned(project=home, preference=one)
            for home in dict.fromkeys(homes)
            for one in self._file(home).load().preferences
        ]

    def find(self, identity: str, home: str | None = None) -> Learned:
        """
        By the beginning of its id: everywhere, or in one project, or in `GLOBAL`.

        Raises `NoSuchPreference`, `SeveralPreferences`.
        """
        known = self.all(home)
        found = [one for one in known if identity and one.preference.id.startswith(identity)]
        if home is not None:
            found = [one for one in found if one.project == home] or found
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
        """The rules for a project: a global one not where the project's own says the contrary."""
        rules = self.in_force(project)
        own = [one for one in rules if one.scope != "global"]
        return [
            one
            for one in rules
            if one.scope != "global" or not any(contradicts(one, other) for other in own)
        ]

    def accept(self, learned: Learned, *, rule: str = "") -> Preference:
        """Make it a rule, in new words when given; contrary rules of its scope yield."""
        worded = replace(learned.preference, rule=redact(rule or learned.preference.rule))
        if worded.rule != learned.preference.rule:
            worded = replace(worded, prefers=read_claim(worded.rule).first_wanted())
        accepted = seal.sealed(worded, learned.project, self._places)
        self._file(learned.project).change(
            lambda memory: _with(memory, accept(memory.preferences, accepted))
        )
        self.publish(learned.project)
        return accepted

    def reject(self, learned: Learned) -> None:
        """Keep it, so that repetition does not bring it back, but never tell it to a session."""
        refused = replace(learned.preference, status=Status.REJECTED, seal="")
        self._file(learned.project).change(
            lambda memory: _with(
                memory,
                tuple(refused if one.id == refused.id else one for one in memory.preferences),
            )
        )
        self.publish(learned.project)

    def forget(self, learned: Learned) -> None:
        """Remove it and its evidence."""
        identity = learned.preference.id
        file = self._file(learned.project)
        for _ in range(2):  # the first leaves it in the backup
            file.change(
                lambda memory: _with(
                    memory, tuple(one for one in memory.preferences if one.id != identity)
                )
            )
        self.publish(learned.project)

    def put(self, project: str, preference: Preference) -> bool:
        """
        Add one from an export, as a candidate: a file of somebody else is not consent.

        False when it was known. Doing it again changes nothing.
        """
        file = self._file(project)
        before = file.load().preferences
        after = file.change(
            lambda memory: _with(memory, join(memory.preferences, _imported(preference)))
        )
        self._register(project)
        return len(after.preferences) > len(before)

    def publish(self, project: str) -> None:
        """Renew the blocks that new sessions read. A global change renews every project's."""
        for home in self._homes() if project == GLOBAL else [project]:
            told = self.told(home)
            target = self._places.block(home)
            if told:
                write_whole(target, block.render(told))
            else:
                target.unlink(missing_ok=True)

    def make_private(self) -> None:
        """Close the memories that an older version, or a copy of a project, left open to others."""
        for home in self._homes():
            make_private(self._file(home).path.parent.glob("*memory.*"))

    def _file(self, project: str) -> MemoryFile:
        if project == GLOBAL:
            return MemoryFile(self._places.everywhere)
        path = self._places.memory(project)
        if _is_usable(path):
            return MemoryFile(path, is_in_project=True)
        return MemoryFile(self._places.stand_in(project))

    def _homes(self) -> Iterator[str]:
        yield GLOBAL
        known = read_json(self._places.registry) or {}
        yield from (str(one) for one in known.get("projects", []))

    def _register(self, project: str) -> None:
        if project == GLOBAL or project in set(self._homes()):
            return
        with locked(self._places.home / "registry.lock"):
            projects = [*self._homes(), project]
            write_whole(self._places.registry, _as_registry(projects))


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


def _with(memory: Memory, preferences: tuple[Preference, ...]) -> Memory:
    return Memory(preferences=preferences, events=memory.events)


def _is_usable(path: Path) -> bool:
    """Whether a project can hold its own memory: its directory exists, is ours, is no link away."""
    import os  # noqa: PLC0415  # one line uses it

    project = path.parent.parent
    if path.parent.is_symlink() or path.is_symlink():
        return False
    place = path.parent if path.parent.is_dir() else project
    return (
        place.is_dir()
        and os.access(place, os.W_OK)
        and (not path.exists() or os.access(path, os.W_OK))
    )
