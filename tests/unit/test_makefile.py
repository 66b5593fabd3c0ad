"""The Makefile and what CI runs, as a Mac would read them: make 3.81, bash 3.2, BSD's programs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NEWER = {
    "of make": r"^\.ONESHELL|\$\(file\b|\$\(let\b|\$\(intcmp\b|^\w+\s*(!=|:::?=)|\bundefine\b|&:",
    "of bash": r"\$\{\w+(,|\^|@)|\b(mapfile|readarray)\b|\bdeclare -[An]|&>>|\|&|\bwait -n",
    "of GNU": r"\breadlink -f|\bsed -i|\bdate (-d|--)|\bstat -c|\bxargs -r|\bgrep -\w*P|\bcp --"
    r"|\bnproc\b|\btac\b|\bsha256sum\b|\bmktemp --|\bln -\w*r",
}


@pytest.mark.parametrize("name", ["Makefile", ".ci/run"])
def test_nothing_is_used_that_a_mac_does_not_have(name: str) -> None:
    text = (ROOT / name).read_text()

    assert {what: re.findall(f"(?m){pattern}", text) for what, pattern in NEWER.items()} == {
        what: [] for what in NEWER
    }


@pytest.mark.parametrize(
    "line",
    [
        "A != uname",
        ".ONESHELL:",
        "\t@sed -i s/a/b/ x",
        "\t@readlink -f x",
        "\t@date -d now",
        "x=${y,,}",
    ],
)
def test_what_a_mac_does_not_have_is_found(line: str) -> None:
    assert any(re.search(f"(?m){pattern}", line) for pattern in NEWER.values())
