"""
`make docs`: write every reference that can be read off the code.

Tests compare what is written here with what is in the repository, so a command, setting, event,
method or package without its documentation does not pass.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from tools import architecture, cli_reference, configuration_reference, protocol_reference, readme

ROOT = Path(__file__).parent.parent

_NOTE = "<!-- Written by `make docs`. Change the code, not this page. -->\n\n"


def documents() -> Mapping[Path, str]:
    """Every generated file and what it must contain."""
    return {
        ROOT / "docs" / "cli.md": _NOTE + cli_reference.page(),
        ROOT / "docs" / "configuration.md": _NOTE + configuration_reference.page(),
        ROOT / "docs" / "protocol.md": _NOTE + protocol_reference.page(),
        ROOT / "ARCHITECTURE.md": architecture.with_rings(ROOT),
    }


def main(flags: list[str]) -> None:
    for path, text in documents().items():
        path.write_text(text, encoding="utf-8")
    if "--demo" in flags:
        readme.write_demo(ROOT / "README.md")


if __name__ == "__main__":
    main(sys.argv[1:])
