"""The countdown of `pcc attach`."""

import pytest

from perpetualcc.cli.stream import remaining


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "0:00"),
        (59.4, "0:59"),
        (245, "4:05"),
        (5025, "1:23:45"),
        (2 * 86400 + 3 * 3600 + 4 * 60 + 5, "2d 03:04:05"),
    ],
)
def test_what_remains_is_shown_as_a_clock(seconds, text):
    assert remaining(seconds) == text
