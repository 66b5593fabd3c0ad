"""`pcc learn` and `claude-learning`, as a user types them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent


@pytest.fixture
def run(tmp_path):
    theirs = ("CLAUDE", "ANTHROPIC")
    kept = {name: text for name, text in os.environ.items() if not name.startswith(theirs)}
    environment = kept | {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "c")}

    def play(*words, program="pcc", text="", code=0):
        done = subprocess.run(
            [str(BIN / program), *words], input=text.encode(), env=environment, cwd=tmp_path,
            capture_output=True, check=False, timeout=50,
        )  # fmt: skip
        assert done.returncode == code, done.stderr.decode()
        return (done.stdout + done.stderr).decode()

    return play


def test_status_before_anything_says_what_to_do(run):
    assert run("learn", "status").splitlines() == [
        "⚪ Worker not running",
        "",
        "   Status: stopped",
        "   Queue size: 0 events",
        "   Processed: 0 events (this session)",
        "   Last heartbeat: never",
        "   Hooks: not installed (pcc learn install)",
    ]
    assert "Worker not running" in run("status", program="claude-learning")


def test_a_rule_typed_by_hand_is_accepted_shown_exported_and_forgotten(run, tmp_path):
    run("learn", "remember", "Use tabs")
    (one,) = json.loads(run("learn", "list", "--json"))
    exported = json.loads(run("learn", "export"))

    assert (one["status"], one["rule"], one["project"]) == ("accepted", "Use tabs", str(tmp_path))
    assert exported["preferences"] == [one]
    assert "Use tabs" in run("learn", "show", one["id"])
    assert run("learn", "forget", one["id"]) == "Forgotten: Use tabs\n"
    assert run("learn", "list") == "Nothing learned yet\n"


def test_settings_that_cannot_be_changed_give_two_lines(run, tmp_path):
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "settings.json").write_text("{} // mine")

    said = run("learn", "install", code=1)

    assert "is not JSON" in said
    assert "hint:" in said


def test_review_asks_one_by_one(run, tmp_path):
    queue = tmp_path / "c" / "learning_queue.jsonl"
    queue.parent.mkdir()
    event = {"v": 1, "id": "e", "type": "prompt", "project": str(tmp_path),
             "hook": {"prompt": "from now on always use pnpm, never npm"}}  # fmt: skip
    queue.write_text(json.dumps(event) + "\n")
    run("learn", "run", "--once")

    said = run("learn", "review", text="e\nAlways use pnpm\n")

    assert "[1/1]" in said
    (one,) = json.loads(run("learn", "list", "--json"))
    assert (one["rule"], one["status"]) == ("Always use pnpm", "accepted")


def test_the_log_is_there_once_the_worker_ran(run):
    assert "hint:" in run("learn", "logs", code=1)


def test_memory_of_an_empty_installation_is_empty(run):
    assert run("memory", "search", "anything") == "Nothing like it happened before\n"
    assert run("memory", "facts") == "No facts are known about this project\n"
