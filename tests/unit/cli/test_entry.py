"""`pcc pending` alone is told without the parser; everything else goes through it."""

import subprocess
import sys
from pathlib import Path

import pytest

from perpetualcc.cli.entry import _places_of_plain_pending as plain


@pytest.mark.parametrize(
    ("typed", "places"),
    [
        (["pending"], {}),
        (["--data-dir", "d", "pending"], {"data_dir": Path("d")}),
        (["--config", "c", "--data-dir", "d", "pending"],
         {"config": Path("c"), "data_dir": Path("d")}),
        (["pending", "--json"], None),
        (["pending", "3"], None),
        (["--quiet", "pending"], None),
        (["--data-dir", "pending"], None),
        (["--data-dir", "--config", "pending"], None),
        (["--data-dir=d", "pending"], None),
        (["list"], None),
        ([], None),
    ],
)  # fmt: skip
def test_only_the_plain_form_is_quick(typed: list[str], places: dict[str, Path] | None) -> None:
    assert plain(typed) == places


def test_the_list_imports_no_parser() -> None:
    code = (
        "import sys, perpetualcc.cli.entry, perpetualcc.cli.waiting, perpetualcc.cli.ending;"
        "print(sorted({'typer', 'click', 'yaml', 'claude_agent_sdk'} & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
