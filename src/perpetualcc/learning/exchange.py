"""Reading an export: a file from anywhere, so nothing in it is believed."""

import json
from pathlib import Path
from typing import Any

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.learning.preferences import Preference, from_json, says_something


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
        return [_entry(one) for one in entries]
    except OSError as error:
        raise ExportUnreadable(path, error.strerror or str(error)) from error
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ExportUnreadable(path, f"it is no JSON ({error})") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise ExportUnreadable(path, "it has not the form of one") from error
    except ValueError as error:
        raise ExportUnreadable(path, str(error)) from error


def write_export(path: Path, text: str) -> None:
    """Raises `PerpetualError` when the file cannot be written."""
    try:
        # A path may hold bytes that are not UTF-8: they become JSON's escapes of surrogates.
        path.write_bytes(text.encode(errors="backslashreplace"))
    except OSError as error:
        raise PerpetualError(
            f"{str(path)!r} cannot be written: {error.strerror or error}",
            hint="Name a file in a directory that exists and that you may write",
        ) from error


def _entry(data: dict[str, Any]) -> tuple[str, Preference]:
    """Raises ValueError and what `from_json` does."""
    project, preference = str(data.get("project", "")), from_json(data)
    if not says_something(preference.rule):
        raise ValueError("with an entry without a rule")
    if preference.scope == "global":
        return "", preference
    if not project.startswith("/") or ".." in Path(project).parts or "\0" in project:
        raise ValueError(f"with {project!r} instead of a project's absolute path")
    return project, preference
