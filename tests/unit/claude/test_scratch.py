"""Directories for a moment: gone afterwards, and after a kill with the next one."""

import os
import subprocess
import sys
import tempfile

import pytest

from perpetualcc.claude.scratch import scratch


def test_what_a_killed_process_left_goes_and_what_is_used_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ended = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    orphan = tmp_path / f"pcc-canary-{ended.stdout.strip()}-abc_1"
    used = tmp_path / f"pcc-canary-{os.getpid()}-abc"
    others = [tmp_path / name for name in ("pcc-canary-mine", "pcc-brain-1-x", "pcc-canary-x-1-y")]
    for folder in (orphan, used, *others):
        folder.mkdir()
        (folder / "file").touch()

    with scratch("canary") as mine:
        assert mine.stat().st_mode & 0o077 == 0
        assert not orphan.exists()
        assert used.exists()
        assert all(folder.exists() for folder in others)

    assert not mine.exists()


def test_two_that_remove_the_same_at_once_disturb_each_other_not(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gone = tmp_path / "pcc-brain-1-abc"
    monkeypatch.setattr(type(tmp_path), "glob", lambda *_: iter([gone]))  # and another was faster

    with scratch("brain") as mine:
        assert mine.exists()


@pytest.mark.parametrize(
    "keep",
    [
        "from perpetualcc.cli.results import private_folder\nkept = private_folder()",
        "from perpetualcc.cli.config import _tried\nkept = _tried(Path('none'), {})",
    ],
)
def test_what_a_killed_command_left_the_next_one_removes(keep, tmp_path):
    """Of settings that are tried it may hold a key."""
    command = [sys.executable, "-c", f"from pathlib import Path\n{keep}\nkept.__enter__()\n"]
    world = {**os.environ, "TMPDIR": str(tmp_path)}
    killed = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    subprocess.run([*command[:2], command[2] + killed], env=world, check=False)
    assert len(list(tmp_path.iterdir())) == 1

    subprocess.run(
        [*command[:2], command[2] + "kept.__exit__(None, None, None)"], env=world, check=True
    )

    assert list(tmp_path.iterdir()) == []
