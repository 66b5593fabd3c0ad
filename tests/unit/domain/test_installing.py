"""What is printed to be typed works in the environment that PerpetualCC was put into."""

import subprocess
import sys
import venv
from pathlib import Path

from perpetualcc.domain import installing
from perpetualcc.domain.installing import pip_install


def test_with_pip_it_is_this_python_s_own():
    assert pip_install("a[b]") == f"{sys.executable} -m pip install 'a[b]'"


def test_an_environment_without_pip_is_filled_by_uv(tmp_path):
    venv.create(tmp_path, with_pip=False)
    python = tmp_path / "bin/python"
    source = Path(installing.__file__).read_text()

    said = subprocess.run(
        [python, "-c", f"{source}\nprint(pip_install('a[b]'))"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert said.stdout == f"uv pip install --python {python} 'a[b]'\n"
