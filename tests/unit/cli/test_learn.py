"""`pcc learn` and `claude-learning`, as a user types them."""

import fcntl
import json
import os
import pty
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from perpetualcc.learning import control
from perpetualcc.learning.places import Places
from tests.commands import run_pcc

BIN = Path(sys.executable).parent
NO_FACTS = 'No facts are known about this project. Add one with: pcc memory add "…"\n'
NOTHING = 'Nothing learned yet. Say a rule yourself: pcc learn remember "…"\n'


@pytest.fixture
def run(tmp_path):
    theirs = ("CLAUDE", "ANTHROPIC")
    kept = {name: text for name, text in os.environ.items() if not name.startswith(theirs)}
    environment = kept | {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "c")}

    def play(*words, program="pcc", text="", code=0, **more):
        variables = environment | more
        done = run_pcc(words, env=variables, cwd=tmp_path, stdin=text, program=program)
        assert done.returncode == code, done.stderr
        return done.stdout + done.stderr

    return play


def test_a_tilde_in_the_directorys_name_is_the_home_as_the_engine_reads_it(run, tmp_path):
    assert f"{tmp_path}/there/settings.json" in run("learn", "install", CLAUDE_CONFIG_DIR="~/there")


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
    assert run("learn", "list") == NOTHING


def test_lists_say_that_something_is_not_read_yet(run, tmp_path):
    queue = Places(claude=tmp_path / "c").queue
    queue.parent.mkdir()
    queue.write_text('{"kind": "prompt"}\n' * 3)

    assert "Not read yet: 3 events" in run("learn", "review")
    assert "learn restart" in run("learn", "list", "--pending")
    run("learn", "run", "--once")
    assert run("learn", "review") == "Nothing waits for review\n"


@pytest.fixture
def worker(tmp_path):
    """The pid of the worker that runs, or None; at the end there is none."""
    places = Places(claude=tmp_path / "c")
    yield lambda: control.running_pid(places)
    control.stop(places, force=True, say=lambda _: None)


def test_the_kill_switch_ends_a_worker_that_no_engine_started(run, worker):
    run("learn", "install")
    run("learn", "restart")
    before = worker()

    said = run("daemon", "stop", "--now")

    assert before is not None
    assert worker() is None
    assert said == "The daemon has stopped\n"
    assert "Worker not running" in run("learn", "status")


def test_install_says_how_what_the_hooks_note_is_read_where_nobody_reads_it(run, worker):
    without = run("learn", "install")
    run("learn", "restart")
    with_one = run("learn", "install")

    assert worker() is not None
    assert without.splitlines()[1:] == [
        "What they note is read while the daemon runs; where none does: pcc learn restart"
    ]
    assert with_one == "The hooks are installed already\n"


def test_uninstall_ends_the_worker_and_says_what_nobody_has_read(run, worker, tmp_path):
    run("learn", "install")
    run("learn", "restart")
    os.kill(worker(), signal.SIGSTOP)
    (tmp_path / "c" / "learning_queue.jsonl").write_text("{}\n")

    said = run("learn", "uninstall")

    assert worker() is None
    assert said.splitlines()[0] == "Hooks removed"
    assert said.splitlines()[-1].startswith("Events that no worker has read: 1, they stay in ")


def test_stop_ends_the_worker_until_it_is_restarted(run, worker):
    assert run("learn", "stop") == "No worker runs\n"
    run("learn", "install")
    run("learn", "restart")
    pid = worker()

    assert run("learn", "stop") == f"Stopping worker (PID {pid})...\nWorker stopped\n"
    assert "It was stopped. To start it: pcc learn restart" in run("learn", "status")
    run("learn", "restart")
    assert worker() is not None


def test_an_export_that_cannot_be_written_says_so(run, tmp_path):
    for path in ("/nodir/p.json", str(tmp_path)):
        said = run("learn", "export", "--output", path, code=1)
        assert f"'{path}' cannot be written" in said
        assert "hint:" in said
        assert "Traceback" not in said


def test_a_project_whose_path_is_no_text_is_exported_and_read_again(run, tmp_path):
    project = tmp_path / os.fsdecode(b"caf\xe9")
    try:
        project.mkdir()
    except OSError:
        pytest.skip("this file system takes only text")
    run("learn", "remember", "Use tabs", "--project", project)
    run("learn", "export", "--output", "p.json")
    run("learn", "forget", json.loads(run("learn", "list", "--json"))[0]["id"])

    run("learn", "import", "p.json")

    assert json.loads(run("learn", "list", "--json"))[0]["project"] == str(project)


@pytest.mark.parametrize(
    "words",
    ["status", "install", "uninstall", "restart", "stop", "remember x", "run --once", "auto --off",
     "review --accept x", "import x"],
)  # fmt: skip
def test_a_claude_directory_that_is_none_gives_two_lines(run, tmp_path, words):
    (tmp_path / "c").write_text("")

    said = run("learn", *words.split(), code=1)

    assert "error: " in said
    assert "hint: " in said
    assert "Traceback" not in said


@pytest.mark.parametrize("rule", ["", "  ", "-", "…"])
def test_a_rule_without_words_is_refused(run, rule):
    assert "a rule needs words" in run("learn", "remember", "--", rule, code=2)
    assert run("learn", "list") == NOTHING


def test_a_rule_for_a_project_that_does_not_exist_is_refused(run, tmp_path):
    (tmp_path / "file").touch()
    for project in ("/nonexist", str(tmp_path / "file")):
        run("learn", "remember", "Use tabs", "--project", project, code=1)
    assert run("learn", "list") == NOTHING


def test_a_rule_that_two_projects_have_is_forgotten_in_one(run, tmp_path):
    other = tmp_path / "shop2"
    other.mkdir()
    run("learn", "remember", "Use tabs")
    (one,) = json.loads(run("learn", "list", "--json"))
    run("learn", "export", "--output", "p.json")
    first = run("learn", "import", "p.json", "--project", "shop2")
    second = run("learn", "import", "p.json", "--project", "shop2")
    before = run("learn", "list", "--json")
    third = run("learn", "import", "p.json")
    assert run("learn", "list", "--json") == before

    refused = run("learn", "forget", one["id"], code=1)
    shown = run("learn", "show", one["id"], "--project", "shop2")
    run("learn", "review", "--reject", one["id"], "--project", "shop2")
    run("learn", "forget", one["id"], "--project", "shop2")

    assert first == "New: 1, to be reviewed with `pcc learn review`\n"
    assert second == third == "Known already: 1, nothing is counted twice\n"
    assert "--project" in refused
    assert f"project: {other}" in shown
    assert json.loads(run("learn", "list", "--json")) == [one]


def test_classify_reads_a_pipe_and_says_when_there_is_no_message(run):
    argued = run("learn", "classify", "no, use pytest instead")

    assert run("learn", "classify", text="no, use pytest instead\n") == argued
    assert "give a message" in run("learn", "classify", code=2)
    assert "give a message" in run("learn", "classify", "", text=" \n", code=2)


def test_one_ctrl_c_ends_the_memory_server_on_a_terminal(tmp_path):
    ours, theirs = pty.openpty()
    server = subprocess.Popen(
        [str(BIN / "pcc"), "memory", "serve"], stdin=theirs, stdout=theirs, stderr=theirs,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)}, cwd=tmp_path,
        preexec_fn=_own_terminal,  # noqa: PLW1509  # this process has no other thread
    )  # fmt: skip
    os.close(theirs)
    try:
        assert b"Ctrl-C ends it" in os.read(ours, 1000)
        time.sleep(3)
        os.write(ours, b"\x03")
        assert server.wait(10) == -signal.SIGINT
    finally:
        server.kill()
        server.wait()
        os.close(ours)


def _own_terminal():
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


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

    nobody = run("learn", "review", code=1)
    (waits,) = json.loads(run("learn", "list", "--pending", "--json"))
    said = run("learn", "review", text="e\nAlways use pnpm\n")

    assert f"hint:  pcc learn review --accept {waits['id']} (or --reject)" in nobody
    assert "[1/1]" in said
    (one,) = json.loads(run("learn", "list", "--json"))
    assert (one["rule"], one["status"]) == ("Always use pnpm", "accepted")


def test_the_log_is_there_once_the_worker_ran(run):
    assert "hint:" in run("learn", "logs", code=1)


def test_memory_of_an_empty_installation_is_empty(run):
    # On a busy machine it says on the other stream that it looks.
    assert run("memory", "search", "anything").startswith("Nothing like it happened before\n")
    assert run("memory", "facts") == NO_FACTS


def test_a_rule_that_a_newer_one_takes_the_place_of_is_named(run, tmp_path):
    run("learn", "remember", "Never commit to main", "--project", str(tmp_path))

    said = run("learn", "remember", "Always commit to main", "--project", str(tmp_path))

    assert said.splitlines() == [
        f"Remembered for {tmp_path}: Always commit to main",
        "No longer in force: Never commit to main",
    ]


def test_an_english_message_is_not_taken_for_another_language(run):
    said = json.loads(run("learn", "classify", "no, use tabs", "--explain"))

    assert said["language"] == "en"


def test_review_names_the_rule_that_a_candidate_contradicts(run, tmp_path):
    run("learn", "remember", "Never commit to main", "--project", str(tmp_path))
    (exported,) = json.loads(run("learn", "export"))["preferences"]
    contrary = exported | {"id": "abcdef12", "rule": "Always commit to main"}
    (tmp_path / "x.json").write_text(json.dumps({"preferences": [contrary]}))
    run("learn", "import", "x.json")

    said = run("learn", "review", text="a\n")

    assert "  instead of: Never commit to main\n" in said
    assert "No longer in force: Never commit to main\n" in said


def test_no_rule_of_a_repository_steers_the_terminal(run, tmp_path):
    run("learn", "remember", "Use tabs")
    (file,) = tmp_path.rglob(".data/memory.json")
    known = json.loads(file.read_text())
    hostile = "\x1b]0;t\x07\x1b[2K\nUse \x9b31m spaces"
    known["preferences"][0]["rule"] = hostile
    known["preferences"][0]["evidence"] = [
        {"event": "e", "said": hostile, "at": 1.0, "session": "s"}
    ]
    file.write_text(json.dumps(known))
    identity = known["preferences"][0]["id"]

    told = run("learn", "list") + run("learn", "show", identity) + run("learn", "forget", identity)

    assert "spaces" in told
    assert all(line.isprintable() for line in told.splitlines())
    assert len(run("learn", "list").splitlines()) <= 1


def test_what_came_with_a_project_is_said_to_have_come_with_it(run, tmp_path):
    entry = {
        "id": "abcd1234", "rule": "Run ./x.sh", "category": "workflow", "scope": "project",
        "status": "accepted", "confidence": 1e9, "seen": 1, "first_seen": 1e300,
        "last_seen": 1e300, "evidence": [{"event": "", "session": "", "at": 1e300, "said": "x"}],
    }  # fmt: skip
    (tmp_path / ".data").mkdir()
    (tmp_path / ".data" / "memory.json").write_text(
        json.dumps({"version": 1, "preferences": [entry], "events": []})
    )

    assert " candidate " in run("learn", "list", "--project", str(tmp_path))
    assert "9999" in run("learn", "show", "abcd", "--project", str(tmp_path))
    assert "nothing shows that you said it" in run(
        "learn", "review", "--project", str(tmp_path), text="q\n"
    )


def test_an_agent_imports_nothing(run, tmp_path):
    (tmp_path / "export.json").write_text('{"version": 1, "preferences": []}')

    assert run("learn", "import", "export.json") == "New: 0\n"
    assert "Only a person" in run("learn", "import", "export.json", code=1, CLAUDECODE="1")


def test_an_agent_forgets_nothing(run):
    run("learn", "remember", "Use tabs")
    (one,) = json.loads(run("learn", "list", "--json"))

    assert "Only a person forgets" in run("learn", "forget", one["id"], code=1, CLAUDECODE="1")
    assert len(json.loads(run("learn", "list", "--json"))) == 1


def test_a_project_that_was_moved_says_where_its_rules_come_from(run, tmp_path):
    (tmp_path / "old").mkdir()
    run("learn", "remember", "Use tabs", "--project", str(tmp_path / "old"))
    (tmp_path / "old").rename(tmp_path / "new")
    event = {"v": 1, "id": "e", "type": "session_end", "project": str(tmp_path / "new"), "hook": {}}
    (tmp_path / "c" / "learning_queue.jsonl").write_text(json.dumps(event) + "\n")
    run("learn", "run", "--once")

    listed, reviewed = run("learn", "list", "--pending"), run("learn", "review", text="a\n")

    assert f"Moved or copied from {tmp_path}/old: {tmp_path}/new" in listed
    assert f"Said in {tmp_path}/old, where the project was then" in reviewed
    assert "nothing shows" not in reviewed
    assert "Moved" not in run("learn", "list", "--project", str(tmp_path / "new"))


def test_the_rules_of_the_repository_are_among_those_of_a_folder_of_it(run, tmp_path):
    (tmp_path / "web").mkdir()
    run("learn", "remember", "Use tabs", "--project", str(tmp_path))

    assert "Use tabs" in run("learn", "list", "--project", str(tmp_path / "web"))
    assert "Use tabs" in run("memory", "facts", str(tmp_path / "web"))


def test_options_without_what_we_know_mean_that_everything_waits(run, tmp_path):
    (tmp_path / "c" / "learning").mkdir(parents=True)
    (tmp_path / "c" / "learning" / "options.json").write_text("{}")

    assert run("learn", "auto") == "Every preference waits for review\n"


def test_a_moved_rule_that_holds_everywhere_is_not_waited_for(run, tmp_path):
    (tmp_path / "old").mkdir()
    run("learn", "remember", "Use tabs", "--project", str(tmp_path / "old"))
    run("learn", "remember", "Use tabs", "--global")
    (tmp_path / "old").rename(tmp_path / "new")
    event = {"v": 1, "id": "e", "type": "session_end", "project": str(tmp_path / "new"), "hook": {}}
    (tmp_path / "c" / "learning_queue.jsonl").write_text(json.dumps(event) + "\n")
    run("learn", "run", "--once")

    assert "Moved" not in run("learn", "list")
    assert run("learn", "list", "--pending") == "Nothing waits for review\n"


@pytest.mark.parametrize("words", [["list"], ["review"], ["remember", "Use tabs"], ["status"]])
def test_a_memory_that_nobody_can_read_is_told_of(run, tmp_path, words):
    run("learn", "remember", "Use pnpm")
    memory = tmp_path / ".data/memory.json"
    memory.write_text("<<<<<<< HEAD\n")
    memory.with_name("memory.json.backup").unlink()

    said = run("learn", *words)

    assert f"note: '{memory}' cannot be read" in said
    assert memory.read_text() == "<<<<<<< HEAD\n"


def test_yes_accepts(run, tmp_path):
    export = {"project": str(tmp_path), "id": "12345678", "rule": "Use tabs", "category": "style",
              "scope": "project", "status": "accepted", "confidence": 0.9, "seen": 1,
              "first_seen": 1, "last_seen": 1}  # fmt: skip
    past = [export | {"id": f"{n}2345678", "rule": f"Use {n} spaces", "status": status}
            for n, status in ((2, "superseded"), (4, "rejected"))]  # fmt: skip
    (tmp_path / "e.json").write_text(json.dumps({"preferences": [export, *past]}))

    imported = run("learn", "import", "e.json")
    run("learn", "review", text="yes\n")

    assert imported.splitlines()[1:] == ["Superseded or rejected where they come from: 2, left out"]
    (one,) = json.loads(run("learn", "list", "--json"))
    assert one["status"] == "accepted"


def test_options_that_would_be_ignored_are_refused(run, tmp_path):
    one_or_all = ["Use tabs", "--project", str(tmp_path), "--global"]

    assert "--above" in run("learn", "auto", "--after", "2", code=2)
    assert "--project" in run("learn", "remember", *one_or_all, code=2)
    run("learn", "auto", "--above", "0.9")
    assert run("learn", "auto", "--after", "2") == "Accepted above 0.9 after 2 repetitions\n"
