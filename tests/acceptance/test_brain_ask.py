"""`pcc brain ask` as a person and a script use it: a real process each."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.terminals import CTRL_C, terminal

REQUIREMENTS = "# Project: Shop\n\n## Preferences\n- Database: PostgreSQL\n"


@pytest.fixture
def requirements(tmp_path: Path) -> Path:
    file = tmp_path / "shop.md"
    file.write_text(REQUIREMENTS)
    return file


def pcc(home: Path, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ANTHROPIC_", "CLAUDE", "GEMINI", "OLLAMA"))
    }
    return subprocess.run(
        [sys.executable, "-m", "perpetualcc", "brain", "ask", *arguments],
        input=stdin,
        capture_output=True,
        env={**kept, "HOME": str(home)},
        cwd=home,
        timeout=30,
        check=False,
    )


def test_a_person_sees_the_answer_and_the_line_it_rests_on(requirements: Path) -> None:
    done = pcc(
        requirements.parent,
        "Which database should I use?", "--option", "MySQL", "--option", "Postgres",
        "--requirements", "shop.md",
    )  # fmt: skip

    assert done.returncode == 0
    assert done.stdout.decode() == (
        "Postgres\n"
        "confidence 0.90: The requirements say so in line 4\n"
        "shop.md:4: Database: PostgreSQL\n"
    )


def test_a_risky_question_is_left_to_a_person(requirements: Path) -> None:
    done = pcc(
        requirements.parent,
        "Drop the old table?", "-o", "Yes", "-o", "No", "-r", "shop.md", "--json",
    )  # fmt: skip

    told = json.loads(done.stdout)
    assert told["action"] == "escalate"
    assert told["labels"] == []
    assert told["confidence"] == 0.0


def test_lines_go_in_and_as_many_come_out_whatever_is_in_them(requirements: Path) -> None:
    question = {
        "question": "Which database?",
        "header": "DB",
        "options": [{"label": "PostgreSQL", "description": ""}, {"label": "MySQL"}],
        "multiSelect": False,
    }
    (requirements.parent / "empty.md").write_text("")
    (requirements.parent / "circle.md").write_text(
        "## Tasks\n- a (after: 2)\n- b (after: 1)\n\n## Preferences\n- Database: MySQL\n"
    )
    (requirements.parent / "binary.md").write_bytes(b"\x00\xff\xfe\x89PNG")
    lines = [
        json.dumps({"id": "right", "question": question, "requirements": "shop.md"}),
        json.dumps({"id": "listed", "question": [question], "requirements": "shop.md"}),
        json.dumps({"id": "tool", "question": {"questions": [question]},
                    "requirements": "shop.md"}),
        json.dumps({"id": "bare", "question": "Which database?",
                    "options": ["MySQL", "Postgres"], "requirements": "shop.md"}),
        "not json",
        json.dumps({"id": "absent", "question": question, "requirements": "nowhere.md"}),
        json.dumps({"id": "empty", "question": question, "requirements": "empty.md"}),
        json.dumps({"id": "circle", "question": question, "requirements": "circle.md"}),
        json.dumps({"id": "binary", "question": question, "requirements": "binary.md"}),
        json.dumps({"id": "none", "question": {"question": "Which database?"}}),
        json.dumps({"id": "odd", "question": 7}),
        json.dumps({"id": "marked", "requirements": "shop.md", "question": {
            "question": "Which <b>database</b>\x07?", "options": ["<i>MySQL</i>", "Postgres"]}}),
        "[" * 5000,
        '{"id": "half", "question": {"question": "\\ud800?", "options": ["a", "\\ud800"]}}',
    ]  # fmt: skip

    done = pcc(requirements.parent, "--jsonl", stdin=b"\xff\n" + "\n".join(lines).encode())

    told = [json.loads(line) for line in done.stdout.splitlines()]
    actions = {one["id"]: one["action"] for one in told}
    assert done.returncode == 0
    assert len(told) == len(lines) + 1
    answered = {name for name, action in actions.items() if action == "answer"}
    assert answered == {"right", "listed", "tool", "bare", "marked", "circle"}
    failed = {one["id"] for one in told if "error" in one}
    assert {"absent", "empty", "binary", "odd"} <= failed
    right = told[1]
    assert right == {
        "id": "right",
        "action": "answer",
        "labels": ["PostgreSQL"],
        "confidence": 0.9,
        "because": "The requirements say so in line 4: shop.md:4: Database: PostgreSQL",
    }


def test_requirements_that_are_text_are_told_to_be_a_path(requirements: Path) -> None:
    line = json.dumps({"id": 1, "question": "Which?", "requirements": REQUIREMENTS})

    told = json.loads(pcc(requirements.parent, "--jsonl", stdin=line.encode()).stdout)

    assert told["action"] == "escalate"
    assert told["error"] == (
        "requirements: the path of a file is wanted, and this is text: "
        "'# Project: Shop ## Preferences - Databas' …"
    )


def test_a_missing_model_is_an_error_with_a_hint(requirements: Path) -> None:
    done = pcc(requirements.parent, "Which?", "-o", "a", "-o", "b", "--brain", "ollama")

    assert done.returncode == 1
    assert b"hint:" in done.stderr


def test_a_line_without_an_id_gets_no_other_lines(requirements: Path) -> None:
    lines = [
        "garbage",
        '{"id": 1, "question": "Which?"}',
        '{"question": "Which?"}',
        '{"id": 1e400}',
    ]

    done = pcc(requirements.parent, "--jsonl", stdin="\n".join(lines).encode())

    told = [json.loads(line, parse_constant=pytest.fail) for line in done.stdout.splitlines()]
    assert [(one["id"], "error" in one) for one in told] == [
        (None, True), (1, False), (None, False), (None, True),
    ]  # fmt: skip


def test_one_ctrl_c_ends_it_between_two_lines(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    command = [sys.executable, "-m", "perpetualcc", "brain", "ask", "--jsonl"]

    with terminal(command, environment) as typing:
        typing.type('{"id": 1, "question": "Which?"}\n')
        typing.wait_for('"action"')
        typing.type(CTRL_C)

        assert typing.wait(within=20) == 130
