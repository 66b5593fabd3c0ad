"""Why something was decided, in the room that a line has."""

import pytest

from perpetualcc.cli import look
from perpetualcc.cli.guard import _HEADERS, _answered, _call, _row, _why
from perpetualcc.cli.look import one_line

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

    assert _call(one, 40) == said
    assert _call(one, None) == one_line(f"{question.replace(HOME + '/', '')} → {answer}")


def test_a_call_in_the_project_says_that_its_path_is_cut():
    """Without the mark it would be another one: the part that is left may follow a `cd`."""
    call = {"verdict": "allow", "tool": "Bash", "summary": "cd /tmp && rm -rf /p/shop/build"}

    assert _call({**call, "project": HOME}, None) == "Bash cd /tmp && rm -rf …/build"


@pytest.mark.parametrize("columns", [40, 80, 100, 220, None])
def test_of_a_reason_nothing_is_cut_on_any_terminal_or_in_a_pipe(columns, monkeypatch):
    monkeypatch.setattr(look, "terminal_width", lambda: columns)
    end = "allowed by a rule of a person: rule-f18645 (Allows kind 'frob' everywhere)"
    made = {
        "id": 7, "at": 0, "session": "tidy2", "project": HOME, "tool": "Bash",
        "summary": "frob one",
        "risk": "MEDIUM", "verdict": "allow", "decided_by": "rule", "confidence": 0.95,
        "reason": f"frob one: Nothing is known about the program 'frob'; {end}",
    }  # fmt: skip

    drawn = look.table(_HEADERS, [_row(made, 40)], wrapping={"Call", "Why"})

    lines = drawn.splitlines()
    whys = [line.rsplit("│", 2)[1] if "│" in line else line[11:] for line in lines]
    assert end in " ".join(" ".join(whys).split())
    assert columns is None or max(map(look.width, lines)) <= columns
