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
