"""How long something took, in words."""

import pytest

from perpetualcc.domain.clock import elapsed


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-3, "0 s"),
        (0.9, "0 s"),
        (59.9, "59 s"),
        (60, "1 min 0 s"),
        (299.7, "4 min 59 s"),
        (3600, "1 h 0 min"),
        (90_000, "25 h 0 min"),
    ],
)
def test_a_unit_counts_once_it_has_passed(seconds, words):
    assert elapsed(seconds) == words
