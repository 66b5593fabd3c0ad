"""Whether the machine is kept awake for its work, in a person's words."""

import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from shutil import which
from typing import Any

from perpetualcc.daemon.awake import Wakefulness, is_below_windows, read_wakefulness, ways
from perpetualcc.daemon.state import is_held
from perpetualcc.domain.locations import Locations

WINDOWS = (
    "Windows sleeps when it likes, and this Linux with it; see its Settings, System, Power:"
    " when plugged in, sleep never"
)


def wakefulness(locations: Locations) -> Wakefulness | None:
    """As the supervisor noted it; None without one, or with one of an earlier version."""
    return read_wakefulness(locations.awake) if is_held(locations.supervisor_lock) else None


def awake_lines(locations: Locations) -> Iterator[tuple[str, str]]:
    """For `pcc daemon status`: nothing where there is nothing to say."""
    found = wakefulness(locations)
    if found and found.held_by:
        yield "Awake", f"the machine is kept from falling asleep ({found.held_by})"
    elif found and found.trouble:
        yield "Awake", f"the machine may fall asleep: {found.trouble}"


def awake_data(locations: Locations) -> dict[str, Any] | None:
    """For `--json`."""
    found = wakefulness(locations)
    return asdict(found) if found else None


def awake_findings(locations: Locations, *, is_wanted: bool) -> Iterator[tuple[bool, str]]:
    """For `pcc doctor`: whether it is well, and what it is."""
    if not is_wanted:
        return
    if is_below_windows():
        yield False, f"Awake: {WINDOWS}"
        return
    found, known = wakefulness(locations), ways(sys.platform, os.environ, is_wsl=False)
    if found and found.held_by:
        yield True, f"Awake: kept by {found.held_by}"
        return
    missing = [one.name for one in known if which(one.name) is None]
    why = (found.trouble if found else "") or (
        f"{', '.join(missing)}: not found" if len(missing) == len(known) else ""
    )
    if why:
        told = f"Awake: the machine may fall asleep while sessions work: {why}"
        yield False, f"{told} (work goes on without; not to be told: pcc config set keep_awake no)"
    else:
        yield True, "Awake: nothing is at work; then the machine is kept from falling asleep"
