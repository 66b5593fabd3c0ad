"""Which run is ended for the memory that it holds."""

import pytest

from perpetualcc.domain.ids import RunId
from perpetualcc.sessions.run_memory import Resident, outgrown
from perpetualcc.sessions.settings import LoadSettings
from perpetualcc.sessions.system_load import Memory, within_group

GB = 1_000_000_000
CASES = [
    # what the runs hold, what is left, of 16 GB; the settings; who is ended
    ({"a": 7, "b": 1}, 8, {}, []),
    ({"a": 9, "b": 1}, 6, {}, ["a"]),
    ({"a": 9, "b": 9}, 1, {}, ["a", "b"]),
    ({"a": 5, "b": 6}, 0.5, {}, ["b"]),
    ({"a": 0.4, "b": 1.2}, 0.5, {}, []),  # somebody else has it: to end them would save nobody
    ({}, 0.1, {}, []),
    ({"a": 15}, 0.5, {"run_memory": 0.0}, ["a"]),
    ({"a": 15}, 0.5, {"run_memory": 0.0, "least_memory": 0.0}, []),
    ({"a": 3}, 8, {"run_memory": 0.1}, ["a"]),
]


@pytest.mark.parametrize(("held", "left", "settings", "ended"), CASES)
def test_who_holds_too_much_is_ended(held, left, settings, ended):
    runs = {
        RunId(name): [Resident(1, int(size * GB), "node"), Resident(2, 1000, "sh")]
        for name, size in held.items()
    }

    found = outgrown(runs, Memory(16 * GB, int(left * GB)), LoadSettings(**settings))

    assert [one.run for one in found] == ended


def test_it_is_said_what_held_the_most_and_which_setting_says_so():
    runs = {RunId("r"): [Resident(1, 4 * 10**8, "Claude Code itself"), Resident(2, 9 * GB, "tox")]}

    [found] = outgrown(runs, Memory(16 * GB, 6 * GB), LoadSettings())
    [starved] = outgrown(runs, Memory(16 * GB, 10**8), LoadSettings(run_memory=1.0))

    assert found.largest.pid == 2
    assert found.text == (
        "The run held 9.4 GB of memory, the most in tox (9.0 GB); load.run_memory is 50% of 16.0 GB"
    )
    assert starved.text.endswith("in tox (9.0 GB); only 100 MB of 16.0 GB were left")


def test_the_least_that_a_control_group_leaves_is_what_there_is(tmp_path):
    inner = tmp_path / "user.slice" / "app.scope"
    inner.mkdir(parents=True)
    for group, most, current, files in (
        (inner, "max", 3 * GB, GB),
        (inner.parent, 4 * GB, 3 * GB, GB),
    ):
        (group / "memory.max").write_text(f"{most}\n")
        (group / "memory.current").write_text(f"{current}\n")
        (group / "memory.stat").write_text(f"anon 5\ninactive_file {files}\n")
    machine = Memory(16 * GB, 9 * GB)

    found = within_group(machine, "1:cpu:/\n0::/user.slice/app.scope\n", tmp_path)

    assert found == Memory(4 * GB, 2 * GB)
    assert within_group(machine, "4:cpu,cpuset:/user.slice/app.scope\n", tmp_path) == machine
    assert within_group(machine, "0::/../elsewhere\n", tmp_path) == machine


def test_the_first_version_of_control_groups_says_it_in_other_files(tmp_path):
    inner = tmp_path / "memory" / "docker" / "abc"
    inner.mkdir(parents=True)
    unlimited = 9223372036854771712
    for group, most, current in ((inner, 4 * GB, 3 * GB), (inner.parent.parent, unlimited, 9 * GB)):
        (group / "memory.limit_in_bytes").write_text(f"{most}\n")
        (group / "memory.usage_in_bytes").write_text(f"{current}\n")
        (group / "memory.stat").write_text(f"inactive_file 5\ntotal_inactive_file {GB}\n")
    machine = Memory(16 * GB, 9 * GB)

    found = within_group(machine, "4:memory:/docker/abc\n0::/\n", tmp_path)

    assert found == Memory(4 * GB, 2 * GB)
    (inner.parent.parent / "memory.limit_in_bytes").write_text(f"{3 * GB}\n")
    (inner.parent.parent / "memory.usage_in_bytes").write_text(f"{2 * GB}\n")
    in_a_container = within_group(machine, "4:memory:/elsewhere/abc\n", tmp_path)
    assert in_a_container == Memory(3 * GB, 2 * GB), "its own group is mounted at the top"
