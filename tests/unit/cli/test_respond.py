"""What contradicts itself is no answer."""

import pytest
from typer.testing import CliRunner

from perpetualcc.cli import people
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
