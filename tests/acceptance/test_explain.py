"""`pcc explain` as a person and a script use it: real processes."""

import asyncio
import json
import os
import subprocess
from pathlib import Path

import pytest

from perpetualcc.cli.options import GlobalOptions
from perpetualcc.cli.rehearse import take_along
from perpetualcc.cli.stage import Stage
from perpetualcc.domain.clock import SystemClock
from perpetualcc.permissions.rules import Rule, RuleEffect, RuleSubject
from perpetualcc.permissions.trust import content_hash, read_watched_files
from perpetualcc.rehearsal import RehearsalServer, Scenario
from perpetualcc.store.recorded import Recorded, record
from tests.commands import run_pcc


def run(
    *args: str, stdin: str = "", home: Path, data_dir: Path | None = None
) -> subprocess.CompletedProcess[str]:
    place = () if data_dir is None else ("--data-dir", str(data_dir))
    return run_pcc([*place, "explain", *args], env={**os.environ, "HOME": str(home)}, stdin=stdin)


def test_a_person_reads_risk_parts_and_rules(tmp_path: Path) -> None:
    done = run("bash", "git status && git push --force", "--project", str(tmp_path), home=tmp_path)

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
    done = run("write", "src/app.py", "--project", str(tmp_path), "--json", home=tmp_path)

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

    assert (done.returncode, done.stdout) == (2, "")
    assert "pcc explain bash" in done.stderr


def rule(effect: str, subject: str, pattern: str, **more: str) -> Rule:
    return Rule(
        id=more.pop("id", f"rule-{effect}-{subject}"),
        effect=RuleEffect(effect),
        subject=RuleSubject(subject),
        pattern=pattern,
        **more,
    )


def decided(home: Path, *rules: Rule, trust: dict[Path, str] | None = None) -> None:
    """The state of an installation whose owner made these rules."""
    database = home / ".perpetualcc/data/perpetualcc.db"
    asyncio.run(record(database, Recorded(rules=rules, trust=trust or {}), SystemClock()))


@pytest.mark.parametrize(
    ("command", "said"),
    [("git commit -am x", "lets it through"), ("git fetch", "leaves it to a person")],
)
def test_what_is_for_the_brain_says_what_the_one_without_ai_would_do(command, said, tmp_path):
    done = run("bash", command, "--project", str(tmp_path), home=tmp_path)

    assert f"Verdict  ask: the brain decides; the one without AI {said} (" in done.stdout


def test_a_command_without_its_tool_is_told_apart_from_one(tmp_path: Path) -> None:
    done = run("git push --force", home=tmp_path)

    assert done.returncode == 2
    assert "pcc explain bash 'git push --force'" in done.stderr


def test_nothing_is_created_where_there_is_no_state(tmp_path: Path) -> None:
    policy = tmp_path / "project/.perpetualcc/policy.toml"
    policy.parent.mkdir(parents=True)
    policy.write_text('[permissions]\nsafe_directories = ["docs/"]\n')
    home = tmp_path / "home"
    home.mkdir()

    done = run("bash", "ls", "--project", str(tmp_path / "project"), home=home)

    assert done.returncode == 0
    assert list(home.iterdir()) == []


def test_the_tools_of_perpetualcc_itself_are_known(tmp_path: Path) -> None:
    done = run("mcp__perpetualcc__search_code", "{}", "--project", str(tmp_path), home=tmp_path)

    assert done.stdout.splitlines()[:2] == [
        "Risk     LOW",
        "Verdict  allow: it goes on without anyone",
    ]


def test_a_rule_that_denies_is_named(tmp_path: Path) -> None:
    decided(tmp_path, rule("deny", "command", "git status"))

    done = run("bash", "git status", "--project", str(tmp_path), home=tmp_path)

    assert done.stdout.splitlines()[:3] == [
        "Risk     LOW",
        "Verdict  deny: your own rule blocks it",
        "Rule     rule-deny-command: Denies command 'git status' everywhere",
    ]


def test_rules_that_allow_count_where_they_hold(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "link").symlink_to(project)
    decided(
        tmp_path,
        rule("allow", "command", "docker compose", project=str(project)),
        rule("allow", "path", "docs/*.md"),
    )

    def judged(*words: str) -> tuple[str, list[str]]:
        data = json.loads(run(*words, "--json", home=tmp_path).stdout)
        return data["verdict"], [one["id"] for one in data["rules"]]

    up = ("bash", "docker compose up --no-such")
    assert judged(*up, "--project", str(project)) == ("allow", ["rule-allow-command"])
    assert judged(*up, "--project", str(tmp_path / "link")) == ("allow", ["rule-allow-command"])
    assert judged(*up, "--project", str(tmp_path)) == ("ask", [])
    assert judged("write", "docs/a.md", "--project", str(tmp_path)) == (
        "allow",
        ["rule-allow-path"],
    )


def test_rules_count_for_lines_too_and_no_line_costs_the_others_theirs(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "link").symlink_to(project)
    decided(tmp_path, rule("deny", "command", "git status", project=str(project)))
    call = {"tool": "Bash", "input": {"command": "git status"}}
    places = [str(project), str(tmp_path / "link"), "/p", "/\0", "/\ud800", "~nobody-here"]

    done = run(
        "--jsonl",
        stdin="".join(json.dumps({**call, "project": place}) + "\n" for place in places),
        home=tmp_path,
    )

    verdicts = [json.loads(line)["verdict"] for line in done.stdout.splitlines()]
    assert verdicts == ["deny", "deny", "allow", "ask", "ask", "allow"]


@pytest.mark.parametrize(("trusted", "verdict"), [(True, "allow"), (False, "ask")])
def test_a_looser_policy_counts_in_a_project_that_is_trusted(
    tmp_path: Path, trusted: bool, verdict: str
) -> None:
    project = tmp_path / "project"
    (project / ".perpetualcc").mkdir(parents=True)
    (project / ".perpetualcc/policy.toml").write_text(
        '[permissions]\nsafe_directories = ["docs/"]\n'
    )
    trust = {project: content_hash(read_watched_files(project))} if trusted else {}
    decided(tmp_path, trust=trust)

    done = run("write", "docs/a.md", "--project", str(project), "--json", home=tmp_path)

    assert json.loads(done.stdout)["verdict"] == verdict


@pytest.mark.parametrize(
    ("trusted", "folder", "subject", "verdict"),
    [
        (True, "packages/api", "lib/a.py", "allow"),
        (True, "packages/api", "docs/a.md", "ask"),
        (True, "packages/web", "src/a.py", "ask"),
        (True, "tools", "any/a.py", "allow"),
        (False, "tools", "any/a.py", "ask"),
        (False, "tools", "src/a.py", "allow"),
        (False, "packages/web", "src/a.py", "ask"),
        (False, "packages/api", "lib/a.py", "allow"),
    ],
)
def test_the_policy_of_a_repository_counts_in_its_folders(
    tmp_path: Path, trusted: bool, folder: str, subject: str, verdict: str
) -> None:
    top = tmp_path / "repository"
    (top / ".perpetualcc").mkdir(parents=True)
    (top / ".perpetualcc/policy.toml").write_text(
        '[permissions]\nsafe_directories = ["packages/api/lib", "tools/"]\n'
    )
    (top / folder).mkdir(parents=True)
    decided(tmp_path, trust={top: content_hash(read_watched_files(top))} if trusted else {})
    words = ("write", subject, "--project", str(top / folder))

    alone = run(*words, "--json", home=tmp_path)
    (top / ".git").mkdir()
    within = run(*words, home=tmp_path)

    assert (json.loads(alone.stdout)["verdict"] == "allow") is (subject[:3] in {"lib", "src"})
    assert f"Verdict  {verdict}" in within.stdout
    assert f"The policy of {top} counts" in within.stdout


def test_a_rehearsal_is_played_by_the_same_rules_and_trust(tmp_path: Path) -> None:
    project, copy = tmp_path / "project", tmp_path / "stage/project"
    for place in (project, copy):
        (place / ".perpetualcc").mkdir(parents=True)
        (place / ".perpetualcc/policy.toml").write_text(
            '[permissions]\nsafe_directories = ["docs/"]\n'
        )
    decided(
        tmp_path,
        rule("deny", "command", "git status"),
        rule("allow", "command", "docker compose", project=str(project)),
        rule("allow", "path", f"{project}/notes/*"),
        rule("deny", "command", "git log", project=str(tmp_path), id="rule-above"),
        rule("deny", "path", "project/secret/*", project=str(tmp_path)),
        trust={project: content_hash(read_watched_files(project))},
    )
    scenario = Scenario(name="nothing", scenes=(), source="")
    stage = Stage(
        folder=tmp_path / "stage",
        project=copy,
        server=RehearsalServer(scenario),
        environment={},
    )

    take_along(GlobalOptions(data_dir=tmp_path / ".perpetualcc/data"), stage, project)

    calls = [
        ("Bash", {"command": "git status"}),
        ("Bash", {"command": "docker compose x"}),
        ("Write", {"file_path": "notes/a.md"}),
        ("Write", {"file_path": "docs/a.md"}),
        ("Write", {"file_path": "other/a.md"}),
        ("Bash", {"command": "git log"}),
        ("Write", {"file_path": "secret/a.md"}),
    ]
    lines = "\n".join(json.dumps({"tool": tool, "input": given}) for tool, given in calls)
    real = run("--jsonl", "--project", str(project), stdin=lines, home=tmp_path)
    played = run(
        *("--jsonl", "--project", str(copy)), stdin=lines, home=tmp_path, data_dir=stage.data
    )
    judged = [
        [(one["verdict"], len(one["rules"])) for one in map(json.loads, done.stdout.splitlines())]
        for done in (real, played)
    ]
    assert judged[0] == judged[1]
    assert judged[0] == [
        ("deny", 1), ("allow", 1), ("allow", 1), ("allow", 0), ("ask", 0), ("deny", 1), ("deny", 1),
    ]  # fmt: skip
