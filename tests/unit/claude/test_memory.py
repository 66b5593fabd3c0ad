"""What the processes of a run hold."""

import os
import subprocess
import sys

import pytest

from perpetualcc.claude import memory, processes
from perpetualcc.domain.ids import RunId
from perpetualcc.sessions.run_memory import total

HOLDS = "taken = bytearray(b'x' * 100_000_000); print(flush=True); input()"


def test_all_that_carries_the_mark_of_a_run_counts_for_it(tmp_path):
    run = RunId("r-1")
    environment = os.environ | processes.mark(tmp_path, run)
    held = subprocess.Popen(
        [sys.executable, "-c", HOLDS],
        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    try:
        held.stdout.readline()

        found = memory.of_runs(tmp_path)

        [one] = found[run]
        assert one.pid == held.pid
        assert 100_000_000 < one.held < 200_000_000
        assert one.program.startswith("python")
        assert 90_000_000 < total(memory.shared_out([one])) <= one.held
    finally:
        held.communicate(b"\n")
    assert memory.of_runs(tmp_path) == {}
    assert memory.shared_out([one]) == [one]  # gone meanwhile


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["/usr/bin/python3", "-m", "pytest", "tests"], "python3 -m pytest"),
        (["/opt/x/claude", "--output-format", "stream-json"], memory.CLAUDE),
        (["node\x1b[31m", "\u202eevil"], "node[31m evil"),
        (["x" * 90], "x" * 59 + "…"),
        ([""], "a program without a name"),
        ([], "a program without a name"),
    ],
)
def test_a_program_is_named_for_people(words, name):
    assert memory.program(words) == name


def test_what_ps_lists_is_read():
    told = "  812 1048576 /usr/local/bin/node server.js\n 9 bad\n"

    [found] = memory.listed(told).values()

    assert (found.pid, found.held, found.program) == (812, 2**30, "node server.js")
