"""The first thing anybody sees: `pcc demo`, and its output in the README."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.leftovers import LEAK_MARK, marked_processes
from tools.documented import ROOT
from tools.readme import demo_on, normalised, place_of, play_demo

pytestmark = [pytest.mark.claude, pytest.mark.timeout(120)]

SECONDS = 30
"""How long a newcomer is to wait, after installation."""


def test_the_demo_shows_what_the_readme_shows_and_leaves_nothing_behind(
    claude_world,
):
    began = time.monotonic()
    printed = play_demo(dict(os.environ))
    took = time.monotonic() - began

    assert normalised(printed) == normalised(demo_on(ROOT / "README.md")), "type: make docs DEMO=1"
    assert took < SECONDS
    assert marked_processes(LEAK_MARK, claude_world.mark) == {}
    assert not Path(place_of(printed)).exists()
    assert not Path(claude_world.home, ".perpetualcc").exists()


@pytest.fixture
def short_folder():
    """A socket's path may have a hundred bytes; pytest's own folders use most of them."""
    with tempfile.TemporaryDirectory(prefix="pcc-t") as folder:
        yield Path(folder)


@pytest.mark.usefixtures("claude_world")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_demo_that_is_ended_leaves_nothing_behind(short_folder, number):
    demo = subprocess.Popen(
        [sys.executable, "-m", "perpetualcc", "demo"],
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # noqa: PLW1509  # below `nohup`
        env={**os.environ, "TMPDIR": str(short_folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    assert demo.stdout is not None
    with demo, demo.stdout as shown:
        while "Task:" not in shown.readline():
            assert demo.poll() is None

        # As a terminal does it: to everything that runs there.
        os.killpg(demo.pid, number)

        assert demo.wait(timeout=20) != 0
    assert list(short_folder.iterdir()) == []
