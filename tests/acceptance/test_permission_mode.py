"""The permission mode that a run was given is the one it works in, also when it is resumed."""

import json

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


@pytest.mark.parametrize("mode", ["auto", "acceptEdits", "plan", "bypassPermissions"])
def test_the_mode_of_ones_own_settings_is_not_a_sessions(install, servers, claude_world, mode):
    """`auto` is what Claude Code 2.1.332 begins with: nobody but the gate judges here."""
    settings = claude_world.home / ".claude" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(
        json.dumps(
            {"permissions": {"defaultMode": mode, "allow": ["Bash"], "deny": ["Bash(ls:*)"]}}
        )
    )
    pcc = install("""
        steps:
          - tools: [{Write: {file_path: "{project}/src/a.py", content: "1"}}]
          - tools: [{Bash: {command: "git push --force origin main"}}]
          - tools: [{Bash: {command: ls}}]
          - Done.
        """)

    session = pcc.start("Write it")

    assert pcc.wait(session)["status"] == "COMPLETED", pcc.log(session)
    verdicts = [one["verdict"] for one in pcc.events(session, "ToolDecided")]
    assert verdicts == ["allow", "deny", "allow"]
    assert "Permission to use Bash with command ls has been denied" in str(
        servers[0].requests[-1].messages
    )
    assert {one["permission_mode"] for one in pcc.events(session, "RunInitialized")} == {"default"}


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
