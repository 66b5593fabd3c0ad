"""Another machine: a real sshd on loopback, and behind it an installation of its own."""

import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import time
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.acceptance.tmux import window
from tests.commands import run_pcc

SSHD = shutil.which("sshd") or ("/usr/sbin/sshd" if Path("/usr/sbin/sshd").exists() else None)

pytestmark = [
    pytest.mark.claude,
    pytest.mark.timeout(180),
    pytest.mark.skipif(SSHD is None, reason="no sshd here: apt-get install openssh-server"),
]

SCENE = """
steps:
  - ask:
      - question: "Which colour?"
        header: Colour
        options: [Red, Blue]
  - say: Painted.
"""
NAME = 'it\'s \\\\ "blue" $HOME'
"""No shell on the way may see anything in it."""


def key_at(path: Path) -> Path:
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True, timeout=20
    )
    return path


@contextmanager
def sshd(place: Path, door: Path):
    """A server that lets one key in, and there to nothing but the program `door`."""
    place.mkdir()
    port = free_port()
    host, own = key_at(place / "host"), key_at(place / "own")
    (place / "keys").write_text(f'command="{door}" {own.with_suffix(".pub").read_text()}')
    settings = place / "sshd_config"
    settings.write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {host}\nPidFile none\nUsePAM no\n"
        f"StrictModes no\nAuthorizedKeysFile {place}/keys\nPrintMotd no\n"
    )
    (place / "config").write_text(
        f"Host box\n HostName 127.0.0.1\n Port {port}\n IdentityFile {own}\n IdentitiesOnly yes\n"
        f" StrictHostKeyChecking no\n UserKnownHostsFile {place}/known\n LogLevel ERROR\n"
        f"Host gone\n HostName 127.0.0.1\n Port {free_port()}\n"
    )
    with suppress(PermissionError):  # where it runs as root it wants this one
        Path("/run/sshd").mkdir(exist_ok=True)
    log = ("-E", place / "log")
    server = subprocess.Popen([SSHD, "-D", *log, "-f", settings], stderr=subprocess.DEVNULL)
    try:
        wait_for_port(port)
        yield place / "config"
    finally:
        server.terminate()
        server.wait(10)


def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        return free.getsockname()[1]


def wait_for_port(port: int) -> None:
    deadline = time.monotonic() + 20
    while True:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        assert time.monotonic() < deadline, "sshd does not listen"
        time.sleep(0.05)


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def machines(install, tmp_path):
    """Here, with nothing but ssh; and a box whose Claude asks for a colour."""
    box = install(SCENE)
    words = shlex.join([sys.executable, "-m", "perpetualcc", "--data-dir", str(box.locations.data)])
    home = Path(box.environment["HOME"])
    program(home / ".local/bin/pcc", f'exec {words} "$@"')  # where uv puts it
    world = {**box.environment, "PATH": "/usr/bin:/bin"}
    there = shlex.join(f"{name}={value}" for name, value in world.items())
    door = program(tmp_path / "door", f'exec env -i {there} sh -c "$SSH_ORIGINAL_COMMAND"')
    with sshd(tmp_path / "ssh", door) as config:
        ssh = program(tmp_path / "bin/ssh", f'exec {shutil.which("ssh")} -F {config} "$@"')
        with TemporaryDirectory(prefix="pcc-") as home:  # a socket's path may not be long
            here = {"HOME": home, "PATH": f"{ssh.parent}:{os.environ['PATH']}"}
            yield box, {**here, "LANG": "C.UTF-8"}
            run_pcc(["daemon", "stop"], env=here)


def test_a_question_of_another_machine_is_seen_from_here_and_answered(machines):
    box, here = machines
    session = box.start("Paint it", "--session-name", NAME)
    box.wait(session, "WAITING_INPUT")

    added = run_pcc(["machines", "add", "box"], env=here)
    seen = run_pcc(["machines", "--json"], env=here)
    waits = run_pcc(["on", "all", "pending", "--json"], env=here)
    told = run_pcc(["on", "box", "status", NAME], env=here)
    answered = run_pcc(["on", "box", "respond", "1", "Blue"], env=here)

    assert added.stdout.startswith("Added box: pcc "), added.stderr
    assert json.loads(seen.stdout) == [
        {"machine": "here", "sessions": {}},
        {"machine": "box", "sessions": {"waiting": 1}},
    ]
    (request,) = json.loads(waits.stdout)["box"]
    assert "Which colour?" in json.dumps(request)
    assert "Paint it" in told.stdout
    assert answered.returncode == 0, answered.stderr
    assert box.wait(session)["status"] == "COMPLETED"
    assert box.events(session, "QuestionAnswered")[-1]["decided_by"] == "person"


def test_in_a_terminal_it_is_as_if_one_sat_there(machines, tmp_path):
    box, here = machines
    session = box.start("Paint it")
    box.wait(session, "WAITING_INPUT")
    run_pcc(["machines", "add", "box"], env=here)
    words = shlex.join([sys.executable, "-m", "perpetualcc", "on", "box", "attach", session])
    command = ["sh", "-c", f"{words}; sleep 99"]  # the window stays

    with window(command, tmp_path, here, tmp_path / "terminal") as terminal:
        terminal.wait_for("Select")
        terminal.type("2")
        terminal.wait_for("Painted.")

    assert box.wait(session)["status"] == "COMPLETED"


def test_a_machine_that_is_away_keeps_the_others_from_nothing(machines):
    _, here = machines
    run_pcc(["config", "set", "machines.hosts", "gone, box"], env=here)

    listed = run_pcc(["on", "all", "list"], env=here)
    found = run_pcc(["machines", "--json"], env=here)

    assert listed.returncode == 1
    assert listed.stdout.index("── here") < listed.stdout.index("── gone")
    assert "'gone' is not reached: connect to host 127.0.0.1" in listed.stdout
    assert "�" not in listed.stdout
    assert listed.stdout.count("No sessions yet") == 2
    assert "error" in json.loads(found.stdout)[1]


def test_what_is_not_there_is_said_and_nothing_is_added(machines):
    box, here = machines
    Path(box.environment["HOME"], ".local/bin/pcc").unlink()

    missing = run_pcc(["machines", "add", "box"], env=here)
    away = run_pcc(["on", "gone", "list"], env=here)

    assert "'box' has no pcc" in missing.stderr
    assert "'gone' is not reached" in away.stderr
    assert run_pcc(["config", "get", "machines.hosts"], env=here).stdout == "[]\n"


@pytest.fixture
def here(tmp_path):
    yield {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    run_pcc(["daemon", "stop"], env={**os.environ, "HOME": str(tmp_path)})


@pytest.mark.parametrize("host", ["-oProxyCommand=touch x", "all", "a b", "$(id)", "", "here"])
def test_what_ssh_would_take_for_an_option_is_no_host(here, host):
    added = run_pcc(["machines", "add", "--", host], env=here)

    assert added.returncode != 0
    assert "is no host for ssh" in added.stderr


def test_what_changes_something_is_for_one_machine_at_a_time(here):
    stopped = run_pcc(["on", "all", "stop", "shop"], env=here)

    assert stopped.returncode == 2
    assert "one machine at a time" in stopped.stderr


def test_an_agent_answers_nothing_on_another_machine(here):
    tried = run_pcc(["on", "box", "respond", "1", "Blue"], env={**here, "CLAUDECODE": "1"})

    assert "Only a person works on other machines" in tried.stderr
