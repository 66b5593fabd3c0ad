"""A disk without room, for real: a small file system that only these processes see."""

import json
import re
import shlex
import shutil
import sqlite3
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from tests.acceptance.receivers import Webhook
from tests.acceptance.supervised import Supervised, wait_until
from tests.acceptance.test_handover import scenario

pytestmark = pytest.mark.timeout(200)

# It holds for root too, and ends with the last process that lives in it.
_MOUNTED = 'mount -t tmpfs -o size="$1" none "$2" && shift 2 && exec "$@"'


def with_room(size: str, pcc: Supervised, *commands: str) -> subprocess.CompletedProcess[str]:
    """
    Play the commands in a row, where the data directory is a file system of this size.

    What begins with `$ ` is the shell's own.
    """
    told = " && ".join(
        one.removeprefix("$ ") if one.startswith("$ ") else shlex.join(pcc.command(*one.split()))
        for one in commands
    )
    small = ["unshare", "--mount", "--map-root-user", "sh", "-c", _MOUNTED, "sh", size]
    return subprocess.run(
        [*small, str(pcc.locations.data), "sh", "-c", told],
        env=pcc.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=170,
    )


def until(command: str) -> str:
    """The shell waits for it; not for ever."""
    return f"$ for i in $(seq 300); do {command} && break; sleep 0.2; done"


@pytest.fixture
def needs_mounts(tmp_path):
    try:
        done = subprocess.run(
            ["unshare", "--mount", "--map-root-user", "mount", "-t", "tmpfs", "none", tmp_path],
            capture_output=True,
            check=False,
        )
    except OSError:
        pytest.skip("there is no unshare here")
    if done.returncode != 0:
        pytest.skip(f"no mount of one's own: {done.stderr.decode()}")


@pytest.mark.usefixtures("needs_mounts")
@pytest.mark.parametrize(("size", "room"), [("15m", "full"), ("190m", "enough")])
def test_the_status_says_how_much_room_there_is(install, size, room):
    pcc = install("steps: [Never.]")

    text = with_room(size, pcc, "daemon status")
    data = with_room(size, pcc, "daemon status --json")

    disk = json.loads(data.stdout)["disk"]
    assert (disk["room"], disk["total"] > disk["free"] - 1) == (room, True)
    assert ("Disk        full: 1" in text.stdout) == (room == "full"), text
    assert ("Make room" in text.stdout) == (room == "full")


@pytest.mark.usefixtures("needs_mounts")
def test_a_person_is_told_once_that_the_disk_is_full(install, monkeypatch, tmp_path):
    """Also when the engine is started again; and what is asked for is answered all the same."""
    webhook = Webhook()
    monkeypatch.setenv("OUR_WEBHOOK", webhook.url)
    pcc = install("steps: [Never.]")
    config = pcc.locations.data.parent / "config.toml"
    config.write_text(config.read_text() + '[notifications]\nurls = ["env:OUR_WEBHOOK"]\n')

    heard = tmp_path / "heard"

    def note() -> None:
        wait_until(lambda: webhook.got, within=50)
        heard.touch()

    with webhook.listening(), ThreadPoolExecutor() as beside:
        noted = beside.submit(note)
        done = with_room(
            "15m",
            pcc,
            "list --json",
            until(f"test -e {heard}"),
            "daemon restart",
            "list --json",
            "$ sleep 2",
            "daemon stop --grace 5",
            "daemon logs --tail 100",
        )
        noted.result()

    assert done.returncode == 0, done
    assert done.stdout.startswith("[]")
    titles = [one["title"] for one in webhook.got]
    assert titles == ["PerpetualCC: the disk is full"], (titles, done.stdout)
    assert "The disk of the data directory is full" in done.stdout


@pytest.mark.usefixtures("needs_mounts")
def test_an_engine_that_dies_while_the_disk_is_full_comes_back_once_there_is_room(install):
    pcc = install("steps: [Never.]", "--idle-exit", "60")
    data = pcc.locations.data

    done = with_room(
        "40m",
        pcc,
        "list --json",
        f"$ dd if=/dev/zero of={data}/fill bs=4k status=none 2>/dev/null; true",
        f"$ kill -9 $(cat {data}/run/engine.lock)",
        "$ sleep 7",
        "daemon status --json",
        f"$ timeout 30 {shlex.join(pcc.command('list'))}; echo code $?",
        f"$ rm {data}/fill",
        until(f"{shlex.join(pcc.command('daemon', 'status'))} | grep -q 'Daemon *running'"),
        "daemon status --json",
        "list --json",
        f"$ dd if=/dev/zero of={data}/fill bs=4k status=none 2>/dev/null; true",
        "daemon stop --grace 5",
    )

    assert done.returncode == 0, done
    lines = done.stdout.splitlines()
    full, after = map(json.loads, re.findall(r"(?ms)^{$.*?^}$", done.stdout))
    assert full["phase"] in {"restarting", "starting"}, full
    assert "disk is full" in full["problem"]
    assert "code 1" in lines, "a command waits in silence instead of saying why"
    assert "disk is full" in done.stderr
    assert "Make room" in done.stderr
    assert (after["phase"], after["crashes"], after["problem"]) == ("running", 0, ""), after
    assert lines[-2:] == ["[]", "The daemon has stopped"]


@pytest.mark.usefixtures("needs_mounts")
def test_the_doctor_sees_a_place_that_cannot_be_written(install):
    pcc = install("steps: [Never.]")
    data = pcc.locations.data

    done = with_room(
        "40m",
        pcc,
        "list",
        "daemon stop",
        f"$ mount -o remount,ro {data}",
        f"$ {shlex.join(pcc.command('list'))}; {shlex.join(pcc.command('daemon', 'status'))};"
        f" {shlex.join(pcc.command('doctor'))}",
    )

    assert done.returncode == 1
    assert "does not start: cannot write '" in done.stderr
    assert "Read-only file system\nhint:  Mend it, or see --data-dir" in done.stderr
    assert f"✗ Data directory: '{data}' cannot be written" in done.stdout
    assert "Disk        read-only: nothing can be written\nMend it     " in done.stdout


@pytest.mark.usefixtures("needs_mounts")
@pytest.mark.parametrize(
    ("mounted", "told"),
    [
        ("ro", "'{kept}' cannot be written"),
        ("size=1m", "the disk of '{kept}' is full: 1 MB of 1 MB are left"),
    ],
)
def test_the_doctor_sees_that_no_conversation_can_be_kept(install, claude_world, mounted, told):
    """Claude Code says nothing of it: each wait ends in a fresh conversation, or repeats work."""
    pcc = install("steps: [Never.]")
    kept = claude_world.home / ".claude"
    kept.mkdir()

    done = with_room("40m", pcc, f"$ mount -t tmpfs -o {mounted} none {kept}", "doctor")

    [line] = [one for one in done.stdout.splitlines() if "Conversations" in one]
    assert line.startswith(f"✗ Conversations: {told.format(kept=kept)}")
    assert "Conversations" not in with_room("40m", pcc, "doctor").stdout


@pytest.mark.claude
def test_a_lock_that_another_program_holds_for_a_while_costs_no_turn(install, servers):
    pcc = install("steps: [{delay: 4s, say: All done.}]")
    session = pcc.start("Write")
    pcc.wait_for_event(session, "RunInitialized", within=60)
    other = sqlite3.connect(pcc.locations.database, isolation_level=None, timeout=5)

    other.execute("BEGIN IMMEDIATE")
    time.sleep(12)  # longer than a write waits, and the turn ends meanwhile
    other.execute("ROLLBACK")
    other.close()

    [task] = pcc.wait(session, "COMPLETED", within=60)["tasks"]
    assert task["result"] == "All done."
    assert len(pcc.events(session, "RunStarted")) == 1
    assert len(servers[0].requests) == 1


def test_an_engine_that_meets_a_lock_as_it_starts_waits_for_it(install):
    """Sessions may wait for their time; whoever makes a backup then must not end that."""
    pcc = install("steps: [Never.]", "--idle-exit", "60")
    pcc.pcc("list")
    other = sqlite3.connect(pcc.locations.database, isolation_level=None, timeout=5)

    other.execute("BEGIN IMMEDIATE")
    pcc.kill_engine()
    time.sleep(9)  # longer than a write waits
    status = pcc.json("daemon", "status")
    other.execute("ROLLBACK")
    other.close()

    assert status["phase"] == "starting", status
    assert pcc.json("list") == []
    assert pcc.json("daemon", "status")["crashes"] <= 1, "that was the kill"


@pytest.mark.claude
@pytest.mark.usefixtures("needs_mounts")
def test_a_handover_without_room_is_kept_and_the_work_goes_on_once_there_is_some(install, tmp_path):
    pcc = install(scenario(3))
    data, folder, seen = pcc.locations.data, pcc.project / ".claude-handover", tmp_path / "seen"
    folder.mkdir()
    canary = shutil.copy(pcc.locations.run_dir / "canary.json", tmp_path)
    state = shlex.join(pcc.command("list", "--json"))

    done = with_room(
        "200m",
        pcc,
        f"$ mkdir -m 700 {data}/run && cp {canary} {data}/run/",
        f"$ mount -t tmpfs -o size=200k none {folder}",
        f"perpetual {pcc.project} --task Wonders --detach",
        f"$ until test -s {folder}/handover.md; do sleep 0.1; done",
        f"$ dd if=/dev/zero of={folder}/fill bs=4k status=none 2>/dev/null; true",
        f"$ until {state} > {seen}; grep -q 'No space left' {seen}; do sleep 0.3; done",
        f"$ grep detail {seen}; rm {folder}/fill",
        "resume wonders",
        f"$ until {state} > {seen}; grep -qE 'COMPLETED|ERROR' {seen}; do sleep 0.5; done",
        f"$ cat {seen}",
        "daemon stop --now",
    )

    assert "will try again: The handover folder" in done.stdout, done
    assert '"status": "COMPLETED"' in done.stdout, done
    assert sorted(path.name for path in (pcc.project / "src").iterdir()) == [
        "wonder_1.py",
        "wonder_2.py",
        "wonder_3.py",
    ]


@pytest.mark.parametrize("words", [("pause", "later"), ("stop", "later"), ("stop", "later", "Go")])
def test_who_cannot_stop_a_session_is_told_what_stops_everything(install, words):
    """Nothing can be written; the kill switch needs no disk."""
    pcc = install("steps: [Never.]")
    pcc.start("Go", "--at", "tomorrow at 3pm", "--session-name", "later")

    with closing(sqlite3.connect(pcc.locations.database, isolation_level=None)) as database:
        database.execute("BEGIN IMMEDIATE")
        refused = pcc.pcc(*words, check=False)
        pcc.pcc("daemon", "stop", "--now")

    assert refused.returncode == 1
    assert refused.stderr.endswith("; to stop all work at once: pcc daemon stop --now\n")
