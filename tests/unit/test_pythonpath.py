"""What `PYTHONPATH` names is for projects: nothing in it takes the place of what we import."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

NAMES = ("typer", "yaml", "logging", "pydantic")


@pytest.mark.parametrize("relative", [False, True])
def test_a_module_of_a_project_is_not_taken_for_ours(tmp_path: Path, relative) -> None:
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text("raise ImportError('a project has this name, too')")
    (tmp_path / "only_here.py").write_text("")
    code = f"import perpetualcc.cli.main, {', '.join(NAMES)}, only_here, os; print(os.getcwd())"
    place = "." if relative else str(tmp_path)

    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env=os.environ | {"PYTHONPATH": place},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.stdout.strip(), done.stderr) == (str(tmp_path), "")


def test_a_command_starts_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise ImportError('a project has this name, too')")

    done = subprocess.run(
        [Path(sys.executable).parent / "pcc", "--version"],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
