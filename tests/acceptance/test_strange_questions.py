"""Questions no sane model asks, through the real Claude Code: each is refused or answered, once."""

import itertools
from typing import Any

import pytest

from perpetualcc.rehearsal.position import message_text

pytestmark = [pytest.mark.claude, pytest.mark.timeout(120)]


def options(*labels: str) -> list[dict[str, str]]:
    return [{"label": label, "description": "d"} for label in labels]


def one(text: str = "Which?", *labels: str, **more: Any) -> dict[str, Any]:
    return {"question": text, "header": "H", "options": options(*(labels or "AB")), **more}


# What Claude Code 2.1.330 refuses by itself, and the words by which Claude learns of it.
REFUSED = {
    "no options": ([one(options=[])], "fewer than 2 options"),
    "one option": ([one("Which?", "A")], "fewer than 2 options"),
    "five options": ([one("Which?", *"ABCDE")], "<=4 items"),
    "two hundred options": ([one("Which?", *(f"L{n}" for n in range(200)))], "<=4 items"),
    "duplicate labels": ([one("Which?", "A", "A")], "labels must be unique"),
    "the same question twice": ([one(), one("Which?", "C", "D")], "texts must be unique"),
    "no question": ([], ">=1 items"),
    "five questions": ([one(f"Which {n}?") for n in range(5)], "<=4 items"),
    "options that are words": ([one(options=["A", "B"])], "expected as `object`"),
}
# What it lets through, what a person types, and what Claude is told of it.
ANSWERED = {
    "a label of nothing": ([one("Which?", "", " ")], "1", '="(option 1)"'),
    "a label that is a number": ([one("How many?", "2", "1")], "1", '"How many?"="1"'),
    "no text beside a text": ([one(""), one("Real?")], "B", '"Real?"="B"'),
    "an answer that is no option": ([one("Own?")], "neither, use C", '"Own?"="neither, use C"'),
    "a hundred thousand letters": ([one("Q" * 100_000 + "?")], "2", "have been answered"),
}


def results(server) -> list[str]:
    """What Claude read of each call, in order."""
    longest = max(server.requests, key=lambda request: len(request.messages))
    return [
        message_text({"role": "user", "content": [block]})
        for message in longest.messages
        if isinstance(message["content"], list)
        for block in message["content"]
        if block.get("type") == "tool_result"
    ]


def test_each_is_refused_or_answered_and_none_is_left_hanging(install, servers):
    nameless = [one("")]
    asked = [*(q for q, _ in REFUSED.values()), nameless, *(q for q, _, _ in ANSWERED.values())]
    steps = [{"tools": [{"AskUserQuestion": {"questions": each}}]} for each in asked]
    pcc = install({"steps": [*steps, "Done."]})

    session = pcc.start("Ask strange things")
    for number, (_, typed, _) in zip(itertools.count(1), ANSWERED.values(), strict=False):
        pcc.wait_for_event(session, "EscalationRaised", count=number)
        pcc.pcc("respond", str(number), typed)
    assert pcc.wait(session)["status"] == "COMPLETED"

    wanted = [
        *(words for _, words in REFUSED.values()),
        "no text",
        *(w for *_, w in ANSWERED.values()),
    ]
    for words, said in zip(wanted, results(servers[0]), strict=True):
        assert words in said
    assert len(pcc.events(session, "QuestionAnswered")) == len(ANSWERED)
    assert pcc.json("pending") == []
