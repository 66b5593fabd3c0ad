"""The permission mode that a run was given is the one it works in, also when it is resumed."""

import pytest

from perpetualcc.claude.binary import bundled_claude

pytestmark = [pytest.mark.claude, pytest.mark.timeout(120)]

STORY = """
steps:
  - tools: [{Write: {file_path: "{project}/src/a.py", content: "1"}}]
  - Done.
"""


@pytest.mark.parametrize("mode", ["acceptEdits", "bypassPermissions"])
def test_a_claude_code_that_begins_in_a_wider_mode_does_nothing(install, tmp_path, mode):
    binary = tmp_path / "claude"
    binary.write_text(f'#!/bin/sh\nexec "{bundled_claude()}" "$@" --permission-mode {mode}\n')
    binary.chmod(0o755)
    pcc = install(STORY)
    pcc.environment["IS_SANDBOX"] = "1"  # Claude Code's word for: even to root
    pcc.pcc("config", "set", "claude.binary", str(binary))

    session = pcc.start("Write it")

    found = pcc.wait(session, "ERROR", "COMPLETED", within=60)
    assert found["status"] == "ERROR", pcc.log(session)
    assert f"works in the permission mode {mode}" in found["detail"]
    assert not (pcc.project / "src" / "a.py").exists()


PLANS = """
steps:
  - tools: [ToolSearch: {query: "select:EnterPlanMode"}]
  - tools: [EnterPlanMode: {}]
  - tools: [{Write: {file_path: "{project}/src/a.py", content: "1"}}]
  - Done.
"""


def test_nobody_has_to_be_there_for_a_claude_that_would_rather_plan_first(install):
    pcc = install(PLANS)

    session = pcc.start("Write it")

    assert pcc.wait(session)["status"] == "COMPLETED", pcc.log(session)
    assert (pcc.project / "src" / "a.py").read_text() == "1", pcc.log(session)
