"""The lines of the morning's report."""

import pytest

from perpetualcc.cli import report
from perpetualcc.cli.look import width

QUESTION = "Which database should the notes of all the customers of the shop live in?"


@pytest.mark.parametrize("columns", [40, 80, None])
def test_a_long_question_never_hides_its_answer(columns, monkeypatch):
    monkeypatch.setattr(report, "terminal_width", lambda: columns)
    given = {"question": QUESTION, "answer": "SQLite", "by": "person", "because": ""}

    [line] = report._answer(given, "/shop")

    assert line.endswith("→ SQLite (by you)")
    assert width(line) <= (columns or 110)


def test_limits_and_budgets_have_the_names_that_they_have_everywhere():
    session = {"name": "night", "id": "abc", "status": "COMPLETED", "resumes_at": None}
    one = {
        "session": session | {"project": "/shop", "delay": "", "detail": ""},
        "limits": ["five_hour", "five_hour"],
        "budgets": ["tokens_per_day"],
        **dict.fromkeys(("tasks", "files", "answers", "refused", "problems"), ()),
        **dict.fromkeys(("checks", "handovers", "restarts", "runs", "allowed", "tokens", "usd"), 0),
    }

    told = list(report.session_lines(one))

    assert "  Stopped: the 5-hour limit 2 times" in told
    assert "  Stopped: the budget tokens_per_day was used up" in told
