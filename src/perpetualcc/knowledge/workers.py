"""
Parsing in other processes: a parse of 300,000 lines is seconds of work for two cores.

Workers are fresh interpreters, because a fork would copy the locks and threads of whoever asks.
They are started by hand: multiprocessing would run the caller's own script again in each of them,
which a script without a main guard answers by starting workers of its own.
"""

import logging
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event

from perpetualcc.knowledge.parse.file import parse_file
from perpetualcc.knowledge.parse.layout import ProjectLayout
from perpetualcc.knowledge.values import CodeFile

log = logging.getLogger(__name__)

BATCH = 40
"""Files that travel to a worker together."""
_START = 60.0
"""Seconds that a worker may take to import the parsers, on a machine that is very busy."""
_PROGRAM = """
import sys
sys.path[:] = {path!r}
from perpetualcc.knowledge.worker_process import serve
serve({descriptor})
"""
"""It imports what the caller would: a project it is run in may hold modules of the same names."""

Batch = tuple[str, ...]


def parse_batch(project: Path, paths: Batch, layout: ProjectLayout) -> list[CodeFile]:
    """Parse files in this process; those that cannot be read are left out."""
    parsed = (parse_file(project, path, layout) for path in paths)
    return [file for file in parsed if file is not None]


def parse_in_processes(
    project: Path, paths: Sequence[str], layout: ProjectLayout, *, processes: int
) -> Iterator[CodeFile]:
    """
    Parse files in so many processes, in any order.

    A file that ends its worker is left out. Where no worker can be started (a program that is no
    Python interpreter, too many processes) this process does the work.
    """
    team = _Team(project, layout)
    try:
        team.start_one()
    except OSError as error:
        log.info("no worker can be started (%s); parsing here", error)
        yield from parse_batch(project, tuple(paths), layout)
        return
    batches = (tuple(paths[at : at + BATCH]) for at in range(0, len(paths), BATCH))
    pending: deque[Future[list[CodeFile]]] = deque()
    with closing(team), ThreadPoolExecutor(processes, thread_name_prefix="parse") as threads, team:
        for batch in batches:
            pending.append(threads.submit(team.parse, batch))
            if len(pending) > processes * 2:  # few under way, so that memory stays flat
                yield from pending.popleft().result()
        while pending:
            yield from pending.popleft().result()


class _Team:
    """The workers of one scan: as many as there are threads that ask at once."""

    def __init__(self, project: Path, layout: ProjectLayout) -> None:
        self._project = project
        self._layout = layout
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        self._all: list[_Worker] = []
        self._is_over = Event()

    def __enter__(self) -> None:
        """For one scan."""

    def __exit__(self, *_: object) -> None:
        """Whoever waits for an answer stops waiting: the scan may have been given up."""
        self._is_over.set()
        for worker in list(self._all):
            worker.end()

    def close(self) -> None:
        """Once nobody asks any more."""
        for worker in self._all:
            worker.end()
            worker.close()

    def start_one(self) -> None:
        """
        Have a worker ready.

        Raises:
            OSError: it does not start, or ends before it can work.
        """
        worker = _Worker(self._project, self._layout)
        self._all.append(worker)
        self._idle.put(worker)

    def parse(self, batch: Batch) -> list[CodeFile]:
        """Halve a batch that ended its worker, until the one file that did it is left out."""
        if self._is_over.is_set():
            return []
        try:
            worker = self._take()
        except OSError as error:
            log.warning("%d files are left out: no worker starts (%s)", len(batch), error)
            return []
        try:
            files = worker.parse(batch)
        except (OSError, EOFError):
            worker.end()
        else:
            self._idle.put(worker)
            return files
        if len(batch) == 1:
            if not self._is_over.is_set():
                log.warning("%s is left out: it ends whoever parses it", batch[0])
            return []
        middle = len(batch) // 2
        return [*self.parse(batch[:middle]), *self.parse(batch[middle:])]

    def _take(self) -> "_Worker":
        while True:
            try:
                return self._idle.get_nowait()
            except Empty:
                self.start_one()


class _Worker:
    """A process at the other end of a socket, which ends when this end does."""

    def __init__(self, project: Path, layout: ProjectLayout) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._pipe = Connection(ours.detach())
            program = _PROGRAM.format(path=sys.path, descriptor=theirs.fileno())
            try:
                self._process = subprocess.Popen(
                    [_interpreter(), "-c", program],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                )
            except BaseException:
                self._pipe.close()
                raise
        try:
            self._pipe.send((project, layout))
            if not self._pipe.poll(_START):
                raise TimeoutError("it says nothing")
            self._pipe.recv()
        except (OSError, EOFError) as error:
            self.end()
            self.close()
            raise OSError(f"a worker ended with {self._process.returncode}") from error

    def parse(self, batch: Batch) -> list[CodeFile]:
        """
        Ask, and wait for the answer.

        Raises:
            OSError, EOFError: it ended.
        """
        self._pipe.send(batch)
        files: list[CodeFile] = self._pipe.recv()
        return files

    def end(self) -> None:
        """It holds nothing that could be lost."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Let go of the socket; not while another thread reads from it."""
        self._pipe.close()


def _interpreter() -> str:
    """
    What starts a second Python.

    Raises:
        OSError: this program is its own interpreter, and would start itself once more.
    """
    if getattr(sys, "frozen", False) or not sys.executable:
        raise OSError("there is no interpreter beside this program")
    return sys.executable
