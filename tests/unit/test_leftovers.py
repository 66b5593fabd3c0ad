"""The check that fails a test which leaves a process behind can itself fail."""

import os
import subprocess

from tests.leftovers import ended_by_force, marked_processes


def test_a_process_that_is_left_over_is_found_and_ended():
    command = ["/bin/sh", "-c", "sleep 30 & wait"]
    environment = {**os.environ, "A_MARK": "of-mine"}

    with subprocess.Popen(command, env=environment, start_new_session=True) as left:
        while len(marked_processes("A_MARK", "of-mine")) < 2:
            pass
        ended = ended_by_force("A_MARK", "of-mine", patience=0)
        left.wait()

    assert left.pid in ended
    assert len(ended) == 2
    assert marked_processes("A_MARK", "of-mine") == {}


def test_other_processes_are_not_touched():
    assert ended_by_force("A_MARK", "of-nobody", patience=0) == {}
