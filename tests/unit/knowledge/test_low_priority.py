"""Work on an index leaves the processor to others, and goes on where that cannot be said."""

import subprocess

from perpetualcc.knowledge.low_priority import at_low_priority


def test_the_command_runs_with_and_without_nice(monkeypatch, tmp_path):
    usual = at_low_priority("--version")
    monkeypatch.setenv("PATH", str(tmp_path))
    bare = at_low_priority("--version")

    assert len(usual) == len(bare) + 3
    for command in (usual, bare):
        assert subprocess.run(command, capture_output=True, text=True, check=True).stdout
