"""A command ends at once, and leaves nothing undone."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("work", "end", "code", "said"),
    [
        ("atexit.register(print, 'bye')", "3", 3, "bye\n"),
        ("print('last', end='')", "None", 0, "last"),
        ("threading.Timer(0.2, print, ['waited for']).start()", "0", 0, "waited for\n"),
        ("sys.stderr.write('last')", "1", 1, "last"),
        ("0", "'a reason'", 1, "a reason\n"),
    ],
)
def test_what_must_happen_at_an_exit_happens(work: str, end: str, code: int, said: str) -> None:
    program = (
        "import atexit, sys, threading; from perpetualcc.cli.ending import leave_after\n"
        f"def run(): {work}; sys.exit({end})\n"
        "leave_after(run)"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout + done.stderr) == (code, said)


def test_the_interpreter_is_not_taken_apart() -> None:
    program = (
        "import sys; from perpetualcc.cli.ending import leave_after\n"
        "class Last:\n"
        "    def __del__(self): print('taken apart')\n"
        "kept = Last()\n"
        "leave_after(sys.exit)"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert done.stdout == ""
