"""Which brains the sessions of an engine have."""

from pathlib import Path

import pytest

from perpetualcc.brain.settings import BrainSettings, OllamaSettings
from perpetualcc.daemon.minds import Minds
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.locations import Locations
from perpetualcc.domain.sessions import SessionOptions

OPTIONS = SessionOptions(brain="ollama")


def minds(folder: Path, **settings: object) -> Minds:
    return Minds(BrainSettings(**settings), Locations(data=folder), lambda *_: None)


def test_a_second_brain_without_its_key_costs_nobody_the_first(tmp_path, monkeypatch):
    """As in a daemon that starts at login, and has nothing of a terminal's environment."""
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    found = minds(tmp_path, ollama=OllamaSettings(model="tiny"), second="gemini")

    assert found._of(OPTIONS).brain.name == "ollama"
    with pytest.raises(PerpetualError, match="Gemini"):
        found.check(OPTIONS)


@pytest.mark.parametrize("second", ["", "claude"])
def test_a_first_brain_that_cannot_be_had_is_none(second, tmp_path):
    with pytest.raises(PerpetualError, match="no model"):
        minds(tmp_path, second=second)._of(OPTIONS)
