"""
Where a path leads, decided by its components and by the symlinks that are on disk.

Never by prefixes of text (`/proj-evil` is not in `/proj`), and never by what is written alone:
when the project is on this disk, both the path as written and the path it resolves to count. So
do the links that the same line makes: `..` behind a link is above what the link leads to.
"""

import os
import posixpath
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache

from perpetualcc.domain.tools import Risk
from perpetualcc.permissions.effects import Effect, EffectKind, Finding
from perpetualcc.permissions.protected import (
    RAW_DEVICES,
    Guard,
    Place,
    ProtectedPlaces,
    fold,
    is_source,
)
from perpetualcc.permissions.settings import PermissionSettings
from perpetualcc.permissions.shell.directories import Directories, as_written, join
from perpetualcc.permissions.shell.script import FOUND, PIPE, UNKNOWN
from perpetualcc.permissions.worktrees import root_of

_SCRATCH = tuple(  # macOS keeps them in `/private`, and `/tmp` leads there
    f"{holder}/{name}/" for holder in ("", "/private") for name in ("tmp", "var/tmp", "var/folders")
)
_DEVICES = frozenset(
    {"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/tty", "/dev/zero",
     "/dev/random", "/dev/urandom", "/dev/full"}
)  # fmt: skip
_DESCRIPTOR = re.compile(rf"/dev/fd/(?:\d+|{UNKNOWN}{PIPE})")
"""An open file by its number; `/dev/fd/..` leads on into the system."""
MAY_LEAVE = re.compile(r"/|~|(?:[^/\s]+/)*\.\.(?:/|$)")
"""How paths begin that may lead out of the project: `/x`, `~/x`, `../x`, `..`, `src/../../x`."""
_WILD = frozenset("*?[")
READ_HOLDER = "read-holder"
"""The rule about reading all of a folder in which credentials lie among other files."""
_MOST_LINKS = 40
"""Links after links in one path; no kernel follows more."""


class Zone(StrEnum):
    """Whose place it is."""

    SAFE = "a safe directory of the project"
    PROJECT = "in the project"
    SCRATCH = "in the temporary directory"
    DEVICE = "a harmless device"
    OUTSIDE = "outside the project"
    UNKNOWN = "known only when it runs"


@dataclass(frozen=True, slots=True)
class Location:
    """Where one path leads."""

    path: str
    zone: Zone
    place: Place | None


_ZONE_ORDER = (Zone.DEVICE, Zone.SAFE, Zone.PROJECT, Zone.SCRATCH, Zone.UNKNOWN, Zone.OUTSIDE)
_WRITE_RISK = {
    Zone.SAFE: Risk.LOW,
    Zone.DEVICE: Risk.LOW,
    Zone.PROJECT: Risk.MEDIUM,
    Zone.SCRATCH: Risk.MEDIUM,
    Zone.UNKNOWN: Risk.MEDIUM,
    Zone.OUTSIDE: Risk.HIGH,
}


@lru_cache(maxsize=64)
def _below(project: str, directories: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(posixpath.normpath(posixpath.join(project, one)) for one in directories)


@lru_cache(maxsize=64)
def _openings(directories: tuple[str, ...]) -> tuple[str, ...]:
    """How everything begins that is one of them or below it, with a slash at its end."""
    return tuple(f"{directory.rstrip('/')}/" for directory in directories)


class Territory:
    """One project, as a place on a disk: what is inside, safe, guarded, outside."""

    def __init__(self, project: str, settings: PermissionSettings) -> None:
        self.home = str(settings.home)
        self.project = posixpath.normpath(join("/", project, home=self.home) or "/")
        self.safe = _below(self.project, settings.safe_directories)
        self._places = _places(self.home, settings.credential_paths, settings.credential_exceptions)
        self._real_project = self._resolved_project()
        self.links: dict[str, str] = {}
        """Links that the line itself makes, folded, and what they lead to."""
        self.globs_hidden = False
        """The line has said `shopt -s dotglob`: from then on `*` stands for `.env` as well."""
        self._broad = _broad(self.home)
        self._broad_at_home = _broad_at_home(self.home)

    def _resolved_project(self) -> str | None:
        """None when the project is not on this disk: paths are then taken as written."""
        try:
            is_there = os.path.isdir(self.project)  # noqa: PTH112  # each judgement asks
            return os.path.realpath(self.project) if is_there else None
        except (OSError, ValueError):
            return None

    def locate(self, text: str, cwds: Directories) -> Location:
        """The worst that `text` may mean from any of `cwds`: in its zone, and as a place."""
        found = self._locations(text, cwds)
        worst = max(found, key=_badness)
        zone = max((at.zone for at in found), key=_ZONE_ORDER.index)
        return worst if zone is worst.zone else replace(worst, zone=zone)

    def _locations(self, text: str, cwds: Directories) -> list[Location]:
        directory, name = posixpath.split(text.replace(FOUND, ""))
        texts = [posixpath.join(directory, name)]
        if name[:1] in _WILD and (self.globs_hidden or (FOUND in text and name != "*")):
            hidden = name[name.find("]") + 1 :] if name[0] == "[" else name[name[0] == "?" :]
            texts.append(posixpath.join(directory, f".{hidden}"))
        return [
            at for cwd in cwds or (self.project,) for one in texts for at in self._from(one, cwd)
        ]

    def _from(self, text: str, cwd: str | None) -> list[Location]:
        """As it is written; through the links of the line; and as the disk has it."""
        if text in _DEVICES or _DESCRIPTOR.fullmatch(text):
            return [Location(text, Zone.DEVICE, None)]
        written = as_written(cwd, text, home=self.home)
        path = self._respelled(posixpath.normpath(written or "/" + text))
        if written is None or (UNKNOWN in written and UNKNOWN not in path):  # `src/$x/../y`
            return [Location(text, Zone.UNKNOWN, self._place(path, self.project))]
        found = [self._at(path, self.project)]
        if self.links and (followed := self._followed(written)) != path:
            found.append(self._at(followed, self.project))
            written = followed
        if self._real_project is not None and UNKNOWN not in path:
            real = self._real(written)
            if real is not None and real != path:
                found.append(self._at(real, self._real_project))
        return found

    def _respelled(self, path: str) -> str:
        """
        What leads into the project by another name of the same folder, by the project's own.

        Claude Code composes the accents of the directory it works in; the Finder takes them apart.
        """
        if contains(self.project, path):
            return path
        parts, depth = path.split("/"), self.project.count("/") + 1
        top = "/".join(parts[:depth])
        if fold(top) != fold(self.project) or not self._is_project(top):
            return path
        return "/".join([self.project, *parts[depth:]])

    def _is_project(self, path: str) -> bool:
        try:
            return os.path.samefile(path, self.project)  # noqa: PTH121  # each judgement asks
        except (OSError, ValueError):
            return False

    def _at(self, path: str, project: str) -> Location:
        root = root_of(project, path)
        return Location(path, self._zone(path, root), self._place(path, root))

    def _followed(self, path: str) -> str:
        """Component by component, as the kernel goes."""
        here, crossed = "/", 0
        for part in path.split("/"):
            here = posixpath.normpath(posixpath.join(here, part))
            leads_to = self.links.get(fold(here))
            if leads_to is not None and crossed < _MOST_LINKS:
                here, crossed = leads_to, crossed + 1
        return here

    def _real(self, path: str) -> str | None:
        try:
            return self._respelled(os.path.realpath(path))
        except (OSError, ValueError):
            return None

    def _zone(self, path: str, root: str) -> Zone:
        if UNKNOWN in path:
            return Zone.UNKNOWN
        if contains(root, path):
            relative = path[len(root) :]
            is_safe = f"{self.project}{relative}/".startswith(_openings(self.safe))
            return Zone.SAFE if is_safe else Zone.PROJECT
        return Zone.SCRATCH if f"{path}/".startswith(_SCRATCH) else Zone.OUTSIDE

    def _place(self, path: str, root: str) -> Place | None:
        inside = contains(root, path) and root != "/"
        return self._places.find(path, skip=_depth(root) if inside else 0)

    def contains(self, path: str) -> bool:
        return contains(self.project, self._respelled(path))

    def is_root(self, path: str) -> bool:
        """Whether it is all of the project, or of one of its worktrees."""
        path = self._respelled(path)
        return path == root_of(self.project, path)

    def is_all(self, path: str) -> bool:
        """Whether the whole project, or a whole worktree of it, is there or below it."""
        return contains(path, self.project) or self.is_root(path)

    # What doing something there would mean

    def write(self, text: str, cwds: Directories, part: str) -> Finding:
        """Writing all that `text` may lead to; the worst of it."""
        found = self._each(EffectKind.WRITE, text, cwds)
        return max((_written(at, effect, part) for at, effect in found), key=_weight)

    def read(self, text: str, cwds: Directories, part: str, *, lists: bool = False) -> Finding:
        """The same for reading. `lists`: only names and sizes are seen, not contents."""
        found = self._each(EffectKind.READ, text, cwds, lists=lists)
        return max((self._seen(at, effect, part) for at, effect in found), key=_weight)

    def _each(
        self, kind: EffectKind, text: str, cwds: Directories, *, lists: bool = False
    ) -> list[tuple[Location, Effect]]:
        """Every place that it may be, and the effect there, which names the others."""
        locations = self._locations(text, cwds)
        if len(locations) == 1:
            return [(locations[0], Effect(kind=kind, target=locations[0].path, lists=lists))]
        locations.sort(key=_badness, reverse=True)
        found = []
        for at in locations:
            others = tuple(dict.fromkeys(one.path for one in locations if one.path != at.path))
            found.append((at, Effect(kind=kind, target=at.path, also=others, lists=lists)))
        return found

    def _seen(self, location: Location, effect: Effect, part: str) -> Finding:
        place, lists = location.place, effect.lists
        is_seen = lists and place is not None and self._is_seen_anyway(place, location)
        if place is not None and place.read is not Risk.LOW and not is_seen:
            risk = Risk.MEDIUM if lists and place.read is Risk.HIGH else place.read
            return Finding(
                risk=risk, rule=f"read-{place.name}", part=part, kind=f"read {place.name}",
                explanation=f"{location.path} is guarded: {place.explanation}", effects=(effect,),
            )  # fmt: skip
        if not lists and self._is_broad(location):
            return Finding(
                risk=Risk.MEDIUM, rule="read-broad", part=part, kind="read broad",
                explanation=f"{location.path} holds credentials among much else", effects=(effect,),
            )  # fmt: skip
        if not lists and location.zone is Zone.OUTSIDE and self._places.are_below(location.path):
            return Finding(
                risk=Risk.HIGH, rule=READ_HOLDER, part=part, kind="read holder",
                explanation=f"{location.path} holds credentials", effects=(effect,),
            )  # fmt: skip
        if location.zone is Zone.UNKNOWN and not lists:
            return Finding(
                risk=Risk.MEDIUM, rule="read-unknown", part=part, kind="read unknown path",
                explanation="Which file it reads is known only when it runs", effects=(effect,),
            )  # fmt: skip
        return Finding(
            risk=Risk.LOW, rule="read", part=part, kind="read", effects=(effect,),
            explanation=f"Reads {_named(location)}",
        )  # fmt: skip

    def _is_seen_anyway(self, place: Place, location: Location) -> bool:
        """That there are disks, and which files the project has, a plain `ls` shows as well."""
        return place.name == RAW_DEVICES or location.zone in {Zone.SAFE, Zone.PROJECT}

    def _is_broad(self, location: Location) -> bool:
        """What holds credentials, and what a glob may stand for: `~/*.json`, `~/.docker/*`."""
        path = fold(location.path)
        if path in self._broad:
            return True
        parts = path.split("/")
        if location.zone is not Zone.OUTSIDE or _WILD.isdisjoint(parts[-1]) or is_source(path):
            return False
        globs = (at for at, part in enumerate(parts) if not _WILD.isdisjoint(part))
        above = ["/".join(parts[:at]) for at in globs]
        return any(
            one in self._broad_at_home or _may_be_home(one, self.home) for one in above
        ) or self._places.are_among(path)


def _written(location: Location, effect: Effect, part: str) -> Finding:
    place, risk = location.place, _WRITE_RISK[location.zone]
    if place is not None and place.write.rank >= risk.rank and not _is_scratch(location):
        return Finding(
            risk=place.write, rule=f"write-{place.name}", part=part, kind=f"write {place.name}",
            explanation=f"{location.path} is guarded: {place.explanation}", effects=(effect,),
            is_guarded=not place.for_a_brain,
        )  # fmt: skip
    return Finding(
        risk=risk, rule=f"write-{location.zone.name.lower()}", part=part,
        kind=_write_kind(location), effects=(effect,),
        explanation=f"Writes {_named(location)}, {location.zone.value}",
    )  # fmt: skip


def _weight(finding: Finding) -> tuple[int, bool]:
    return finding.risk.rank, finding.is_guarded


@lru_cache(maxsize=16)
def _broad(home: str) -> frozenset[str]:
    """Directories below which credentials lie: reading all of one reads them too."""
    below_home = (".config", ".local", ".local/share", ".cache", "library", *_BROAD_OF_MACOS)
    return frozenset(
        {"/", "/home", "/users", "/root", "/etc", "/proc", "/var", "/run", "/private", "/volumes",
         "/system/volumes", "/var/root", fold(home), *(f"{fold(home)}/{n}" for n in below_home)}
    )  # fmt: skip


@lru_cache(maxsize=16)
def _broad_at_home(home: str) -> frozenset[str]:
    """Of these, the ones in which whatever has no name known to us may be a credential."""
    return frozenset(one for one in _broad(home) if contains(fold(home), one)) | {"/root"}


def _may_be_home(path: str, home: str) -> bool:
    """`/home/*` stands for this home as well."""
    return path.count("/") == home.count("/") and fnmatchcase(fold(home), path)


_BROAD_OF_MACOS = tuple(
    f"library/{name}" for name in ("application support", "containers", "group containers")
)


@lru_cache(maxsize=64)
def _depth(root: str) -> int:
    return fold(root).count("/")


def contains(directory: str, path: str) -> bool:
    """Whether `path` is `directory` or below it; both normalised and absolute."""
    return path == directory or path.startswith(directory if directory == "/" else directory + "/")


@lru_cache(maxsize=16)
def _places(
    home: str, credentials: tuple[str, ...], exceptions: tuple[str, ...]
) -> ProtectedPlaces:
    return ProtectedPlaces(home=home, credentials=credentials, exceptions=exceptions)


def _badness(location: Location) -> tuple[int, int]:
    place = location.place
    guarded = max(place.read.rank, place.write.rank) if place else -1
    return guarded, _ZONE_ORDER.index(location.zone)


def _is_scratch(location: Location) -> bool:
    """System places around the temporary directory do not make it a system place."""
    place = location.place
    return (
        location.zone in {Zone.SCRATCH, Zone.DEVICE}
        and place is not None
        and place.guard is Guard.SYSTEM
    )


def _named(location: Location) -> str:
    return location.path.replace(PIPE, "").replace(UNKNOWN, "…")


def _write_kind(location: Location) -> str:
    suffix = posixpath.splitext(location.path)[1]
    where = location.zone.name.lower()
    return f"write {suffix} {where}" if suffix and len(suffix) < 8 else f"write {where}"
