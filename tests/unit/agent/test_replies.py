"""The pure pieces: one-liners, refusals, a person's word."""

from pathlib import Path

import pytest

from perpetualcc.agent.replies import by_person, question_data, refused_unattended, summarize
from perpetualcc.domain.decisions import DecidedBy, Ruling, Verdict
from perpetualcc.domain.questions import Option, Question
from perpetualcc.domain.tools import Risk, ToolCall


@pytest.mark.parametrize(
    ("tool_input", "line"),
    [
        ({"command": "ls -la", "description": "list"}, "ls -la"),
        ({"file_path": "/p/src/a.py", "content": "x"}, "src/a.py"),
        ({"file_path": "/elsewhere/a.py"}, "/elsewhere/a.py"),
        ({"file_path": "/project-2/a.py"}, "/project-2/a.py"),
        ({"pattern": "TODO", "path": "/p/src"}, "src"),
        ({"url": "https://example.org", "prompt": "read"}, "https://example.org"),
        ({"command": "a\nb\n"}, "a ⏎ b"),
        ({"command": "x" * 200}, "x" * 159 + "…"),
        ({"command": ""}, ""),
        ({"command": None, "query": "words"}, "words"),
        ({"command": ["not", "text"]}, ""),
        ({}, ""),
        ({"name": "feat"}, "name: feat"),
        ({"action": "remove", "discard_changes": True}, "action: remove, discard_changes: True"),
        ({"to": "worker", "message": "hi", "more": [1]}, "to: worker, message: hi, …"),
        ({"todos": [{"content": "x"}]}, ""),
    ],
)
def test_a_call_is_summed_up_in_one_line(tool_input, line):
    assert summarize(ToolCall(tool="Any", input=tool_input, project=Path("/p"))) == line


def test_a_refusal_for_want_of_a_person_says_what_to_do_instead():
    asked = Ruling(verdict=Verdict.ASK, risk=Risk.HIGH, confidence=0.2, reason="It deletes.")

    refused = refused_unattended(asked)
    expired = refused_unattended(None)

    assert refused.verdict is expired.verdict is Verdict.DENY
    assert refused.message.startswith("It deletes.")
    assert "Do not try it another way" in refused.message
    assert refused.reason == "It deletes. Nobody was there to approve it."
    assert expired.decided_by is DecidedBy.TIMEOUT


@pytest.mark.parametrize(
    "answer",
    [{}, {"approve": False}, {"approve": "yes"}, {"approve": 1}, {"text": "approve"}],
)
def test_anything_but_a_clear_approval_is_a_refusal(answer):
    ruling = by_person(answer, Risk.LOW)

    assert ruling.verdict is Verdict.DENY
    assert ruling.message.startswith("A person refused this.")


def test_a_persons_words_are_kept():
    approved = by_person({"approve": True, "text": " this once "}, Risk.MEDIUM)
    refused = by_person({"approve": False, "text": "use make clean"}, Risk.HIGH)

    assert approved.reason == "A person approved it: this once."
    assert approved.message == ""
    assert refused.message == "A person refused this. use make clean"


def test_a_question_is_sent_as_claude_code_asked_it():
    question = Question(
        text="Which?", header="DB", options=(Option(label="A", description="first"),)
    )

    assert question_data(question) == {
        "question": "Which?",
        "header": "DB",
        "multiSelect": False,
        "options": [{"label": "A", "description": "first"}],
    }
