"""What git only shows is LOW with whatever options it is asked; what it changes is not."""

import pytest
from judging import bash_risk

from perpetualcc.domain.tools import Risk


@pytest.mark.parametrize(
    ("look", "change", "risk"),
    [
        ("git clean -ndx", "git clean -dx", "HIGH"),
        ("git clean -nd", "git clean -fd", "HIGH"),
        ("git clean --dry-run -fdX", "git clean -fdX", "HIGH"),
        ("git config --global user.name", "git config --global user.name x", "MEDIUM"),
        ("git config --global --list", "git config --global --edit", "MEDIUM"),
        ("git config --global --get a.b", "git config --global core.pager x", "HIGH"),
        ("git config --global user.name", "git config --global user.token", "HIGH"),
        ("git format-patch -1 --stdout", "git format-patch -1", "MEDIUM"),
        ("git merge-file -p a b c", "git merge-file a b c", "MEDIUM"),
        ("git merge-file -p a b c", "git merge-file -p a b .env", "HIGH"),
        ("git check-mailmap x", "git replace x y", "HIGH"),
        ("git for-each-ref --format='%(refname)' --shell", "git update-ref -d x", "HIGH"),
    ],
)
def test_a_look_is_low_and_a_change_is_not(look: str, change: str, risk: str) -> None:
    assert bash_risk(look) is Risk.LOW
    assert bash_risk(change) is Risk(risk)
