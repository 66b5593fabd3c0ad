"""
Starts Claude Code in a session and process group of its own.

Run as a script with `-I -S`, so that it costs a few milliseconds: the SDK has no option for
this, and without it a signal for the engine's group would reach Claude Code too.
"""

import os
import shlex
import sys
from pathlib import Path


def write_launcher(directory: Path, claude: Path) -> Path:
    """
    Write an executable that starts `claude` through this module, and return its path.

    A shell script, because a `#!` line can hold neither long paths nor spaces.
    """
    words = [sys.executable, "-I", "-S", str(Path(__file__).resolve()), str(claude)]
    text = f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n'
    launcher = directory / "claude"
    if not launcher.exists() or launcher.read_bytes() != text.encode():
        draft = launcher.with_suffix(f".{os.getpid()}")
        draft.write_text(text)
        draft.chmod(0o700)
        draft.replace(launcher)
    return launcher


if __name__ == "__main__":
    os.setsid()
    os.execv(sys.argv[1], sys.argv[1:])  # noqa: S606  # an argv list, no shell
