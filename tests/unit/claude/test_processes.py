"""What is ours is found and ended, and nothing else."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest

from perpetualcc.claude import processes
from perpetualcc.domain.ids import RunId

SLEEP = "import time; print('up', flush=True); time.sleep(60)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEP}"
DARWIN_PS = Path(__file__).parents[2] / "fakes" / "darwin_ps.py"
ONE, TWO = RunId("r-1"), RunId("r-2")


@pytest.fixture(autouse=True, params=["by /proc", "by ps"])
def found(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Linux, and as on macOS, where only `ps` tells."""
    if request.param == "by ps":
        monkeypatch.setattr(processes, "_HAS_PROC", False)
        if sys.platform != "darwin":
            words = (sys.executable, "-I", "-S", str(DARWIN_PS))
            monkeypatch.setattr(processes, "_PS", words)
    elif not Path("/proc/self").exists():
        pytest.skip("there is no /proc here")


class Spawner:
    """Starts processes that the test forgets about, and their real parent does not."""

    def __init__(self, stack: ExitStack) -> None:
        self.stack = stack
        self.children: dict[int, subprocess.Popen[bytes]] = {}

    def __call__(self, code: str, environment: dict[str, str], *wrapper: str) -> int:
        child = self.stack.enter_context(
            subprocess.Popen(
                [*wrapper, sys.executable, "-c", code],
                env=os.environ | environment,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
        )
        self.stack.callback(child.kill)
        assert child.stdout
        assert child.stdout.readline() == b"up\n"
        self.children[child.pid] = child
        return child.pid


@pytest.fixture
def spawn() -> Iterator[Spawner]:
    with ExitStack() as stack:
        yield Spawner(stack)


def test_marked_processes_are_found_by_data_directory_and_run(
    tmp_path: Path, spawn: Spawner
) -> None:
    one = spawn(SLEEP, processes.mark(tmp_path, ONE))
    two = spawn(SLEEP, processes.mark(tmp_path, TWO))
    spawn(SLEEP, processes.mark(tmp_path / "other", ONE))
    spawn(SLEEP, {})

    assert sorted(processes.find(tmp_path)) == sorted([one, two])
    assert processes.find(tmp_path, TWO) == [two]


def test_a_child_that_cleaned_its_environment_is_found_through_its_parent(
    tmp_path: Path, spawn: Spawner
) -> None:
    parent = spawn(
        f"import subprocess, sys; subprocess.run([sys.executable, '-c', {SLEEP!r}], env={{}},"
        " start_new_session=True)",
        processes.mark(tmp_path, ONE),
    )

    found = processes.find(tmp_path)

    assert len(found) == 2
    assert parent in found
    processes.end(found, timedelta())


def test_this_process_is_never_listed_and_passes_no_mark_on(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, os; from pathlib import Path\n"
        "from perpetualcc.claude import processes\n"
        f"child = subprocess.Popen([sys.executable, '-c', {SLEEP!r}], env={{}}, stdout=-3)\n"
        f"print(processes.find(Path({str(tmp_path)!r})))\n"
        "child.kill(); child.wait()"
    )
    environment = os.environ | processes.mark(tmp_path, ONE)

    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines()[-1] == "[]"


def test_a_data_directory_is_the_same_through_a_symbolic_link(
    tmp_path: Path, spawn: Spawner
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")

    pid = spawn(SLEEP, processes.mark(tmp_path / "link", ONE))

    assert processes.find(tmp_path / "real") == [pid]


@pytest.mark.parametrize(
    ("code", "grace", "ended_by"), [(SLEEP, 30.0, signal.SIGTERM), (STUBBORN, 0.2, signal.SIGKILL)]
)
def test_end_is_polite_first(
    tmp_path: Path, spawn: Spawner, code: str, grace: float, ended_by: signal.Signals
) -> None:
    pid = spawn(code, processes.mark(tmp_path, ONE))

    left = processes.end([pid], timedelta(seconds=grace))

    assert left == []
    assert not processes.is_alive(pid)
    assert spawn.children[pid].wait() == -ended_by


def test_end_never_ends_this_process() -> None:
    assert processes.end([os.getpid()], timedelta()) == []


UNMARKED = """
import os, subprocess, sys
clean = {k: v for k, v in os.environ.items() if k != "PERPETUALCC_RUN"} | {MORE}
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], env=clean)
print(child.pid, file=open({FILE!r}, "w"), flush=True)
print("up", flush=True)
child.wait()
"""


@pytest.mark.parametrize("more", ["{}", '{"PERPETUALCC_RUN": "another:r-9"}'])
def test_a_process_is_of_a_run_when_it_or_a_parent_carries_its_mark(
    tmp_path: Path, spawn: Spawner, more: str
) -> None:
    file, mark = tmp_path / "pid", processes.mark(tmp_path, ONE)
    parent = spawn(UNMARKED.replace("{MORE}", more).replace("{FILE!r}", repr(str(file))), mark)
    child = int(file.read_text())

    try:
        assert processes.is_of_run(tmp_path, parent)
        assert processes.is_of_run(tmp_path, child)
        assert processes.is_of_run(None, child)
        assert not processes.is_of_run(tmp_path / "other", child)
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_person_s_process_is_of_no_run_and_of_one_that_is_gone_nobody_can_tell(
    tmp_path: Path, spawn: Spawner
) -> None:
    mine = spawn(SLEEP, {})
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()

    assert not processes.is_of_run(tmp_path, mine)
    assert processes.is_of_run(tmp_path, gone.pid)


TOKEN = "b94d27b9934d3e08"
MACOS = f"""\
  512     1 /sbin/launchd-child
 1201     1 /Users/ann/my projects/.venv/bin/python -m supervisor HOME=/Users/ann
 1202  1201 /opt/homebrew/bin/python3.12 -m x PERPETUALCC_RUN={TOKEN}:r-1
 1203  1202 /bin/sleep 100
 1204  1202 /opt/bin/node -e PERPETUALCC_RUN=fake:r-9 x\\^Jy PERPETUALCC_RUN={TOKEN}:r-2
 1205  1202 (zsh)
99999     1 /usr/libexec/caf\N{REPLACEMENT CHARACTER} x
"""
"""As `ps -Ewwx -o pid= -o ppid= -o command=` prints it: Apple's programs hide their variables."""


def test_the_listing_of_macos_is_read_with_every_mark_in_it() -> None:
    listed = [*processes.processes_in(f"{MACOS}\n  no line of ps\n")]

    assert [(one.pid, one.parent) for one in listed] == [
        (512, 1), (1201, 1), (1202, 1201), (1203, 1202), (1204, 1202), (1205, 1202), (99999, 1)
    ]  # fmt: skip
    assert {one.pid: one.marks for one in listed if one.marks} == {
        1202: (f"{TOKEN}:r-1",),
        1204: ("fake:r-9", f"{TOKEN}:r-2"),
    }


def test_the_states_of_macos_are_read() -> None:
    assert processes.states_in(" 1201 Ss\n 1202 S+\n 1203 T\n 1205 Z+\n99999 U<s\n") == {
        1201: "S", 1202: "S", 1203: "T", 1205: "Z", 99999: "U"
    }  # fmt: skip
    assert processes.states_in("") == {}


def test_a_data_directory_has_one_mark_however_it_is_spelled(case_blind: Path) -> None:
    (case_blind / "Data").mkdir(exist_ok=True)

    assert processes.mark(case_blind / "Data", ONE) == processes.mark(case_blind / "DATA", ONE)


def test_a_program_that_hides_its_environment_is_found_through_its_parent(
    tmp_path: Path, spawn: Spawner
) -> None:
    parent = spawn(
        "import subprocess; c = subprocess.Popen(['/bin/sleep', '60']); print('up', flush=True);"
        " c.wait()",
        processes.mark(tmp_path, ONE),
    )

    found = processes.find(tmp_path, ONE)

    assert len(found) == 2
    assert parent in found
    assert processes.sweep(tmp_path, timedelta(), ONE) == 2


def test_a_mark_among_the_words_of_a_command_hides_no_run(tmp_path: Path, spawn: Spawner) -> None:
    words = f"'PERPETUALCC_RUN=fake:{TWO}'; {SLEEP}"
    one = spawn(words, processes.mark(tmp_path, ONE))

    assert processes.find(tmp_path, ONE) == [one]
