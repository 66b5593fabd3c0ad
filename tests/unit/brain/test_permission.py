"""
What the rules advise on calls of medium risk.

                              inside      outside, unusual, unknown
local and reversible          0.75        no opinion
network, publishing, other    no opinion  no opinion
HIGH                          no          no
"""

import asyncio
from pathlib import Path

import pytest

from perpetualcc.brain.rule_based import RuleBasedBrain
from perpetualcc.domain.decisions import Advice
from perpetualcc.domain.questions import QuestionContext
from perpetualcc.domain.tools import Assessment, Risk, ToolCall
from perpetualcc.permissions.risk_classifier import analyse
from perpetualcc.permissions.settings import PermissionSettings
from perpetualcc.requirements import parse_requirements


def advise(tool: str, tool_input: dict[str, object], project: Path, risk=Risk.MEDIUM) -> Advice:
    call = ToolCall(tool=tool, input=tool_input, project=project)
    brain = RuleBasedBrain(parse_requirements)
    context = QuestionContext(project=str(project))
    found = Assessment(risk=risk, reasons=())
    if tool == "Bash" and risk is not Risk.HIGH:
        found = analyse(call, PermissionSettings()).assessment()
    return asyncio.run(brain.evaluate_permission(call, found, context))


@pytest.mark.parametrize(
    "command",
    [
        "git add .",
        "git add src/a.py",
        "git commit -m 'Add models'",
        "git switch -c feature/x",
        "mkdir -p src/deep",
        "cp a.py b.py",
        "mv a.py src/a.py",
        "cp -r ./docs ./more",
        "git commit -am 'Add the new one' --signoff",
        "git add -A && git commit -m 'Fix; tidy & test'",
        "git commit -m \"$(cat <<'EOF'\nFix it\n\nIt was $BAD -n; rm -rf x\nEOF\n)\"",
        "mkdir -p docs && mv README.md docs/",
        "echo hi > notes.md",
        "cat > notes.md <<'EOF'\nhello\nEOF",
        "cd src && git commit -m x",
        "git commit -m x 2>&1 | tail -3",
        "git checkout -b feat/x && git add . && git commit -m 'costs $5'",
        "npm test > /tmp/t.log 2>&1; tail -40 /tmp/t.log",
        "cargo test 2>&1 | tee -a /tmp/test.txt | tail -20",
        "npm test &> /tmp/t.log && git commit -m x",
        "docker compose exec -T web python manage.py test 2>&1 | tail -40",
        "docker compose run --rm web npm test && git add -A",
        "docker-compose exec web ls",
    ],
)
def test_local_reversible_commands_are_approved(command: str, tmp_path: Path) -> None:
    advice = advise("Bash", {"command": command}, tmp_path)

    assert advice.approve
    assert advice.confidence == pytest.approx(0.75)


@pytest.mark.parametrize(
    "command",
    [
        "git push",
        "git commit --amend",
        "git commit --no-verify -m x",
        "git commit -m x --no-ver",
        "git commit -anm x",
        "git commit -m x '--no-verify'",
        "git commit --amen",
        "cp -r src/x/. .",
        "cp -rT src/x .",
        "cp -r src/x/'.' .",
        "mv --fo a.py b.py",
        "git reset --hard",
        "git add . && git push",
        "cp ~/.ssh/id_rsa .",
        "cp a.py ../b.py",
        "cp -f a.py b.py",
        "mv node_modules x",
        "git switch -c feature/x origin/y",
        "git checkout -b work evil",
        "git checkout -b --track origin/y",
        "git log -1 --format=%B --output=config",
        "cp a $(evil)",
        "cp a b\nrm -rf x",
        "curl https://example.org",
        "make install",
        "",
        "git add -A && git push",
        "cd .. && git commit -m x",
        "cd $HOME && git commit -m x",
        "command cd .. && git commit -m x",
        "cd src && mv a.py ../../b.py",
        'git commit -m "$(whoami)"',
        "git commit -m \"it's $TOKEN isn't\"",
        'git commit -m "$(cat <<EOF\n$TOKEN\nEOF\n)"',
        "git add -A; git commit -nm x",
        "git commit -m x --no-verify -m y",
        "echo x > ../notes.md",
        "echo x > run.sh",
        "echo x > /tmp/run.sh",
        "echo x > /tmp/run",
        "npm test > /var/log/t.log",
        "npm test > /tmp/$X.log",
        "tee /tmp/a.log ../b.log < c.md",
        "docker compose exec web bash",
        "docker compose exec web env",
        "docker compose exec web $X",
        "docker compose exec $X ls",
        "docker compose exec web python -c 'x'",
        "docker compose -f /tmp/x.yml exec web ls",
        "docker compose run -v ./a:/b web ls",
        "docker compose run --entrypoint sh web ls",
        "DOCKER_HOST=tcp://box docker compose exec web ls",
        "docker --context box compose exec web ls",
        "cd /srv/other && docker compose exec web ls",
        "docker exec web ls",
        "docker run web ls",
        "npm test > /tmp/t.log && git push",
        "cp a.py /tmp/t.log",
        "touch -m ../x",
    ],
)
def test_everything_else_is_left_to_a_person(command: str, tmp_path: Path) -> None:
    advice = advise("Bash", {"command": command}, tmp_path)

    assert not advice.approve
    assert advice.confidence == 0.0


def test_ordinary_files_of_the_project_may_be_written(tmp_path: Path) -> None:
    assert advise("Write", {"file_path": "pyproject.toml"}, tmp_path).approve
    assert advise("Edit", {"file_path": str(tmp_path / "Dockerfile")}, tmp_path).approve


@pytest.mark.parametrize(
    "path",
    ["node_modules/a.json", "secrets/a.yml", "../x.toml", "/etc/x.conf", "run.bin", 7],
)
def test_unusual_and_foreign_files_are_left_to_a_person(path: object, tmp_path: Path) -> None:
    assert advise("Write", {"file_path": path}, tmp_path).confidence == 0.0


def test_a_link_out_of_the_project_is_outside(tmp_path: Path) -> None:
    project = tmp_path / "p"
    project.mkdir()
    (project / "out").symlink_to(tmp_path)

    assert advise("Write", {"file_path": "out/x.toml"}, project).confidence == 0.0


def test_high_risk_is_never_approved(tmp_path: Path) -> None:
    advice = advise("Bash", {"command": "git add ."}, tmp_path, Risk.HIGH)

    assert not advice.approve
    assert advice.confidence == 0.0


@pytest.mark.parametrize("name", ["app.py", "main.go", "server.ts", "lib/parser.rb", "README.md"])
def test_source_and_settings_at_the_top_of_a_project_are_ordinary(
    name: str, tmp_path: Path
) -> None:
    assert advise("Write", {"file_path": str(tmp_path / name)}, tmp_path).approve


@pytest.mark.parametrize("name", ["../app.py", "run.sh"])
def test_what_is_elsewhere_or_a_script_is_not(name: str, tmp_path: Path) -> None:
    assert not advise("Write", {"file_path": str(tmp_path / name)}, tmp_path).approve
