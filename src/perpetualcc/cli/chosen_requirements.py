"""
The requirements file that `pcc init --requirements` chose for a project, for `pcc start`.

Kept with this installation's data and not in the project: a checkout from elsewhere must not name
a file of this machine that a brain is then told.
"""

import json
import shlex
from pathlib import Path

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.folders import canonical
from perpetualcc.domain.foreign_files import read_regular
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.private_files import write_whole

_LONGEST = 10_000_000
"""Bytes."""


def remember(places: Locations, project: Path, requirements: Path) -> None:
    """Both paths absolute. One file a project."""
    chosen = _chosen(places) | {str(project): str(requirements)}
    write_whole(_file(places), json.dumps(chosen, indent=2) + "\n")


def remembered(places: Locations, project: Path) -> Path | None:
    """
    The file chosen for a project, if there was one.

    Raises:
        PerpetualError: it is gone.
    """
    name = _chosen(places).get(str(canonical(project)))
    if name is None:
        return None
    if not Path(name).is_file():
        raise PerpetualError(
            f"The requirements file {name!r} that `pcc init` was given is gone",
            hint=f"pcc init {shlex.quote(str(project))} --requirements FILE,"
            " or pcc start … --requirements FILE",
        )
    return Path(name)


def _chosen(places: Locations) -> dict[str, str]:
    try:
        found = json.loads(read_regular(_file(places), _LONGEST))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _file(places: Locations) -> Path:
    return places.data / "requirements.json"
