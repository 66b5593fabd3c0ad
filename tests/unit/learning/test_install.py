"""Hooks in settings.json: added beside everything else, removed to the byte."""

import json
import os
import subprocess

import pytest

from perpetualcc.learning.health import describe, examine
from perpetualcc.learning.install import (
    EVENTS,
    SettingsUnreadable,
    command,
    install,
    is_installed,
    trouble_with_hooks,
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


def moved(places, monkeypatch):
    """Install the hooks of a package that is at another place by now."""
    with monkeypatch.context() as patch:
        patch.setattr("perpetualcc.learning.install.command", lambda event: f"/old{command(event)}")
        install(places)


def test_a_file_that_the_user_wrote_after_ours_was_emptied_is_never_deleted(places):
    install(places)
    places.settings.write_text('{"env": {"A": "mine"}}')

    install(places)
    uninstall(places)

    assert places.settings.read_text() == '{"env": {"A": "mine"}}'


def test_what_the_user_added_before_the_package_moved_stays(places, monkeypatch):
    places.settings.write_text('{"model": "opus"}')
    moved(places, monkeypatch)
    settings = json.loads(places.settings.read_text())
    places.settings.write_text(json.dumps({**settings, "env": {"A": "mine"}}))

    install(places)
    uninstall(places)

    assert json.loads(places.settings.read_text()) == {"model": "opus", "env": {"A": "mine"}}


def test_a_package_that_moved_still_gives_the_settings_back_to_the_byte(places, monkeypatch):
    places.settings.write_bytes(b'{ "model" : "opus" }')
    moved(places, monkeypatch)

    install(places)
    uninstall(places)

    assert places.settings.read_bytes() == b'{ "model" : "opus" }'


def test_a_hook_of_the_user_in_our_group_stays_and_ours_goes(places):
    install(places)
    settings = json.loads(places.settings.read_text())
    settings["hooks"]["UserPromptSubmit"][0]["hooks"].insert(0, {"type": "command", "command": "x"})
    places.settings.write_text(json.dumps(settings))

    assert install(places).was_there
    uninstall(places)

    assert json.loads(places.settings.read_text()) == {
        "hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "x"}]}]}
    }


def test_hooks_that_are_there_twice_are_there_once_after_an_installation(places):
    install(places)
    settings = json.loads(places.settings.read_text())
    settings["hooks"]["UserPromptSubmit"] *= 2
    places.settings.write_text(json.dumps(settings))

    install(places)

    assert places.settings.read_text().count("capture.sh prompt") == 1


def test_settings_that_cannot_be_written_leave_no_sign_of_an_installation(places, monkeypatch):
    places.settings.write_text("{}")
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.replace", refuse)
        with pytest.raises(SettingsUnreadable):
            install(places)

    assert not is_installed(places)
    assert {one.name for one in places.claude.iterdir()} == {"settings.json", "learning"}
    assert not (places.home / "installed.json").exists()


def refuse(path, target):
    if target.name == "settings.json":
        raise OSError(28, "No space left on device")
    return path.rename(target)


def test_an_uninstallation_that_failed_can_be_done_again_to_the_byte(places):
    places.settings.write_bytes(b'{ "a" : 1 }')
    install(places)
    ours = places.settings.read_bytes()
    places.settings.write_text("{broken")
    with pytest.raises(SettingsUnreadable):
        uninstall(places)
    places.settings.write_bytes(ours)

    assert uninstall(places)
    assert places.settings.read_bytes() == b'{ "a" : 1 }'


def test_settings_made_through_a_link_are_gone_and_the_link_stays(places, tmp_path):
    places.settings.symlink_to(tmp_path / "dotfiles.json")

    install(places)
    uninstall(places)

    assert places.settings.is_symlink()
    assert not (tmp_path / "dotfiles.json").exists()


@pytest.mark.parametrize("text", [None, "{}", "{broken", '{"hooks": null}'])
def test_hooks_that_a_person_took_out_are_not_called_installed(places, text):
    install(places)
    assert examine(places).is_installed
    if text is None:
        places.settings.unlink()
    else:
        places.settings.write_text(text)

    assert not examine(places).is_installed


def test_hooks_that_claude_code_is_told_not_to_run_are_called_off(places):
    places.settings.write_text('{"disableAllHooks": true}')
    install(places)

    told = describe(examine(places))

    assert "Hooks: installed, but disableAllHooks is on" in told
    assert "take disableAllHooks out" in told


def test_what_waits_since_a_stop_wakes_whoever_watches_the_queue(places):
    places.make()
    places.queue.write_text("{}\n")
    os.utime(places.queue, (1, 1))
    install(places)

    assert places.queue.stat().st_mtime == 1

    places.stopped.touch()
    install(places)

    assert places.queue.stat().st_mtime > 1


def test_hooks_that_do_nothing_any_more_are_told_and_mended_by_an_installation(places, monkeypatch):
    assert trouble_with_hooks(places) == ""
    install(places)
    assert trouble_with_hooks(places) == ""

    settings = json.loads(places.settings.read_text())
    del settings["hooks"]["SessionEnd"]
    places.settings.write_text(json.dumps(settings))
    half = trouble_with_hooks(places)
    assert f"Hooks: {half}" in describe(examine(places))
    install(places)
    moved(places, monkeypatch)
    elsewhere = trouble_with_hooks(places)
    places.settings.write_text("{")

    assert half.endswith("pcc learn install")
    assert elsewhere == half
    assert "Mend the file" in trouble_with_hooks(places)
