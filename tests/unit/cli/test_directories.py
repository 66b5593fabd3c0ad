"""A project that is none is the same mistake in every command."""

import pytest
from typer.testing import CliRunner

from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.main import app
from perpetualcc.domain.errors import PerpetualError


@pytest.mark.parametrize(
    "words",
    [
        ["trust", "PLACE"],
        ["init", "PLACE"],
        ["search", "PLACE", "words"],
        ["graph", "PLACE", "name"],
        ["context", "PLACE", "a.py"],
        ["rehearse", "demo", "--project", "PLACE"],
        ["rules", "add", "allow", "command", "make", "--project", "PLACE"],
        ["memory", "facts", "PLACE"],
        ["learn", "remember", "Use tabs", "--project", "PLACE"],
        ["learn", "import", "rules.json", "--project", "PLACE"],
        ["explain", "bash", "ls", "--project", "PLACE"],
        ["brain", "ask", "Which one?", "--project", "PLACE"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
@pytest.mark.parametrize("kind", ["nothing", "a file", "no name at all"])
def test_what_is_no_directory_is_said_alike(words, kind, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    place = tmp_path / ("place" * 100 if kind == "no name at all" else "place")
    if kind == "a file":
        place.touch()

    ended = CliRunner().invoke(app, [str(place) if word == "PLACE" else word for word in words])

    assert isinstance(ended.exception, PerpetualError)
    assert not isinstance(ended.exception, Mistyped), "code 1: it is an error with a hint"
    assert ended.exception.message == f"Project path '{place}' is not a directory"
    assert ended.exception.hint == "Name an existing directory"
