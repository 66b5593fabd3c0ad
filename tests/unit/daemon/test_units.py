"""Service units hold any path, and are undone by what they name."""

import os
import plistlib
import shutil
import subprocess
from pathlib import Path

import pytest

from perpetualcc.config import user_configuration
from perpetualcc.daemon.units import Service, ServiceUnit, launchd_agent, systemd_unit
from perpetualcc.domain.locations import Locations

NASTY = Path('/home/ann/My "$HOME" %h \\ data')


def systemd(places: Locations, home: Path, path: str = "/usr/bin") -> ServiceUnit:
    return systemd_unit(places, home=home, config=home / ".config", variables={"PATH": path})


def test_the_usual_unit_as_text() -> None:
    home = Path("/home/ann")
    places = Locations(data=home / ".perpetualcc" / "data")

    unit = systemd(places, home, "/usr/bin:/bin")

    python = Service.DAEMON.command_line(places)[0]
    assert unit.path == home / ".config/systemd/user/perpetualcc.service"
    assert (
        unit.text
        == f"""\
[Unit]
Description=PerpetualCC keeps Claude Code working

[Service]
Type=exec
ExecStart="{python}" "-P" "-m" "perpetualcc.daemon.supervisor" "--data-dir" "{places.data}"
Environment="PATH=/usr/bin:/bin"
KillMode=mixed
TimeoutStopSec=45
Restart=on-failure
RestartSec=5

[Install]
WantedBy=default.target
"""
    )


def test_nothing_in_a_path_is_expanded_by_systemd() -> None:
    unit = systemd(Locations(data=NASTY), Path("/home/ann"), "/a%b")

    assert r'"/home/ann/My \"$$HOME\" %%h \\ data"' in unit.text
    assert 'Environment="PATH=/a%%b"' in unit.text


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is missing")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    unit = systemd(Locations(data=NASTY), tmp_path)
    file = tmp_path / unit.path.name
    file.write_text(unit.text)

    done = subprocess.run(
        ["systemd-analyze", "--user", "verify", str(file)],
        capture_output=True, text=True, check=False, env={"XDG_RUNTIME_DIR": str(tmp_path)},
    )  # fmt: skip

    assert file.name not in done.stderr, done.stderr


def test_the_unit_is_where_the_person_keeps_configuration_and_is_named_by_its_path(
    tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    places = Locations(data=tmp_path / ".perpetualcc/data")
    for named, config in [
        ("/etc/mine", "/etc/mine"),
        ("relative", tmp_path / ".config"),
        ("", tmp_path / ".config"),
    ]:
        monkeypatch.setenv("XDG_CONFIG_HOME", named)

        unit = systemd_unit(places, home=tmp_path, config=user_configuration(), variables={})

        assert unit.path == Path(config) / "systemd/user/perpetualcc.service"
        assert unit.enable[-1][-1] == str(unit.path)


def test_another_data_directory_has_a_unit_of_its_own() -> None:
    home = Path("/home/ann")

    names = {
        systemd(Locations(data=home / name), home).path.name
        for name in ("a", "b", ".perpetualcc/data")
    }

    assert len(names) == 3


def test_the_agent_of_macos_is_a_property_list_with_a_fixed_argument_list() -> None:
    places = Locations(data=NASTY)

    unit = launchd_agent(places, home=Path("/Users/ann"), variables={"PATH": "/usr/bin"})
    agent = plistlib.loads(unit.text.encode())

    assert unit.path.parent == Path("/Users/ann/Library/LaunchAgents")
    assert agent["ProgramArguments"] == Service.DAEMON.command_line(places)
    assert agent["KeepAlive"] == {"SuccessfulExit": False}
    assert agent["Label"] == unit.path.stem
    assert agent["ProcessType"] == "Interactive"


LAUNCHCTL = """#!/bin/sh
# As launchctl(1): jobs are files; what is not there, or is there already, is an error.
cd "$(dirname "$0")" || exit 1
echo "$*" >> asked
case $1 in
    print) [ -e "jobs/${2##*/}" ] ;;
    bootstrap) [ ! -e "jobs/$(basename "$3" .plist)" ] && touch "jobs/$(basename "$3" .plist)" ;;
    bootout) rm "jobs/${2##*/}" ;;
    enable) true ;;
    *) exit 64 ;;
esac
"""


def test_the_agent_of_macos_is_switched_by_what_its_launchctl_says(
    tmp_path: Path, monkeypatch
) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "launchctl").write_text(LAUNCHCTL)
    (tmp_path / "launchctl").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    unit = launchd_agent(Locations(data=NASTY), home=tmp_path, variables={})
    job = f"gui/{os.getuid()}/{unit.path.stem}"

    def run(commands: list[list[str]]) -> None:
        for command in commands:
            subprocess.run(command, check=True)

    assert not unit.can_be_switched()  # nobody is logged in at the screen
    (tmp_path / "jobs" / str(os.getuid())).touch()
    assert unit.can_be_switched()
    assert unit.disabling() == []
    run(unit.enabling())
    assert unit.enabling() == []
    run(unit.disabling())
    assert unit.disabling() == []
    asked = (tmp_path / "asked").read_text().splitlines()
    assert [line for line in asked if not line.startswith("print")] == [
        f"enable {job}", f"bootstrap gui/{os.getuid()} {unit.path}", f"bootout {job}"
    ]  # fmt: skip


@pytest.mark.parametrize("make", [systemd_unit, launchd_agent])
def test_the_dashboard_is_a_service_beside_the_daemon(make) -> None:
    home = Path("/home/ann")
    places = Locations(data=home / ".perpetualcc" / "data")
    more = {"config": home / ".config"} if make is systemd_unit else {}

    units = [make(places, home=home, variables={}, service=one, **more) for one in Service]

    assert units[0].path.stem == "perpetualcc"
    assert units[1].path.stem == "perpetualcc-dashboard"
    words = Service.DASHBOARD.command_line(places)
    assert words[3:] == [
        "perpetualcc",
        "--data-dir",
        str(places.data),
        "dashboard",
        "--for-devices",
    ]
    assert all(word in units[1].text for word in words)
