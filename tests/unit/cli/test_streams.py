"""What a command prints reaches whatever the caller made of its standard streams."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from perpetualcc.cli import look, streams


def pcc(*words: str, shell: str = "", home: Path, **variables: str):
    """Run a command; `shell`: what is done to its streams."""
    script = f'exec "$0" -m perpetualcc "$@" {shell}'
    return subprocess.run(
        ["bash", "-c", script, sys.executable, *words],
        env={**os.environ, "HOME": str(home), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )


@pytest.mark.parametrize("words", [["config", "path"], ["config", "show"], ["--help"]])
def test_a_full_disk_behind_the_output_is_one_clear_error(tmp_path, words):
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")

    done = pcc(*words, shell="> /dev/full", home=tmp_path)

    assert done.returncode == 1
    assert done.stderr.startswith("error: The output cannot be written: No space left")
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_is_no_obstacle(tmp_path, closed):
    done = pcc("explain", "bash", "ls", "--project", str(tmp_path), shell=closed, home=tmp_path)

    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert ("LOW" in done.stdout) == (">&-" not in closed.replace("2>&-", ""))


def test_an_output_without_our_symbols_gets_plain_ones(tmp_path):
    done = pcc("explain", "bash", "ls ünï", home=tmp_path, PYTHONIOENCODING="ascii")

    assert done.returncode == 0, done.stderr
    assert "\\u00fcn\\u00ef" in done.stdout


def test_what_is_escaped_is_still_json(tmp_path):
    words = ["explain", "bash", "ls ünï → 🚀", "--json"]

    plain = json.loads(pcc(*words, home=tmp_path, PYTHONIOENCODING="ascii").stdout)
    full = json.loads(pcc(*words, home=tmp_path, PYTHONIOENCODING="utf-8").stdout)

    assert plain == full


def test_tables_keep_their_form_without_box_characters():
    streams.use_safe_streams()

    shown = "┌─┐│✓ ü 🚀│\udcff".encode("ascii", errors="pcc-plain").decode()

    assert shown == "+-+|+ \\u00fc \\ud83d\\ude80|\\udcff"


@pytest.mark.parametrize(
    "words", [["start", ".", "--task", "x"], ["init", "."], ["explain", "bash", "ls"]]
)
def test_a_working_directory_that_is_gone_is_one_clear_error(tmp_path, words):
    here = tmp_path / "here"
    here.mkdir()
    script = 'cd "$1" && rmdir "$1" && shift && exec "$0" -P -m perpetualcc "$@"'

    done = subprocess.run(
        ["bash", "-c", script, sys.executable, str(here), *words],
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )

    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == "error: The directory you are in does not exist any more"


def test_a_text_in_the_place_of_a_name_is_one_clear_error(tmp_path):
    task = "Build me a shop with a basket " * 20

    done = subprocess.run(
        [sys.executable, "-P", "-m", "perpetualcc", "rehearse", task],
        env={**os.environ, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )

    assert done.returncode == 1
    assert done.stderr.startswith("error: No file or directory can be called 'Build me a shop")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("kind", "coloured"), [("dumb", False), ("xterm", True)])
def test_a_dumb_terminal_gets_no_escape_sequences(monkeypatch, kind, coloured):
    monkeypatch.setenv("TERM", kind)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)

    assert ("\x1b" in look.coloured("text", "red")) is coloured


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (errno.ENOSPC, "Free some space"),
        (errno.EDQUOT, "Free some space"),
        (errno.EROFS, "read-only"),
        (errno.EACCES, "permissions"),
    ],
)
def test_the_remedy_is_for_what_is_wrong(number, word):
    assert word in streams.remedy(OSError(number, os.strerror(number)))
