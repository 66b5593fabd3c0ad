"""What a person types to add a package to the Python that PerpetualCC runs on."""

import shlex
import sys


def pip_install(*words: str) -> str:
    """
    Names the Python: `pip` alone is whichever comes first on the PATH, often a project's own.
    """
    return shlex.join([sys.executable, "-m", "pip", "install", *words])
