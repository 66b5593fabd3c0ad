"""A look at a database that changes nothing, whoever works with it meanwhile."""

import contextlib
import errno
import sqlite3
from pathlib import Path

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.store.guard import refuse_emptied
from perpetualcc.store.looking import looking
from perpetualcc.store.problems import explain
from perpetualcc.store.schema import refuse_foreign

_MOST_FAULTS = 1
"""One is enough to know."""


def trouble_of(path: Path) -> PerpetualError | None:
    """Why an engine could not work with the file; None when it could. Bugs of ours are raised."""
    try:
        refuse_emptied(path)
        _refuse_no_file(path)
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as found:
            refuse_foreign(found, path)
            (said,) = found.execute(f"PRAGMA quick_check({_MOST_FAULTS})").fetchone()
            if said != "ok":
                damaged = sqlite3.DatabaseError(said)
                damaged.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
                raise damaged
    except PerpetualError as error:
        return error
    except (sqlite3.Error, OSError) as error:
        known = explain(error, path)
        if isinstance(known, PerpetualError):
            return known
        raise
    return None


def refuse_newer(path: Path) -> None:
    """
    Whatever else may be wrong with the file.

    Raises:
        DatabaseError: a newer version wrote it, or another program.
    """
    if not path.is_file():
        return
    with contextlib.suppress(sqlite3.Error), looking(path, patience=0.0) as found:
        refuse_foreign(found, path)


def _refuse_no_file(path: Path) -> None:
    """SQLite waits for whoever writes into a pipe. Raises OSError."""
    if not path.is_file():
        raise OSError(errno.EINVAL, "it is no file")
