"""Hooks in settings.json: added beside everything else, removed to the byte."""

import json
import subprocess

import pytest

from perpetualcc.learning.install import (
    EVENTS,
    SettingsUnreadable,
    command,
    install,
    uninstall,
)
from perpetualcc.learning.places import Places

SETTINGS = [
    b"{}",
    b'{"model":"opus"}',
    b'{\n\t"env": {"A": "\xc3\xa9"},\n\t"hooks": {"Stop": [{"hooks": []}]}\n}\n',
    b'{\n    "hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "x"}]}]}}',
    b"",
    b'\xef\xbb\xbf{ "a" : 1e3 }\r\n',
    b'{"half a character": "\\ud800"}\n',
]


@pytest.fixture
def places(tmp_path):
    made = Places(claude=tmp_path / "claude")
    made.claude.mkdir()
    return made


@pytest.mark.parametrize("before", SETTINGS)
def test_uninstall_leaves_the_settings_to_the_byte(places, before):
    places.settings.write_bytes(before)

    install(places)
    after = json.loads(places.settings.read_text(encoding="utf-8"))
    uninstall(places)

    assert all(len(after["hooks"][event]) >= 1 for event in EVENTS)
    assert places.settings.read_bytes() == before


def test_settings_that_were_not_there_are_gone_again(places):
    install(places)
    uninstall(places)

    assert not places.settings.exists()


def test_twice_is_once(places):
    install(places)
    first = places.settings.read_bytes()

    assert install(places).was_there
    assert places.settings.read_bytes() == first


def test_what_the_user_changed_since_stays(places):
    places.settings.write_text('{"model": "opus"}')
    install(places)
    changed = json.loads(places.settings.read_text())
    changed["model"] = "sonnet"
    changed["hooks"]["Stop"] = [{"hooks": [{"type": "command", "command": "mine"}]}]
    places.settings.write_text(json.dumps(changed))

    uninstall(places)

    left = json.loads(places.settings.read_text())
    assert left == {
        "model": "sonnet",
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]},
    }


@pytest.mark.parametrize(
    "bad",
    [b'{"a": 1} // note', b"/* */ {}", b"{", b"[]", b"\xff\xfe", b'{"hooks": []}',
     b'{"hooks": {"SessionStart": {}}}', b'{"a": 1e400}', b'{"a": NaN}'],
)  # fmt: skip
def test_settings_that_cannot_be_read_are_left_alone(places, bad):
    places.settings.write_bytes(bad)

    with pytest.raises(SettingsUnreadable) as error:
        install(places)

    assert error.value.hint
    assert places.settings.read_bytes() == bad


def test_a_dotfiles_link_stays_a_link(places, tmp_path):
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    places.settings.symlink_to(real)

    install(places)

    assert places.settings.is_symlink()
    assert "hooks" in json.loads(real.read_text())


def test_with_our_package_deleted_the_command_does_nothing():
    line = command("UserPromptSubmit").replace("/learning/hooks/", "/deleted/")

    done = subprocess.run(["sh", "-c", line], input=b"{}", capture_output=True, check=True)

    assert (done.stdout, done.stderr) == (b"", b"")
