"""How every command ends: with its code, or with two lines that say what to do."""

import atexit
import errno
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from perpetualcc.cli.look import tell
from perpetualcc.cli.streams import full_disk, give_up_output, use_safe_streams
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.texts import cut


class Mistyped(PerpetualError):  # noqa: N818  # named for what happened
    """A word that the command does not know: as with every other slip of the fingers, code 2."""


def with_our_errors(run: Callable[[], Any]) -> None:
    """Exit with what `run` returns; a `PerpetualError` becomes two lines and exit code 1 or 2."""
    use_safe_streams()
    try:
        sys.exit(run())
    except PerpetualError as error:
        problem = error
    except OSError as error:
        found = _nowhere_to_be() or full_disk(error) or _no_name(error)
        if found is None:
            raise
        problem = found
        give_up_output()
    tell(f"error: {problem.message}")
    if problem.hint:
        tell(f"hint:  {problem.hint}")
    sys.exit(2 if isinstance(problem, Mistyped) else 1)


def _no_name(error: OSError) -> PerpetualError | None:
    """The words for a text in the place of a name, or None when it is something else."""
    if error.errno != errno.ENAMETOOLONG:
        return None
    name = " ".join(str(error.filename).rpartition("/")[2].split())
    return PerpetualError(
        f"No file or directory can be called {cut(name, 60)!r}: it is too long",
        hint="Name a file or a directory; see what goes where with: pcc --help",
    )


def leave_after(run: Callable[[], None]) -> None:
    """
    Run what ends with `SystemExit`, and end the process there and then.

    To take the interpreter apart first is a sixth of what a short command takes. What must happen
    at an exit happens; where a thread still works, it is waited for as always.
    """
    try:
        run()
    except SystemExit as ended:
        if not isinstance(ended.code, int | None) or threading.active_count() > 1:
            raise
        atexit._run_exitfuncs()  # noqa: SLF001  # as multiprocessing ends its processes
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(ended.code or 0)


def _nowhere_to_be() -> PerpetualError | None:
    """The words for a working directory that was removed, or None when there is one."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return PerpetualError("The directory you are in does not exist any more", hint="cd ~")
    except OSError:
        pass
    return None
