"""Why something was decided, in the room that a line has."""

import pytest

from perpetualcc.cli.guard import _answered, _call, _why

HOME = "/p/shop"


@pytest.mark.parametrize(
    ("summary", "reason", "said"),
    [
        (
            "src/x.txt",
            "/p/shop/src/x.txt: Writes /p/shop/src/x.txt, a safe directory of the project",
            "Writes src/x.txt, a safe directory of the project",
        ),
        ("rm /p/shop/old", "rm /p/shop/old: Deletes /p/shop/old.", "Deletes old."),
        ("/etc/hosts", "/etc/hosts: /etc/hosts is not /p/shop/x.", "/etc/hosts is not x."),
        ("ls", "ls: Lists files.", "Lists files."),
        ("rm -rf old && ls", "rm -rf old: Deletes files.", "rm -rf old: Deletes files."),
        ("Which?", "a person answered", "a person answered"),
        ("", "Odd: is no tool that is known", "Odd: is no tool that is known"),
    ],
)
def test_a_reason_does_not_repeat_the_call(summary, reason, said):
    assert _why({"summary": summary, "reason": reason, "project": HOME}) == said


@pytest.mark.parametrize(
    ("question", "answer", "said"),
    [
        ("Which layout?", "Wide", "Which layout? → Wide"),
        (
            "Which database should the notes of the shop live in?",
            "PostgreSQL",
            "Which database should the notes of the…\n→ PostgreSQL",
        ),
        ("Which?\nSay it\tnow.", "One\nand two", "Which? Say it now. → One and two"),
        ("Change /p/shop/a.py?", "Yes", "Change a.py? → Yes"),
        ("Why?", "a" * 50, "Why?\n→ " + "a" * 37 + "…"),
    ],
)
def test_of_a_question_the_answer_is_shown_too(question, answer, said):
    told = {
        "project": HOME,
        "at": 0,
        "session": "s",
        "confidence": 1,
        "reason": "",
        "decided_by": "person",
    }

    [one] = _answered({**told, "answers": {question: answer}})

    assert _call(one) == said


def test_a_call_in_the_project_says_that_its_path_is_cut():
    """Without the mark it would be another one: the part that is left may follow a `cd`."""
    call = {"verdict": "allow", "tool": "Bash", "summary": "cd /tmp && rm -rf /p/shop/build"}

    assert _call({**call, "project": HOME}) == "Bash cd /tmp && rm -rf …/build"
