"""Claude Code starts through a script of ours, in a process group of its own."""

import json
import os
import stat
import subprocess
import sys

import pytest

from perpetualcc.claude.launcher import write_launcher

_REPORT = f"""#!{sys.executable}
import json, os, sys
print(json.dumps({{"words": sys.argv[1:], "pid": os.getpid(), "group": os.getpgid(0)}}))
"""


@pytest.mark.parametrize("folder", ["plain", "with space", "o'clock", 'q"uote', "dollar$HOME"])
def test_it_runs_the_program_with_its_words_in_its_own_group(tmp_path, folder):
    place = tmp_path / folder
    place.mkdir()
    claude = place / "claude-binary"
    claude.write_text(_REPORT)
    claude.chmod(0o700)

    launcher = write_launcher(place, claude)
    started = subprocess.Popen(
        [launcher, "--print", "a b", "$HOME", "'"], stdout=subprocess.PIPE, text=True
    )
    report = json.loads(started.communicate(timeout=20)[0])

    assert report["words"] == ["--print", "a b", "$HOME", "'"]
    assert report["pid"] == report["group"] == started.pid, "no process in between"
    assert report["group"] != os.getpgid(0)


def test_it_is_closed_to_others_and_written_only_when_it_changes(tmp_path):
    first = write_launcher(tmp_path, tmp_path / "one")
    written = first.stat()
    again = write_launcher(tmp_path, tmp_path / "one")

    assert again.stat().st_mtime_ns == written.st_mtime_ns
    assert again.stat().st_ino == written.st_ino
    assert stat.S_IMODE(written.st_mode) == 0o700
    assert "two" in write_launcher(tmp_path, tmp_path / "two").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["claude"]
