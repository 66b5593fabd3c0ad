"""What contradicts itself is no answer."""

import pytest
from typer.testing import CliRunner

from perpetualcc.cli import people
from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.which_request import the_request
from perpetualcc.domain.errors import PerpetualError


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--approve", "--deny"), "contradict"),
        (("--always", "--deny"), "contradict"),
        (("--always", "no"), "--always takes no words"),
        (("--always", "--approve", "yes"), "--always takes no words"),
        (("--approve", "No"), "contradict"),
        (("--deny", "yes"), "contradict"),
        (("1", "-i"), "--interactive asks"),
        (("--interactive", "--approve"), "--interactive asks"),
        (("--interactive", "--always"), "--interactive asks"),
    ],
)
def test_what_contradicts_itself_is_refused_before_anybody_hears_of_it(words, said, monkeypatch):
    monkeypatch.setattr(people, "connect", lambda _: pytest.fail("it was sent"))

    done = CliRunner().invoke(people.app, ["respond", "16", *words])

    assert isinstance(done.exception, PerpetualError)
    assert said in done.exception.message
    assert done.exception.hint


class Waits:
    """A daemon in which these requests wait."""

    def __init__(self, *numbers: int) -> None:
        self._waiting = [{"number": number} for number in numbers]

    def call(self, method, *, session):
        assert (method, session) == ("escalation.list", "night")
        return self._waiting


def test_a_request_may_be_named_by_the_session_that_waits_for_its_answer():
    assert [the_request(Waits(), typed) for typed in ("7", "#7", " 7 ")] == [7, 7, 7]
    assert the_request(Waits(3), "night") == 3
    with pytest.raises(Mistyped, match="Nothing of session 'night' waits"):
        the_request(Waits(), "night")
    with pytest.raises(Mistyped, match="2 requests of session 'night'") as several:
        the_request(Waits(3, 5), "night")
    assert several.value.hint == ("Say which by its number (3, 5): pcc respond 3 --interactive")


@pytest.mark.parametrize(
    ("questions", "hint"),
    [(1, "pcc respond 4 'Half even'"), (3, 'pcc respond 4 "…" "…"')],
)
def test_an_answer_without_its_quotes_is_shown_with_them(questions, hint):
    class Daemon:
        def call(self, _method, **_params):
            asked = [{"question": str(n), "options": []} for n in range(questions)]
            return {"type": "question", "title": "Which?", "raw": {"questions": asked}}

    with pytest.raises(PerpetualError) as caught:
        people._given(Daemon(), 4, ["Half", "even"])

    assert caught.value.hint == f"Words that belong together in quotes: {hint}"


@pytest.mark.parametrize(
    ("answer", "is_own"),
    [("Yess", True), ("Yes", False), ("No (option 2)", False), ("Something else", True)],
)
def test_an_answer_that_is_no_option_is_called_ones_own(answer, is_own):
    options = [{"label": "Yes"}, {"label": "No"}]
    settled = {
        "type": "question", "title": "Go on?", "answer": answer,
        "raw": {"questions": [{"question": "Go on?", "options": options}]},
    }  # fmt: skip

    assert people._is_in_own_words(settled) is is_own
    assert not people._is_in_own_words(settled | {"type": "permission"})
    free = {"raw": {"questions": [{"question": "Go on?", "options": []}]}}
    assert not people._is_in_own_words(settled | free)
