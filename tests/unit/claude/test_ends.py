"""Why a process went, in words."""

import claude_agent_sdk as sdk
import pytest

from perpetualcc.claude.ends import explained

WHO = "by somebody, or by the system for want of memory"


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (
            sdk.ProcessError("Command failed", exit_code=-9, stderr="Check stderr output"),
            f"Claude Code was killed with SIGKILL ({WHO})",
        ),
        (sdk.ProcessError("Command failed", exit_code=-15), "Claude Code was killed with SIGTERM"),
        (
            sdk.ProcessError("Command failed", exit_code=-99),
            "Claude Code was killed with signal 99",
        ),
        (sdk.ProcessError("Command failed", exit_code=3), "Claude Code ended with exit code 3"),
        (sdk.CLIConnectionError("It does not start"), "It does not start"),
    ],
)
def test_what_happened_is_said_without_the_words_of_a_library(problem, words):
    assert explained(problem, []) == words
    assert explained(problem, ["", "out of tea", " "]) == f"{words}\nout of tea"
