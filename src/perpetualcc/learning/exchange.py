"""Reading an export: a file from anywhere, so nothing in it is believed."""

import json
from pathlib import Path

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.learning.preferences import Preference, from_json


class ExportUnreadable(PerpetualError):  # noqa: N818  # says what happened
    """The file is not an export of preferences."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(
            f"{str(path)!r} is not an export of preferences: {why}",
            hint="Write one with `pcc learn export --output FILE`",
        )


def read_export(path: Path) -> list[tuple[str, Preference]]:
    """Project and preference of every entry. Raises `ExportUnreadable`."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        entries = data["preferences"]
        return [(str(one.get("project", "")), from_json(one)) for one in entries]
    except OSError as error:
        raise ExportUnreadable(path, error.strerror or str(error)) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ExportUnreadable(path, f"{type(error).__name__} {error}") from error
