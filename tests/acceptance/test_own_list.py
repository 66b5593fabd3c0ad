"""Claude Code's own list of what is to be done, as far as it got, where people look."""

import pytest

pytestmark = [pytest.mark.claude, pytest.mark.timeout(120)]

KEEPS = r"""
steps:
  - tools: [{TaskCreate: {subject: "Read the code", description: "all of it"}}]
  - tools: [{TaskCreate: {subject: "Write the \x1b]0;t\x07 tests", description: "with care"}}]
  - tools: [{TaskCreate: {subject: "Tidy up", description: "at last"}}]
  - tools: [{TaskUpdate: {taskId: "1", status: "completed"}}]
  - tools: [{TaskUpdate: {taskId: "2", status: "in_progress"}}]
  - say: That is how far I got.
"""


def test_what_claude_has_done_and_does_next_is_told(install):
    pcc = install(KEEPS)
    session = pcc.start("Work through it", "--claude-model", "claude-opus-4-7")
    pcc.wait(session)

    assert not pcc.events(session, "ToolFailed"), "these are the tools of this Claude Code"
    assert pcc.status(session)["todo"].startswith("1 of 3 done; now: Write the ")
    shown = pcc.pcc("status", session).stdout
    assert "Claude's list: 1 of 3 done; now: Write the " in shown
    assert "\x1b" not in shown
