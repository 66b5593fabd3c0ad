"""`pcc rehearse` of a story that asks: answered at its terminal, or it ends."""

import os
import subprocess
import sys

import pytest

from tests.acceptance.terminals import terminal

pytestmark = [pytest.mark.claude, pytest.mark.timeout(120)]

REHEARSE = [sys.executable, "-m", "perpetualcc", "rehearse", "question"]


@pytest.fixture
def environment(tmp_path):
    kept = {name: text for name, text in os.environ.items() if name != "PERPETUALCC_CONFIG"}
    return {**kept, "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}


def test_where_nobody_is_it_ends_in_words_and_with_a_code(environment, tmp_path):
    done = subprocess.run(
        REHEARSE, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        check=False, timeout=100,
    )  # fmt: skip

    assert done.returncode == 1
    assert "Waits for you (#1)\n" in done.stdout
    assert "error: Nobody is there to answer\nhint:  Play it at a terminal" in done.stderr
    assert "pcc respond" not in done.stdout
    assert "pcc pending" not in done.stdout
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith("pcc-")] == []


def test_a_person_answers_where_it_was_started(environment):
    with terminal(REHEARSE, environment) as screen:
        screen.wait_for("[1-2] Select", within=60)
        screen.type("1\n")
        code = screen.wait(within=60)

    assert code == 0
    assert "Session completed" in screen.seen
    assert "Which database" in screen.seen
    assert "pcc respond" not in screen.seen
    assert "pcc attach" not in screen.seen
