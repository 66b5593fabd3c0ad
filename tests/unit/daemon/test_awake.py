"""What keeps the machine awake, on a stand-in for the system's program."""

import os
import time
from pathlib import Path

import pytest

from perpetualcc.claude.processes import is_alive
from perpetualcc.cli import awake as words
from perpetualcc.daemon.awake import (
    AT_WORK,
    LONGEST_WAIT,
    NOTHING,
    Awake,
    Way,
    on_battery,
    read_wakefulness,
    ways,
)
from perpetualcc.daemon.state import hold
from perpetualcc.domain.locations import Locations

# As systemd-inhibit does: it takes the lock, or says why not, and runs what it is given.
INHIBITS = """#!/bin/sh
echo "$$ $*" >> "{folder}/calls"
while [ "${{1#--}}" != "$1" ]; do shift; done
"$@"
"""
REFUSES = """#!/bin/sh
echo "$$ $*" >> "{folder}/calls"
printf 'Failed to inhibit: \\033[31mAccess denied\\n' >&2
exit 1
"""
FORGETS = """#!/bin/sh
echo "$$ $*" >> "{folder}/calls"
exec sleep 60
"""


@pytest.fixture
def made(tmp_path):
    held = []

    def make(script: str, *, battery: bool = False) -> tuple[Awake, list[str]]:
        program, lines = tmp_path / "inhibits", []
        program.write_text(script.format(folder=tmp_path))
        program.chmod(0o700)
        way = Way("inhibits", (str(program), "--what=idle", "cat"))
        note = tmp_path / "awake"
        awake = Awake(note=note, log=lines.append, ways=[way], battery=lambda: battery)
        held.append(awake)
        return awake, lines

    yield make
    for awake in held:
        awake.close()


def calls(folder: Path) -> list[str]:
    file = folder / "calls"
    return file.read_text().splitlines() if file.exists() else []


def settled(awake: Awake, goes_on: float, *, until) -> None:
    """Look again until it is so: a process takes its time."""
    deadline = time.monotonic() + 20
    awake.settle(goes_on)
    while not until():
        assert time.monotonic() < deadline
        time.sleep(0.02)
        awake.settle(goes_on)


def test_it_is_held_while_work_is_at_hand_and_ends_with_it(made, tmp_path):
    awake, lines = made(INHIBITS)

    settled(awake, AT_WORK, until=lambda: calls(tmp_path))
    awake.settle(AT_WORK)

    [call] = calls(tmp_path)
    pid, arguments = call.split(" ", 1)
    assert arguments == "--what=idle cat"
    assert read_wakefulness(awake.note).held_by == "inhibits"
    awake.settle(NOTHING)
    assert not is_alive(int(pid))
    assert read_wakefulness(awake.note).held_by == ""
    assert lines == []


@pytest.mark.parametrize(
    ("ahead", "battery", "is_held"),
    [
        (-60, False, True),
        (-60, True, True),
        (5 * 3600, False, True),
        (5 * 3600, True, False),
        (LONGEST_WAIT + 60, False, False),
        (NOTHING, False, False),
    ],
)
def test_a_wait_keeps_it_awake_within_a_day_and_on_no_battery(made, ahead, battery, is_held):
    awake, _ = made(INHIBITS, battery=battery)

    awake.settle(time.time() + ahead)

    assert bool(read_wakefulness(awake.note).held_by) is is_held


def test_what_is_refused_is_said_once_and_never_asked_again(made, tmp_path):
    awake, lines = made(REFUSES)

    settled(awake, AT_WORK, until=lambda: lines)
    for goes_on in (NOTHING, AT_WORK, AT_WORK):
        awake.settle(goes_on)

    said = "Failed to inhibit:  [31mAccess denied"
    assert lines == [f"the machine cannot be kept awake with inhibits: {said}"]
    assert len(calls(tmp_path)) == 1
    assert read_wakefulness(awake.note).trouble == f"inhibits: {said}"


def test_a_program_that_is_not_there_is_said_once(tmp_path):
    lines = []
    missing = [Way("inhibits", (str(tmp_path / "inhibits"), "cat"))]
    awake = Awake(note=tmp_path / "no" / "awake", log=lines.append, ways=missing)

    awake.settle(AT_WORK)
    awake.settle(AT_WORK)

    said = "the machine cannot be kept awake with inhibits: No such file or directory"
    assert lines == [said]


def test_one_that_heeds_no_pipe_is_killed(made, tmp_path):
    awake, _ = made(FORGETS)
    settled(awake, AT_WORK, until=lambda: calls(tmp_path))
    [call] = calls(tmp_path)

    awake.settle(NOTHING)

    assert not is_alive(int(call.split()[0]))


def test_one_that_was_ended_after_it_held_for_long_is_started_again(made, tmp_path):
    awake, lines = made(INHIBITS)
    settled(awake, AT_WORK, until=lambda: calls(tmp_path))
    [holder] = awake._holders
    holder.since -= 3600

    os.killpg(holder.process.pid, 9)

    settled(awake, AT_WORK, until=lambda: len(calls(tmp_path)) == 2)
    assert lines == []


@pytest.mark.parametrize(
    ("platform", "desktop", "is_wsl", "first_words"),
    [
        ("linux", "", False, [["systemd-inhibit", "--what=idle"]]),
        ("linux", "KDE", False, [["systemd-inhibit", "--what=idle"]]),
        (
            "linux",
            "ubuntu:GNOME",
            False,
            [["systemd-inhibit", "--what=idle"], ["gnome-session-inhibit", "--inhibit"]],
        ),
        ("linux", "", True, []),
        ("darwin", "", False, [["caffeinate", "-i"]]),
        ("freebsd14", "", False, []),
    ],
)
def test_each_system_has_its_own_way(platform, desktop, is_wsl, first_words):
    found = ways(platform, {"XDG_CURRENT_DESKTOP": desktop}, is_wsl=is_wsl)

    assert [list(one.command[:2]) for one in found] == first_words
    assert all(one.command[-1] == "cat" for one in found)


@pytest.mark.parametrize(
    ("supplies", "is_so"),
    [
        ({}, False),
        ({"AC": {"type": "Mains", "online": "1"}, "BAT0": {"type": "Battery"}}, False),
        ({"AC": {"type": "Mains", "online": "0"}, "BAT0": {"type": "Battery"}}, True),
        ({"BAT0": {"type": "Battery"}, "usb": {"type": "USB", "online": "1"}}, False),
        ({"mouse": {"type": "Battery", "scope": "Device"}}, False),
    ],
)
def test_only_the_machines_own_battery_counts(supplies, is_so, tmp_path):
    for name, told in supplies.items():
        (tmp_path / name).mkdir()
        for file, text in told.items():
            (tmp_path / name / file).write_text(f"{text}\n")

    assert on_battery(tmp_path, "linux") is is_so


def test_what_a_person_is_told(tmp_path, monkeypatch):
    locations = Locations(data=tmp_path).prepare()
    monkeypatch.setattr(words, "is_below_windows", lambda: False)
    monkeypatch.setattr(words, "which", lambda _name: "/usr/bin/it")

    def told(note: str) -> tuple[list[tuple[str, str]], list[tuple[bool, str]]]:
        locations.awake.write_text(note)
        findings = list(words.awake_findings(locations, is_wanted=True))
        return list(words.awake_lines(locations)), findings

    assert told("yes systemd-inhibit")[0] == []  # of a supervisor that is gone
    lock = hold(locations.supervisor_lock)
    held, refused, idle = told("yes it"), told("no it: Access denied"), told("idle")
    assert list(words.awake_findings(locations, is_wanted=False)) == []
    monkeypatch.setattr(words, "is_below_windows", lambda: True)
    windows = told("idle")[1]
    os.close(lock)

    assert held[0] == [("Awake", "the machine is kept from falling asleep (it)")]
    assert held[1] == [(True, "Awake: kept by it")]
    assert refused[0] == [("Awake", "the machine may fall asleep: it: Access denied")]
    assert refused[1][0][0] is False
    assert idle == ([], [(True, idle[1][0][1])])
    assert windows == [(False, f"Awake: {words.WINDOWS}")]


@pytest.mark.parametrize("name", ["inhibits", "cat"])
def test_what_a_project_has_under_that_name_is_not_run(tmp_path, monkeypatch, name):
    project, system = tmp_path / "project", tmp_path / "system"
    for place, text in ((project / "bin", "theirs"), (system, "ours")):
        place.mkdir(parents=True)
        for one in ("inhibits", "cat"):
            run = '"$@"' if one == "inhibits" else ""
            told = f'echo {text} >> "{tmp_path}/{one}"\n'
            (place / one).write_text(f"#!/bin/sh\n{told}{run}\n")
            (place / one).chmod(0o700)
    (project / ".git").mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setenv("PATH", f"bin:{project}/bin::{system}:{os.environ['PATH']}")
    awake = Awake(
        note=tmp_path / "awake", log=lambda _: None, ways=[Way("inhibits", ("inhibits", "cat"))]
    )

    settled(awake, AT_WORK, until=(tmp_path / name).exists)
    awake.close()

    assert (tmp_path / name).read_text() == "ours\n"
