"""What a person reads in the morning, of a night on the real Claude Code."""

import re

import pytest

from tests.acceptance.supervised import wait_until

pytestmark = [pytest.mark.claude, pytest.mark.timeout(120)]

NIGHT = """
steps:
  - tools: [{Write: {file_path: "{project}/src/answer.py", content: "x = 1"}}]
  - tools: [{Bash: {command: "git push --force origin main"}}]
  - tools:
      - AskUserQuestion:
          questions:
            - question: "Which database?"
              header: DB
              multiSelect: false
              options: [{label: PostgreSQL, description: "a"}, {label: MySQL, description: "b"}]
  - say: Everything works.
  - tools: [{Write: {file_path: "{project}/src/other.py", content: "x = 2"}}]
  - say: Now it does.
"""
WANTED = """# Shop
## Preferences
- Database: PostgreSQL
## Tasks
- Write the answer
"""


def test_a_night_is_told(install):
    pcc = install(NIGHT)
    assert "nothing happened" in pcc.pcc("report").stdout
    (pcc.project / "src").mkdir()
    (pcc.project / "R.md").write_text(WANTED)
    said = pcc.pcc(
        "start", str(pcc.project), "--requirements", str(pcc.project / "R.md"),
        "--check", "test -f src/other.py", "--detach",
    )  # fmt: skip
    session = said.stdout.split()[2]
    wait_until(lambda: pcc.ask("escalation.list", session=session), within=60)
    waits = pcc.pcc("report").stdout
    pcc.wait(session)

    told = pcc.pcc("report", "--since", "12h").stdout

    assert "Waits for you:\n  #1 Refused: Bash git push --force origin main\n     pcc resp" in waits
    assert told.startswith("The last 12h, since ")
    assert ": 1 task done, " in told.splitlines()[0]
    assert f"✓ {pcc.look(session)['name']} ({session}), completed\n" in told
    assert "  Write the answer\n      Now it does.\n" in told
    assert "2 files written: src/answer.py, src/other.py\n" in told
    assert "1 check failed on the way\n" in told
    assert "? Which database? → PostgreSQL (by the brain)\n" in told
    assert "\n      R.md:3: Database: PostgreSQL\n" in told
    assert "— R.md:3: Database: PostgreSQL\n" in pcc.pcc("logs", session).stdout
    refused = (
        "Refused: Bash → git push --force origin main\n      --force: Rewrites what others have"
    )
    assert refused in told
    (one,) = pcc.json("report", session)["sessions"]
    assert one["session"]["id"] == session
    assert one["answers"][0]["because"] == f"{pcc.project}/R.md:3: Database: PostgreSQL"
    assert one["tokens"] > 0
    assert [task["state"] for task in one["tasks"]] == ["done"]


LIMITED = """
steps:
  - tools: [{Write: {file_path: "{project}/src/first.py", content: "one = 1"}}]
  - fail: {kind: usage_limit, in: 20s}
  - Done.
  - More.
"""


def test_a_wait_for_a_limit_and_a_word_are_told_as_they_stand(install):
    pcc = install(LIMITED, subscription=True)
    session = pcc.start("Write a file")
    pcc.wait(session, "RATE_LIMITED")
    pcc.pcc("say", session, "use the v2 endpoint")

    waits = pcc.pcc("report").stdout
    pcc.wait(session, "COMPLETED")
    told = pcc.pcc("report").stdout

    assert f"({session}), limited\n" in waits
    assert re.search(
        r"\n  Waits until \d\d:\d\d, then goes on by itself: the 5-hour limit\n", waits
    )
    assert '\n  You said: "use the v2 endpoint" (not heard yet)\n' in waits
    assert '\n  You said: "use the v2 endpoint" (heard)\n' in told
    assert "\n  Waited for the 5-hour limit\n" in told
    assert "Stopped" not in waits + told
    log = pcc.pcc("logs", session).stdout
    assert log.count("Usage limit") == log.count("Goes on by itself") == 1
    assert len([line for line in log.splitlines() if line.startswith("[")]) == 7


def test_what_is_no_time_is_told(install):
    pcc = install("steps: [Done.]")

    said = pcc.pcc("report", "--since", "yesterday", check=False)

    assert said.returncode != 0
    assert "--since cannot be 'yesterday'" in said.stderr
    assert '30m, "1h 30m" or 2d' in said.stderr
