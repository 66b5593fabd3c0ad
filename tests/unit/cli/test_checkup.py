"""`pcc doctor` says what would keep sessions from starting."""

import os

import pytest

from perpetualcc.brain.settings import BrainSettings, BrainType, GeminiSettings, OllamaSettings
from perpetualcc.cli import checkup
from perpetualcc.config.file import Config
from perpetualcc.daemon.units import unit_for_this_system
from perpetualcc.domain.locations import Locations
from perpetualcc.human.notifications.settings import NotificationSettings


@pytest.mark.parametrize(
    ("brain", "found"),
    [
        (BrainSettings(), []),
        (BrainSettings(type=BrainType.CLAUDE), [(True, "Brain: claude")]),
        (
            BrainSettings(type=BrainType.OLLAMA, ollama=OllamaSettings(model="tiny")),
            [(True, "Brain: ollama")],
        ),
    ],
)
def test_a_brain_that_sessions_can_have_is_named(brain, found):
    assert list(checkup._brain(Config(brain=brain))) == found


@pytest.mark.parametrize(
    "brain",
    [
        BrainSettings(type=BrainType.OLLAMA),
        BrainSettings(type=BrainType.GEMINI, gemini=GeminiSettings(api_key="env:NOWHERE_SET")),
    ],
)
def test_one_that_no_session_could_have_is_told_with_what_to_do(brain):
    [(is_well, text)] = checkup._brain(Config(brain=brain))

    assert not is_well
    assert "pcc config brain" in text or "export NOWHERE_SET" in text


@pytest.mark.parametrize(("given", "is_said"), [("1", True), ("true", True), ("0", False)])
def test_conversations_that_the_environment_forbids_to_keep_are_told(
    given, is_said, monkeypatch, tmp_path
):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("CLAUDE_CODE_SKIP_PROMPT_HISTORY", given)

    found = list(checkup._conversations())

    assert [is_well for is_well, _ in found] == [False] * is_said
    assert all("CLAUDE_CODE_SKIP_PROMPT_HISTORY is set" in text for _, text in found)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (NotificationSettings(urls=("env:OUR_HOOK", "env:TEAM_HOOK")), ["OUR_HOOK not set"]),
        (NotificationSettings(urls=("env:TEAM_HOOK", "json://127.0.0.1:1/")), []),
        (NotificationSettings(urls=("env:OUR_HOOK",), enabled=False), []),
        (NotificationSettings(), []),
    ],
)
def test_an_address_that_neither_terminal_nor_daemon_knows_is_told(settings, said):
    found = list(checkup._notifications(Config(notifications=settings), {"TEAM_HOOK"}))

    assert [is_well for is_well, _ in found] == [False] * len(said)
    assert all(word in text for word, (_, text) in zip(said, found, strict=True))
    assert all("pcc daemon restart" in text for _, text in found)


def test_what_sends_notifications_and_is_not_installed_is_told(monkeypatch):
    monkeypatch.setattr(checkup, "find_spec", lambda _name: None)
    settings = Config(notifications=NotificationSettings(urls=("json://127.0.0.1:1/",)))

    [(is_well, text)] = checkup._notifications(settings, {})

    assert not is_well
    assert "perpetualcc[notify]" in text


@pytest.mark.parametrize(
    ("name", "make", "told"),
    [
        ("run", os.mkfifo, "is no directory"),
        ("logs", lambda path: path.write_text(""), "is no directory"),
        ("run/supervisor.lock", os.mkdir, "is no file"),
        ("run/engine.lock", os.mkfifo, "is no file"),
        ("run/engine.lock", lambda path: path.write_text("99999\n"), ""),
        ("logs/engine.log", os.mkfifo, ""),
    ],
)
def test_what_keeps_the_daemon_from_beginning_is_told(tmp_path, name, make, told):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    make(path)

    is_well, text = checkup._data(Locations(data=tmp_path))

    assert is_well == (not told)
    assert told in text
    assert not told or f"'{path}'" in text


def test_a_data_directory_with_a_path_too_long_for_a_socket_is_told(tmp_path):
    is_well, text = checkup._data(Locations(data=tmp_path / ("d" * 120)))

    assert not is_well
    assert "--data-dir" in text


def test_that_a_restart_of_the_machine_ends_the_daemon_is_told_where_no_service_starts_it(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    places = Locations(data=tmp_path / "data")
    unit = unit_for_this_system(places, home=tmp_path, config=tmp_path / "config", variables={})

    is_well, told = checkup._daemon(places)
    unit.path.parent.mkdir(parents=True)
    unit.path.touch()

    assert is_well
    assert told.endswith("; a restart of the machine ends it: pcc daemon install")
    assert "restart" not in checkup._daemon(places)[1]
