"""
The one worker for all projects (seed 004): reads the queue, remembers corrections.

It may be killed at any instruction. What a person needs to know about it is in its heartbeat.
"""

import contextlib
import errno
import fcntl
import json
import logging
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from perpetualcc.domain.private_files import opened, opened_log, write_whole
from perpetualcc.domain.private_log import PrivateLog, RedactingFormatter
from perpetualcc.domain.secrets import redact
from perpetualcc.domain.times import duration
from perpetualcc.learning.control import DISK_SPENT
from perpetualcc.learning.events import CapturedEvent, UnreadableLine, parse_line
from perpetualcc.learning.files import read_json
from perpetualcc.learning.library import Library
from perpetualcc.learning.places import Places
from perpetualcc.learning.process import Confirm, EventProcessor
from perpetualcc.learning.queue import Line, QueueReader

log = logging.getLogger(__name__)

BATCH = 100
EVENT_SECONDS = 60
"""Seed 004: at most so long for one event."""
STUCK_SECONDS = 120
"""Seed 004: a worker without activity ends itself; its service starts another."""
LOOK_SECONDS = 10.0
"""Between two looks of the watchdog."""
POLL_SECONDS = 1.0
MOST_ATTEMPTS = 3
ATTEMPTS_SECONDS = 600
"""An event at which the worker ended so often, over so long, is set aside: somebody who kills the
worker every second must not cost an event, one that always kills it must not stop the rest."""
_LOCK_SECONDS = 0.5
_REJECTED_CHARACTERS = 4_000
_REASON = 200
"""Characters of a reason in the log: it may quote what it stumbled over."""
_REJECTED_BYTES = 5_000_000
_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO})
"""What is wrong with a disk, and with every event as long as it is."""
_ESCAPES = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)")


class EventTimeout(Exception):  # noqa: N818  # says what happened
    """An event took more than `EVENT_SECONDS`."""


class AnotherWorker(Exception):  # noqa: N818  # says what happened
    """The lock is held: one worker serves everything."""


class Worker:
    """Reads events and gives them to a processor, in order, each once."""

    def __init__(self, places: Places, confirm: Confirm | None = None) -> None:
        self._places = places
        places.make()
        self._library = Library(places)
        self._processor = EventProcessor(places, self._library, confirm)
        self._queue = QueueReader(places)
        self._active = time.monotonic()
        self._processed = 0

    def run(self, stop: threading.Event, *, once: bool = False) -> int:
        """
        Work until told to stop, or until the queue is empty. Returns how many events were read.

        Raises `AnotherWorker`; whatever else ends it is a bug, and the next worker goes on.
        """
        with self._alone(), self._watched():
            log.info("Worker started (PID %d)", os.getpid())
            self._library.make_private()
            self._notice_a_crash()
            self._queue.wipe_the_past()
            self._beat("starting")
            while not stop.is_set():
                count = self._batch(stop)
                self._queue.rotate()
                self._beat("idle")
                if once and not count:
                    break
                if not count:
                    stop.wait(POLL_SECONDS)
            log.info("Worker stopped (PID %d)", os.getpid())
        return self._processed

    def _batch(self, stop: threading.Event) -> int:
        count = 0
        for line in self._queue.lines(BATCH):
            if stop.is_set():
                break
            self._handle(line)
            count += 1
            self._processed += 1
        return count

    def _handle(self, line: Line) -> None:
        """Give a line its effect, then move the place behind it and take the words out of it."""
        self._active = time.monotonic()
        events: list[CapturedEvent] = []
        try:
            events = parse_line(line.data) if line.data.strip() else []
            for event in events:
                self._beat("processing", current=event)
                with _deadline(EVENT_SECONDS):
                    log.info("%s (%s)", self._processor.process(event), event.project)
        except UnreadableLine as error:
            self._set_aside(line.data, str(error))
        except EventTimeout:
            self._set_aside(line.data, f"took more than {duration(EVENT_SECONDS)}")
        except Exception as error:  # the loop outlives its items
            if isinstance(error, OSError) and error.errno in _DISK:
                raise  # it is not the event's fault: the next worker reads it again
            log.exception("Event set aside")
            self._set_aside(line.data, repr(error))
        self._leave_behind(line, events)

    def _leave_behind(self, line: Line, events: list[CapturedEvent]) -> None:
        """In this order: whenever it is killed, no text stays that nobody would look at again."""
        for spool in filter(None, (event.spool for event in events)):
            (self._places.spool / Path(spool).name).unlink(missing_ok=True)
        self._queue.save(line.place, processed=1)
        self._queue.wipe(line)

    def _set_aside(self, data: bytes, why: str) -> None:
        log.warning("Set aside a line of the queue: %s", redact(why)[:_REASON])
        record = json.dumps({"at": time.time(), "why": redact(why), "line": _quoted(data)})
        path = self._places.rejected
        if path.exists() and path.stat().st_size > _REJECTED_BYTES:
            path.replace(path.with_suffix(".old.jsonl"))
        with os.fdopen(opened_log(path), "a", encoding="utf-8") as file:
            file.write(record + "\n")

    def _notice_a_crash(self) -> None:
        """Count how often the event at our place was begun; one that keeps killing us is left."""
        heartbeat = read_json(self._places.heartbeat) or {}
        if heartbeat.get("offset") != self._queue.place.offset or not heartbeat.get("current"):
            return
        attempts = self._queue.note_attempt()
        lasting = time.time() - self._queue.attempted_since
        if attempts < MOST_ATTEMPTS or lasting < ATTEMPTS_SECONDS:
            return
        for line in self._queue.lines(1):
            self._set_aside(line.data, f"ended the worker {attempts} times")
            self._leave_behind(line, [])

    def _beat(self, status: str, *, current: CapturedEvent | None = None) -> None:
        self._active = time.monotonic()
        beat = {
            "pid": os.getpid(),
            "at": time.time(),
            "status": status,
            "processed": self._processed,
            "offset": self._queue.place.offset,
            "current": current
            and {"id": current.id, "kind": current.kind, "project": current.project},
        }
        write_whole(self._places.heartbeat, json.dumps(beat) + "\n")

    @contextlib.contextmanager
    def _watched(self) -> Iterator[None]:
        """End the process when nothing moves: a stuck worker helps nobody (seed 004)."""
        over = threading.Event()
        self._active = time.monotonic()

        def look() -> None:
            while not over.wait(LOOK_SECONDS):
                if time.monotonic() - self._active > STUCK_SECONDS:
                    log.error("Worker stuck, ending it")
                    os._exit(1)

        threading.Thread(target=look, name="watchdog", daemon=True).start()
        try:
            yield
        finally:
            # The process may have other work to do than this.
            over.set()

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        descriptor = opened(self._places.lock, os.O_RDWR)
        try:
            _take(descriptor)
            os.truncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
            yield
        finally:
            os.close(descriptor)


def _quoted(data: bytes) -> str:
    """The beginning of a line, for whoever looks what was wrong with it; secrets are redacted."""
    # Escaped, a line's end before a secret would look like a letter of it.
    text = _ESCAPES.sub(" ", data[: 2 * _REJECTED_CHARACTERS].decode(errors="backslashreplace"))
    return redact(text)[:_REJECTED_CHARACTERS]


def _take(descriptor: int) -> None:
    """Lock, trying for a moment: who only asks whether a worker runs holds it for an instant."""
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > deadline:
                raise AnotherWorker from error
            time.sleep(0.02)
        else:
            return


@contextlib.contextmanager
def _deadline(seconds: float) -> Iterator[None]:
    """Raise `EventTimeout` in the main thread after so long; elsewhere there is the watchdog."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise EventTimeout

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def work(places: Places, confirm: Confirm | None = None) -> int:
    """The whole life of a worker in a process of its own. Returns the exit code."""
    places.make()
    handler = PrivateLog(places.log, maxBytes=1_000_000, backupCount=2)
    handler.setFormatter(
        RedactingFormatter("%(asctime)s [%(levelname)s] %(message)s", "%Y-%m-%d %H:%M:%S")
    )
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        Worker(places, confirm).run(stop)
    except AnotherWorker:
        log.info("Another worker is at work")
    except OSError as error:
        if error.errno not in _DISK:
            raise
        log.error("The disk keeps nothing (%s); what waits is read later", error.strerror)  # noqa: TRY400
        return DISK_SPENT
    return 0
