"""PerpetualCC keeps Claude Code working around the clock, and explains every decision it takes."""

import os
import sys

__version__ = "0.1.0"


def _find_installed_first() -> None:
    """
    What `PYTHONPATH` names is for the projects, whose programs still get it: a `yaml.py` in it is
    not what we mean by `yaml`. On import, since each of our processes begins with one.
    """
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    projects = {os.path.abspath(place) for place in named if place}  # noqa: PTH100  # pathlib is slow to import
    sys.path.sort(key=projects.__contains__)


_find_installed_first()
