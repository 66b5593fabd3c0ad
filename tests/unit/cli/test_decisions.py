"""Why something was decided, in the room that a line has."""

import pytest

from perpetualcc.cli.guard import _why


@pytest.mark.parametrize(
    ("summary", "reason", "said"),
    [
        (
            "src/x.txt",
            "/p/shop/src/x.txt: Writes /p/shop/src/x.txt, a safe directory of the project",
            "Writes src/x.txt, a safe directory of the project",
        ),
        ("ls", "ls: Lists files.", "Lists files."),
        ("rm -rf old && ls", "rm -rf old: Deletes files.", "rm -rf old: Deletes files."),
        ("Which?", "a person answered", "a person answered"),
        ("", "Odd: is no tool that is known", "Odd: is no tool that is known"),
    ],
)
def test_a_reason_does_not_repeat_the_call(summary, reason, said):
    assert _why({"summary": summary, "reason": reason}) == said
