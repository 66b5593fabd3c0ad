"""`pcc explain` as a person and a script use it: real processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

PCC = [sys.executable, "-m", "perpetualcc"]


def run(*args: str, stdin: str = "", home: Path) -> subprocess.CompletedProcess[str]:
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONUTF8": "1"}
    return subprocess.run(
        [*PCC, "explain", *args],
        input=stdin,
        capture_output=True,
        text=True,
        env=env,
        timeout=60,
        check=False,
    )


def test_a_person_reads_risk_parts_and_rules(tmp_path: Path) -> None:
    done = run("bash", "git status && git push --force", "--project", "/p", home=tmp_path)

    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "Risk     HIGH",
        "Verdict  ask: a person decides",
        "Kind     git push --force",
        "",
        "HIGH     git push --force",
        "         --force: Rewrites what others have already fetched [option]",
        "MEDIUM   git push --force",
        "         Exchanges data with another repository. [git-network]",
        "LOW      git status",
        "         Looks at the repository and changes nothing. [git-inspect]",
    ]


def test_json_and_other_tools(tmp_path: Path) -> None:
    done = run("write", "src/app.py", "--project", "/p", "--json", home=tmp_path)

    data = json.loads(done.stdout)
    assert (data["risk"], data["verdict"], data["reasons"][0]["rule"]) == (
        "LOW",
        "allow",
        "write-safe",
    )


def test_lines_in_lines_out_and_nothing_stops_it(tmp_path: Path) -> None:
    lines = [
        '{"tool": "Bash", "input": {"command": "ls"}, "project": "/p"}',
        "not json",
        '{"tool": "Bash", "input": {"command": 5}, "project": "/p"}',
        '{"tool": "Bash"}',
        "[1]",
        '{"tool": "Read", "input": {"file_path": "~/.ssh/id_rsa"}, "project": "/p"}',
        '{"tool": "Bash", "input": {"command": "\\ud800"}, "project": "/p"}',
        '{"tool": "Bash", "input": {"command": "ls"}, "project": 7}',
    ]

    done = run("--jsonl", stdin="\n".join(lines), home=tmp_path)

    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [a["risk"] for a in answers] == [
        "LOW", "MEDIUM", "MEDIUM", "MEDIUM", "MEDIUM", "HIGH", "HIGH", "MEDIUM",
    ]  # fmt: skip
    assert [("error" in a) for a in answers] == [False, True, False, True, True, False, False, True]
    assert {a["verdict"] for a in answers[1:]} == {"ask"}


def test_nothing_to_judge_says_what_to_type(tmp_path: Path) -> None:
    done = run(home=tmp_path)

    assert (done.returncode, done.stdout) == (1, "")
    assert "pcc explain bash" in done.stderr
