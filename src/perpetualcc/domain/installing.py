"""What a person types to add a package to the Python that PerpetualCC runs on."""

import shlex
import sys
from importlib.util import find_spec


def pip_install(*words: str) -> str:
    """
    Names the Python: `pip` alone is whichever comes first on the PATH, often a project's own.

    Where uv made the environment (`uv tool`, `uv venv`, pipx with uv) there is no pip in it.
    """
    if find_spec("pip") is None:
        return shlex.join(["uv", "pip", "install", "--python", sys.executable, *words])
    return shlex.join([sys.executable, "-m", "pip", "install", *words])
