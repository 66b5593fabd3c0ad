"""What is shown to be typed can be pasted: it runs as a whole, or not at all."""

import subprocess

import pytest

from perpetualcc.cli.lines import _command
from perpetualcc.cli.waiting import answer_to


@pytest.mark.parametrize(
    ("words_of", "kind", "more"),
    [
        (_command, "permission", {}),
        (_command, "error", {}),
        (answer_to, "permission", {}),
        (answer_to, "error", {}),
        (answer_to, "review", {"task_is_over": True}),
        (answer_to, "review", {"task_is_over": False}),
    ],
)
def test_a_pasted_choice_decides_nothing(words_of, kind, more):
    line = words_of({"number": 1, "type": kind, "raw": {}, "options": [], **more})
    shell = ["/bin/bash", "-c", f"pcc() {{ echo decided; }}; {line}"]

    done = subprocess.run(shell, capture_output=True, text=True, check=False)

    assert "decided" not in done.stdout, line
