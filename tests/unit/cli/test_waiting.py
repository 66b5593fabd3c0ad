"""The list of what waits; what it shows to be typed runs as a whole, or not at all."""

import subprocess
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from perpetualcc.cli import waiting as cli_waiting
from perpetualcc.cli.options import GlobalOptions
from perpetualcc.cli.waiting import answer_to, list_waiting
from perpetualcc.domain.escalations import ALWAYS
from perpetualcc.human.how_to_answer import how_to_answer


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("permission", {}),
        ("permission", {"options": [{"label": ALWAYS, "description": "from now on"}]}),
        ("error", {}),
        ("question", {"raw": {"questions": [{"question": "Begin?", "yes_or_no": True}]}}),
        ("question", {"raw": {"questions": [{"options": [{}, {}]}]}}),
        ("question", {"raw": {"questions": [{"options": [{}, {}], "options_only": True}]}}),
        ("review", {"task_is_over": True}),
        ("review", {"task_is_over": False}),
    ],
)
def test_a_pasted_choice_decides_nothing(kind, more):
    line = answer_to({"number": 1, "type": kind, "raw": {}, "options": [], **more})
    shell = ["/bin/bash", "-c", f"pcc() {{ echo decided; }}; {line}"]

    done = subprocess.run(shell, capture_output=True, text=True, check=False)

    assert "decided" not in done.stdout, line


@pytest.mark.parametrize(
    ("kind", "questions", "line"),
    [
        ("permission", [], "pcc respond 4 --approve (or --deny)"),
        ("error", [], 'pcc respond 4 retry (or "give up")'),
        ("question", [], 'pcc respond 4 "…"'),
        ("question", [{}, {}], 'pcc respond 4 "…" "…"'),
        ("question", [{"options": [{}]}], 'pcc respond 4 "…"'),
        ("question", [{"options": [{}] * 2}], 'pcc respond 4 1 (or 2, or "…")'),
        ("question", [{"options": [{}] * 5}], 'pcc respond 4 1 (or 2 to 5, or "…")'),
        ("question", [{"options": [{}] * 2, "options_only": True}], "pcc respond 4 1 (or 2)"),
        ("question", [{"yes_or_no": True}], 'pcc respond 4 --approve (or --deny, or "…")'),
    ],
)
def test_what_answers_a_request(kind, questions, line):
    assert how_to_answer(4, kind, questions) == line


def test_what_the_numbers_of_the_first_answer_stand_for_is_listed(monkeypatch, capsys):
    options = [{"label": "lines"}, {"label": "one array\x1b[2J"}]
    one = asked(1) | {"type": "question", "raw": {"questions": [{"options": options}]}}
    answers = {"escalation.list": [one], "escalation.count": 1, "session.list": []}
    daemon = SimpleNamespace(call=lambda method, **_: answers[method])
    monkeypatch.setattr(cli_waiting, "connect", lambda _options: nullcontext(daemon))

    list_waiting(GlobalOptions())

    said = capsys.readouterr().out
    assert 'Respond with: pcc respond 1 1 (or 2, or "…")\n' in said
    assert "Options: [1] lines  [2] one array�[2J\n" in said


OFFER = {"label": ALWAYS, "description": "from now on, without asking: make lint"}


@pytest.mark.parametrize(
    ("limit", "others"),
    [(2, "pcc pending --limit N"), (100, "pcc pending --session NAME")],
)
def test_an_offer_is_told_and_what_is_not_shown_is_counted(monkeypatch, capsys, limit, others):
    waiting = [asked(1, OFFER), asked(2)]
    answers = {"escalation.list": waiting, "escalation.count": 5, "session.list": []}
    daemon = SimpleNamespace(call=lambda method, **_: answers[method])
    monkeypatch.setattr(cli_waiting, "connect", lambda _options: nullcontext(daemon))

    list_waiting(GlobalOptions(), limit=limit)

    shown = capsys.readouterr()
    assert shown.out.endswith(f"\n#1: {OFFER['description']}\n")
    assert "#2" not in shown.out
    assert shown.err == f"3 more wait; see them with: {others}\n"


@pytest.mark.parametrize(
    ("kind", "title", "told"),
    [
        (
            "question",
            "Change /shop/src/a.py, or /my/shop/a.py?",
            "Change src/a.py, or /my/shop/a.py?",
        ),
        ("review", "Refused: Bash rm -rf /shop/build", "Refused: Bash rm -rf …/build"),
    ],
)
def test_what_lies_in_the_project_is_named_from_there(monkeypatch, capsys, kind, title, told):
    waiting = [{**asked(1), "type": kind, "title": title, "project": "/shop"}]
    answers = {"escalation.list": waiting, "escalation.count": 1, "session.list": []}
    daemon = SimpleNamespace(call=lambda method, **_: answers[method])
    monkeypatch.setattr(cli_waiting, "connect", lambda _options: nullcontext(daemon))

    list_waiting(GlobalOptions())

    assert f"│ {told} │" in capsys.readouterr().out


def asked(number, *options):
    return {
        "number": number,
        "session": "abc123",
        "type": "permission",
        "title": "Bash: make lint",
        "raised_at": 0.0,
        "raw": {},
        "options": list(options),
    }


def test_what_begins_after_a_review_is_told_beside_what_is_asked(monkeypatch, capsys):
    told = {"id": "4c1f0e", "name": "dark\x1b[2J", "detail": "waits for your review: 2 results"}
    limited = [told, told | {"detail": "the weekly limit"}]
    answers = {"escalation.count": 0, "session.list": limited, "session.get": told}
    monkeypatch.setattr(
        cli_waiting,
        "connect",
        lambda _options: nullcontext(SimpleNamespace(call=lambda method, **_: answers[method])),
    )
    for waiting, session in (([], None), ([], "dark"), ([asked(1)], None)):
        answers["escalation.list"] = waiting

        list_waiting(GlobalOptions(), session=session)

        line = "dark\N{REPLACEMENT CHARACTER}[2J (4c1f0e) waits for your review: 2 results\n"
        assert capsys.readouterr().out.endswith(f"{chr(10) if waiting else ''}{line}")
