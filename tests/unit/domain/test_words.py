"""What a person says, as Claude is given it."""

import pytest

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.words import LONGEST, said


@pytest.mark.parametrize(
    ("typed", "given"),
    [
        ("use v2\n", "use v2"),
        ("one\r\ntwo\rthree\u2028four", "one\ntwo\nthree\nfour"),
        ("\tkeep\tthe tabs", "keep\tthe tabs"),
        ("\x1b[31mred\x1b[0m \x1b]0;title\x07and \x1b7more", "red and more"),
        ("bell\x07 null\x00 c1\x9b", "bell null c1"),
        ("turned \u202ereverse\u2066", "turned reverse"),
        (
            "\u00ab Oui\u00a0! \u00bb 👩\u200d💻 نمی\u200cخواهم",
            "« Oui\u00a0! » 👩\u200d💻 نمی\u200cخواهم",
        ),
        ("half \ud83d", "half ?"),
    ],
)
def test_what_steers_a_terminal_is_left_out_and_every_language_stays(typed, given):
    assert said(typed) == given


@pytest.mark.parametrize("nothing", ["", " \n\t ", "\x1b[0m", "\x07\x00", "\u202e"])
def test_nothing_is_nothing_to_say(nothing):
    with pytest.raises(PerpetualError, match="nothing to say"):
        said(nothing)


def test_the_most_that_can_be_said_at_once_is_told():
    assert said("x" * LONGEST + " ") == "x" * LONGEST
    with pytest.raises(PerpetualError, match="8,001 characters are too much") as refused:
        said("x" * (LONGEST + 1))
    assert "file" in str(refused.value.hint)
