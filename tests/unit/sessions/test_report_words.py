"""What the report and the digest say alike."""

import pytest

from perpetualcc.domain.limits import LIMIT_NAMES
from perpetualcc.sessions.outage_words import outage_words
from perpetualcc.sessions.outages import OutageCause
from perpetualcc.sessions.report_words import happened, in_brief, sums, text_lines, waited, waits

KINDS = ("tasks", "answers", "refused", "files", "limits", "budgets", "problems", "checks")


def told(status="COMPLETED", detail="", resumes_at=None, **more):
    session = {"id": "abc", "status": status, "detail": detail, "resumes_at": resumes_at}
    return {"session": session, **dict.fromkeys(KINDS, ()), "runs": 0, **more}


def at(moment):
    return f"<{moment:g}>"


def word(heard, text="use v2\nnot v1"):
    return {"text": text, "at": 1.0, "heard": heard}


@pytest.mark.parametrize("window", LIMIT_NAMES)
def test_a_wait_is_told_as_one_that_ends_by_itself_and_is_counted_once(window):
    name = LIMIT_NAMES[window]
    waiting = told("RATE_LIMITED", name, 9.0, limits=[window, window])
    over = told(limits=[window, window])

    assert waits(waiting, at) == f"waits until <9>, then goes on by itself: {name}"
    assert [line.endswith("2 times") for line in waited(waiting)] == [False]
    assert [line.endswith("2 times") for line in waited(over)] == [True]
    assert waits(over, at) == ""


def test_a_wait_without_a_time_is_told_once():
    asked = told("RATE_LIMITED", "a person must agree to go on (pcc pending 3)")
    held = told("RATE_LIMITED", "waits for your review: 2 results")

    assert waits(asked, at) == "waits: a person must agree to go on (pcc pending 3)"
    assert waits(held, at) == "waits for your review: 2 results"


def test_in_brief_it_says_what_it_waits_for_and_how_many_words_were_not_heard():
    one = told(
        "RATE_LIMITED",
        "the weekly limit",
        9.0,
        limits=["seven_day"],
        words=[word("heard"), word("given"), word("never")],
    )

    assert in_brief(one, at) == (
        "limited: 3 said by you (2 not heard), waits until <9>, then goes on by itself:"
        " the weekly limit"
    )
    assert in_brief(told(words=[word("heard")]), at) == "completed: 1 said by you"
    assert text_lines(one) == ["Not heard: use v2", "Not heard: use v2"]


def act(kind, *, is_done=True, to="main"):
    facts = {"branch": "worktree-dark", "to": to, "files": 3, "by": "ana@box", "at": 1.0}
    return {"act": kind, "is_done": is_done, **facts}


def test_what_a_person_did_with_it_is_news_and_the_brief_word_names_nothing():
    one = told(dealt_with=[act("merge"), act("discard", to="undo-1")])

    assert happened(one)
    assert in_brief(one, at) == "completed: merged, thrown away"
    assert text_lines(one) == [
        "Merged worktree-dark into main: 3 files, by ana@box",
        "Thrown away: worktree-dark, by ana@box; back from there: pcc undo abc undo-1",
    ]


def test_what_was_begun_and_is_not_done_says_what_does_the_rest():
    one = told(dealt_with=[act("merge", is_done=False)])

    assert in_brief(one, at) == "completed"
    assert text_lines(one) == ["To be merged, and not done: worktree-dark; pcc accept abc"]


def test_a_word_is_something_that_happened():
    assert happened(told(words=[word("waiting")]))
    assert not happened(told(words=[]))
    assert not happened(told()), "from a daemon that tells of none"


@pytest.mark.parametrize("cause", OutageCause)
def test_every_outage_has_words_and_says_since_when_or_from_when_to_when(cause):
    one = {"began": 0.0, "ended": 3600.0, "cause": cause.value, "detail": "the 5-hour limit"}

    over, lasts = (outage_words(one, until=until, moment=at) for until in (7200.0, 3600.0))

    assert over.startswith("Nothing ran <0> to <3600> (1h): ")
    assert lasts.startswith("Nothing ran since <0> (1h): ")
    assert over.endswith("the 5-hour limit")
    assert over.partition("): ")[2].removesuffix("the 5-hour limit").strip(": ") not in {
        "", cause.value,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("states", "said"),
    [
        ([], "0 tasks done"),
        (["done", "failed", "missed"], "1 task done, 2 not"),
        (["parked"], "1 task not done"),
        (["cancelled"], "0 tasks done, 1 stopped by you"),
    ],
)
def test_what_was_not_done_is_said_as_such(states, said):
    one = told(tasks=[{"state": state} for state in states], tokens=5, usd=1.0)

    assert sums([one]) == f"{said}, 5 fresh tokens, $1.00"
