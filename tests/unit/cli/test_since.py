"""`--since`: how long ago, as people say it."""

import pytest

from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.since import seconds_of


@pytest.mark.parametrize(
    ("text", "hours"),
    [("12h", 12), ("1h30m", 1.5), ("1.5 hours", 1.5), ("2 days", 48), ("3W", 504), ("an hour", 1)],
)
def test_a_length_of_time_is_read_as_people_say_it(text, hours):
    assert seconds_of(text) == hours * 3600


@pytest.mark.parametrize("text", ["", "0h", "5", "-5h", "yesterday", "99999 weeks", "9" * 400])
def test_what_is_none_is_typed_wrong(text):
    with pytest.raises(Mistyped):
        seconds_of(text)
