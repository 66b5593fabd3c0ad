"""The first thing anybody sees: `pcc demo`, and its output in the README."""

import os
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
