"""Directories for a moment: gone afterwards, and after a kill with the next one."""

import os
import subprocess
import sys
import tempfile

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
