"""
Help on a narrow terminal, such as a phone's.

The library's pages are 50 columns wide at least, so that a narrower terminal breaks each line once
more, and leave half of that to the names of options. Here the page is as wide as the terminal, and
where that is narrow a meaning stands below a longer name.
"""

from typing import Any

import typer.core

_NARROW = 60
"""Columns, below which the names of options are given less room."""


def use_narrow_help() -> None:
    """From now on, for every command."""
    context: Any = typer.core.TyperCommand.context_class
    if getattr(context.formatter_class, "is_ours", False):
        return

    class _Page(context.formatter_class):  # type: ignore[misc]  # a class of the library's inside
        is_ours = True

        def __init__(self, **given: Any) -> None:
            import shutil

            columns = shutil.get_terminal_size().columns
            self._names = {"col_max": columns // 4} if columns < _NARROW else {}
            if self._names:
                given["width"] = max(columns - 2, 20)
            super().__init__(**given)

        def write_dl(self, rows: Any, **given: Any) -> None:
            super().write_dl(rows, **(given | self._names))

    context.formatter_class = _Page
