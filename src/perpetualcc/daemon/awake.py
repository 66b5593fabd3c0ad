"""
Keeps the machine from falling asleep by itself while there is work for it.

Idle sleep only: closing the lid, choosing to sleep and an empty battery do what they always did,
and the screen goes dark. The supervisor owns this, because what waits for a limit has no engine; a
pipe ends it with the supervisor, however that dies. Standard library only.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from perpetualcc.domain.folders import outside
from perpetualcc.domain.foreign_files import read_regular
from perpetualcc.domain.private_files import write_whole

LONGEST_WAIT = 86_400.0
"""Seconds ahead: what goes on later than that keeps no machine awake."""
AT_WORK = 0.0
"""A time long past: something is at work now."""
NOTHING = float("inf")
"""So far ahead goes on what needs no machine that is awake."""
_BATTERY_CHECK = 30.0
"""Seconds between two looks at it."""

_WHY = "Coding sessions are at work, or go on soon"
_UNTIL_WE_GO = ("cat",)
"""It reads our pipe, and ends with it; whoever was told to run it lets go then."""
_HELD_FOR_GOOD = 60.0
"""Seconds: what ends sooner was refused, and is not asked again by the same supervisor."""
_LETS_GO_WITHIN = 1.0
_SUPPLIES = Path("/sys/class/power_supply")
_LONGEST_REASON = 300


class Way(NamedTuple):
    """A program that keeps a machine awake for as long as another one runs."""

    name: str
    command: Sequence[str]


def ways(platform: str, variables: Mapping[str, str], *, is_wsl: bool) -> list[Way]:
    """
    The programs of this system; all of them are started, and one that holds is enough.

    logind's lock is heeded by KDE and by systems without a desktop, GNOME heeds only its own
    (systemd-inhibit(1), gnome-session-inhibit(1), caffeinate(8)). None below Windows: nothing in
    there keeps it awake.
    """
    if platform == "darwin":
        return [Way("caffeinate", ("caffeinate", "-i", *_UNTIL_WE_GO))]
    if is_wsl or platform != "linux":
        return []
    words = ("--what=idle", "--who=PerpetualCC", f"--why={_WHY}", "--mode=block", *_UNTIL_WE_GO)
    found = [Way("systemd-inhibit", ("systemd-inhibit", *words))]
    if "GNOME" in variables.get("XDG_CURRENT_DESKTOP", "").split(":"):
        # `suspend` alone: `idle` would keep the screen on, too.
        asked = ("--inhibit", "suspend", "--reason", _WHY, *_UNTIL_WE_GO)
        found.append(Way("gnome-session-inhibit", ("gnome-session-inhibit", *asked)))
    return found


def is_below_windows() -> bool:
    """Whether this is a Linux in Windows (WSL), which sleeps when Windows does."""
    with suppress(OSError):
        return "microsoft" in Path("/proc/version").read_text(errors="replace").lower()
    return False


def on_battery(supplies: Path = _SUPPLIES, platform: str = sys.platform) -> bool:
    """Whether the machine itself has nothing but a battery now; False where nobody tells."""
    if platform == "darwin":
        with suppress(OSError, subprocess.SubprocessError):
            told = subprocess.run(
                ["/usr/bin/pmset", "-g", "ps"], capture_output=True, text=True, check=False,
                timeout=5,
            ).stdout  # fmt: skip
            return "'Battery Power'" in told
        return False
    there: list[Path] = []
    with suppress(OSError):
        there = sorted(supplies.iterdir())
    found = [_supply(one) for one in there]
    is_plugged = any(kind in {"Mains", "USB"} and online == "1" for kind, online, _ in found)
    has_battery = any(kind == "Battery" and scope != "Device" for kind, _, scope in found)
    return has_battery and not is_plugged


def _supply(directory: Path) -> tuple[str, ...]:
    """Its type, whether it is online, and its scope: a mouse has a battery, too."""
    found = []
    for name in ("type", "online", "scope"):
        text = ""
        with suppress(OSError):
            text = (directory / name).read_text(errors="replace").strip()
        found.append(text)
    return tuple(found)


@dataclass(slots=True, kw_only=True)
class _Holder:
    """One such program, while it runs."""

    way: Way
    process: subprocess.Popen[bytes]
    since: float = field(default_factory=time.monotonic)

    @classmethod
    def start(cls, way: Way) -> "_Holder":
        """Raises OSError: there is no such program."""
        process = subprocess.Popen(
            way.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "PATH": outside(os.environ.get("PATH", os.defpath))},
        )
        return cls(way=way, process=process)

    def last_words(self) -> str:
        """Why it ended."""
        said = b""
        if self.process.stderr is not None:
            os.set_blocking(self.process.stderr.fileno(), False)  # its child may have it yet
            with suppress(OSError):
                said = self.process.stderr.read(_LONGEST_REASON) or b""
        text = re.sub(r"[^\x20-\x7e]+", " ", said.decode(errors="replace")).strip()
        return text or f"it ended with exit code {self.process.returncode}"

    def let_go(self) -> None:
        for pipe in (self.process.stdin, self.process.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        try:
            self.process.wait(_LETS_GO_WITHIN)
        except subprocess.TimeoutExpired:  # it heeds no pipe
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@dataclass(slots=True, kw_only=True)
class Awake:
    """Holds the machine awake, or lets it go. What cannot be is said once."""

    note: Path
    """Says for `pcc daemon status` what is so."""
    log: Callable[[str], None]
    ways: Sequence[Way] = field(
        default_factory=lambda: ways(sys.platform, os.environ, is_wsl=is_below_windows())
    )
    battery: Callable[[], bool] = on_battery
    _holders: list[_Holder] = field(default_factory=list)
    _refused: dict[str, str] = field(default_factory=dict)
    """Why those cannot be had, by their names."""
    _is_wanted: bool = False
    _noted: str = ""
    _is_on_battery: bool = False
    _battery_seen: float = float("-inf")

    def settle(self, goes_on: float) -> None:
        """
        `goes_on`: when work goes on by itself, in epoch seconds; `AT_WORK`, or `NOTHING`.

        On a battery only what is at work keeps it awake: a wait of hours would empty it.
        """
        self._look()
        ahead = goes_on - time.time()
        self._is_wanted = ahead <= 0 or (ahead <= LONGEST_WAIT and not self._has_battery_only())
        if self._is_wanted:
            self._hold()
        else:
            self.let_go()
        self._tell()

    def let_go(self) -> None:
        for holder in self._holders:
            holder.let_go()
        self._holders.clear()

    def close(self) -> None:
        """Let go, for good."""
        self.let_go()
        with suppress(OSError):
            self.note.unlink(missing_ok=True)

    def _has_battery_only(self) -> bool:
        if (now := time.monotonic()) >= self._battery_seen + _BATTERY_CHECK:
            self._battery_seen, self._is_on_battery = now, self.battery()
        return self._is_on_battery

    def _look(self) -> None:
        """Whether those that should hold do."""
        for holder in [one for one in self._holders if one.process.poll() is not None]:
            self._holders.remove(holder)
            if time.monotonic() - holder.since < _HELD_FOR_GOOD:
                self._refuse(holder.way.name, holder.last_words())
            holder.let_go()

    def _hold(self) -> None:
        at_work = {one.way.name for one in self._holders}
        for way in self.ways:
            if way.name in at_work or way.name in self._refused:
                continue
            try:
                self._holders.append(_Holder.start(way))
            except OSError as error:
                self._refuse(way.name, error.strerror or str(error))

    def _refuse(self, name: str, why: str) -> None:
        self._refused[name] = why
        self.log(f"the machine cannot be kept awake with {name}: {why}")

    def _trouble(self) -> str:
        return "; ".join(f"{name}: {why}" for name, why in self._refused.items())

    def _tell(self) -> None:
        text = self._told()
        if text != self._noted:
            self._noted = text
            with suppress(OSError):
                write_whole(self.note, text)

    def _told(self) -> str:
        if self._holders:
            return f"yes {', '.join(one.way.name for one in self._holders)}"
        if self._is_wanted and self._refused:
            return f"no {self._trouble()}"
        return f"idle {self._trouble()}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wakefulness:
    """What the supervisor that runs noted of it."""

    held_by: str = ""
    """The programs that keep the machine awake now; empty: it may sleep."""
    trouble: str = ""
    """Why it could not be kept awake when it was tried."""


def read_wakefulness(note: Path) -> Wakefulness | None:
    """None: no supervisor has noted anything."""
    try:
        word, _, rest = read_regular(note, 10_000).decode(errors="replace").partition(" ")
    except OSError:
        return None
    return Wakefulness(held_by=rest) if word == "yes" else Wakefulness(trouble=rest)
