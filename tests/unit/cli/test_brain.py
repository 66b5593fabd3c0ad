"""`pcc brain ask` asks the brain that a session would have, with the person's settings."""

import pytest
from typer.testing import CliRunner

from perpetualcc.cli.main import app
from perpetualcc.domain.errors import PerpetualError
from tests.fakes.model_server import model_server


@pytest.fixture
def server():
    with model_server() as state:
        state.reply = {"labels": ["Wide"], "confidence": 0.8, "reasoning": "Perhaps", "quote": ""}
        yield state


@pytest.fixture
def ask(tmp_path, monkeypatch):
    file = tmp_path / "mine.toml"
    monkeypatch.setenv("PERPETUALCC_CONFIG", str(file))

    def run(*options, settings):
        file.write_text(settings)
        typed = ["brain", "ask", "How wide?", "-o", "Wide", "-o", "Narrow", *options]
        done = CliRunner().invoke(app, typed)
        if isinstance(done.exception, PerpetualError):
            raise done.exception
        return done.output

    return run


def test_a_model_is_asked_with_the_settings(ask, server):
    settings = f'[brain.ollama]\nhost = "{server.url}"\nmodel = "tiny"\n'

    assert ask("--brain", "ollama", settings=settings).startswith("Wide\n")


def test_an_option_goes_before_the_setting(ask, server):
    settings = '[brain.ollama]\nhost = "http://127.0.0.1:1"\nmodel = "huge"\n'

    said = ask("--brain", "ollama", "--host", server.url, "--model", "tiny", settings=settings)

    assert said.startswith("Wide\n")


def test_what_a_session_would_not_be_sure_of_is_no_answer(ask, server):
    settings = f'[brain.ollama]\nhost = "{server.url}"\nmodel = "tiny"\n'

    said = ask("--brain", "ollama", settings=f"[brain]\nconfidence_threshold = 0.9\n{settings}")

    assert said.startswith("A person must decide\nconfidence 0.80: Perhaps Wide. ")


def test_a_file_with_a_mistake_is_told_of(ask):
    with pytest.raises(PerpetualError, match="max_concurent"):
        ask(settings="[sessions]\nmax_concurent = 3\n")
