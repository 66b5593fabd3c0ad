"""
`pcc` as a process of its own that does not wait for Python to start.

It is forked from a process that has imported the command line already, with its own arguments,
variables, folder and streams: a fifth of the processor time of a start from nothing. What shapes
an interpreter from outside (`PYTHON…`, the locale, the mark of a run) is not seen by a fork, so
with another such variable Python is started; on macOS always, whose libraries may not be forked.
"""

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from perpetualcc.claude.processes import VARIABLE as RUN
from tests.leftovers import LEAK_MARK

PROGRAMS = {"pcc": "perpetualcc.cli.main", "claude-learning": "perpetualcc.cli.learn"}
_SHAPE = ("PYTHON", "LANG", "LC_", RUN)
_READY = ("perpetualcc.cli.main", "perpetualcc.cli.sessions", "perpetualcc.daemon.launch")


def run_pcc(
    words: Sequence[str | Path],
    *,
    env: Mapping[str, str],
    cwd: Path | None = None,
    stdin: str | None = None,
    within: float = 50.0,
    program: str = "pcc",
) -> subprocess.CompletedProcess[str]:
    """As `subprocess.run` when it captures text; without `stdin` there is nothing to read."""
    if sys.platform == "darwin" or _shape(env) != _forkserver().shape:
        return subprocess.run(
            [str(Path(sys.executable).parent / program), *words],
            input=stdin or "",
            env=env,
            cwd=cwd,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            check=False,
            timeout=within,
        )
    order = {
        "argv": [program, *map(str, words)],
        "environment": dict(env),
        "folder": str(cwd or Path.cwd()),
    }
    with tempfile.TemporaryFile() as given:
        given.write((stdin or "").encode(errors="surrogateescape"))
        given.seek(0)
        return _forkserver().run(order, given, within)


def _shape(variables: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in variables.items() if name.startswith(_SHAPE)}


class _Forkserver:
    """The process that is ready. It ends with this one, whose end of the socket it reads from."""

    def __init__(self) -> None:
        self.shape = _shape(os.environ)
        self._orders, theirs = socket.socketpair()
        self._one_at_a_time = threading.Lock()
        command = [sys.executable, "-m", "tests.commands", str(theirs.fileno())]
        root = Path(__file__).parents[1]
        # It outlives the test that needed it first, and is nothing which that test left behind.
        unmarked = {name: text for name, text in os.environ.items() if name != LEAK_MARK}
        self._process = subprocess.Popen(
            command, cwd=root, env=unmarked, pass_fds=[theirs.fileno()]
        )
        theirs.close()
        atexit.register(self.close)

    def close(self) -> None:
        self._orders.close()
        self._process.wait()

    def run(
        self, order: dict[str, Any], stdin: IO[bytes], within: float
    ) -> subprocess.CompletedProcess[str]:
        deadline = time.monotonic() + within
        report, reporting = socket.socketpair()
        streams = [os.pipe(), os.pipe()]
        written = [writing for _, writing in streams]
        line = json.dumps(order).encode()
        with self._one_at_a_time:
            fds = [stdin.fileno(), *written, reporting.fileno()]
            socket.send_fds(self._orders, [len(line).to_bytes(4)], fds)
            self._orders.sendall(line)
        reporting.close()
        for fd in written:
            os.close(fd)
        readers = [_Reader(reading) for reading, _ in streams]
        with report, report.makefile() as told:
            pid = int(told.readline())
            try:
                report.settimeout(max(0.0, deadline - time.monotonic()))
                code = int(told.readline())
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                said = [reader.text(1.0) for reader in readers]
                raise subprocess.TimeoutExpired(order["argv"], within, *said) from None
        said = [reader.text(max(0.0, deadline - time.monotonic())) for reader in readers]
        if any(reader.is_alive() for reader in readers):
            raise subprocess.TimeoutExpired(order["argv"], within, *said)
        return subprocess.CompletedProcess(order["argv"], code, *said)


class _Reader(threading.Thread):
    def __init__(self, fd: int) -> None:
        super().__init__(daemon=True)
        self._fd, self._said = fd, bytearray()
        self.start()

    def run(self) -> None:
        while chunk := os.read(self._fd, 65536):
            self._said += chunk
        os.close(self._fd)

    def text(self, within: float) -> str:
        self.join(within)
        return self._said.decode(errors="surrogateescape").replace("\r\n", "\n")


_STARTING = threading.Lock()


def _forkserver() -> _Forkserver:
    with _STARTING:
        return _the_forkserver()


@cache
def _the_forkserver() -> _Forkserver:
    return _Forkserver()


def _serve(orders: socket.socket) -> None:
    for module in _READY:
        import_module(module)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        head, fds, *_ = socket.recv_fds(orders, 4, 4)
        if not head:
            return
        with orders.makefile("rb", buffering=0) as lines:
            line = b""
            while len(line) < int.from_bytes(head):
                line += lines.read(int.from_bytes(head) - len(line))
        if os.fork() == 0:
            orders.close()
            _keep(json.loads(line), fds)
            return
        for fd in fds:
            os.close(fd)


def _keep(order: dict[str, Any], fds: list[int]) -> None:
    """Tell the process id, wait for the end of the command, and tell its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    *streams, report = fds
    if (pid := os.fork()) == 0:
        os.close(report)
        _become(order, streams)
        return
    for fd in streams:
        os.close(fd)
    os.write(report, b"%d\n" % pid)
    _, status = os.waitpid(pid, 0)
    os.write(report, b"%d\n" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def _become(order: dict[str, Any], streams: list[int]) -> None:
    for number, (name, fd) in enumerate(zip(("stdin", "stdout", "stderr"), streams, strict=True)):
        os.dup2(fd, number)
        os.close(fd)
        before = getattr(sys, name)
        fresh = open(  # noqa: SIM115  # it stays open
            number,
            before.mode,
            buffering=1 if name == "stderr" else -1,
            encoding=before.encoding,
            errors=before.errors,
            closefd=False,
        )
        setattr(sys, name, fresh)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    time.tzset()
    sys.argv = order["argv"]
    import_module(PROGRAMS[sys.argv[0]]).main()


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
