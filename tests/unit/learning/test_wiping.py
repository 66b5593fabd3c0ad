"""What was read keeps no words: neither in the queue nor beside it, whenever a worker is killed."""

import json
import os
import subprocess
import sys
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perpetualcc.learning import wiping
from perpetualcc.learning.events import parse_line
from perpetualcc.learning.install import hooks_directory
from perpetualcc.learning.library import Library
from perpetualcc.learning.process import EventProcessor
from perpetualcc.learning.queue import QueueReader
from perpetualcc.learning.worker import Worker

SECRET = "sk-ant-api03-" + "Ab1" * 20
RULE = f"from now on always use pnpm, never npm; my key is {SECRET}"


def capture(places, prompt, kind="prompt"):
    subprocess.run(
        ["bash", str(hooks_directory() / "capture.sh"), kind],
        input=json.dumps({"session_id": "s", "prompt": prompt}).encode(), check=True,
        env={"PATH": "/usr/bin:/bin", "CLAUDE_CONFIG_DIR": str(places.claude)},
        cwd=places.claude.parent, timeout=20,
    )  # fmt: skip


def work(places):
    return Worker(places).run(threading.Event(), once=True)


def written(places):
    """All bytes below Claude Code's directory and in the project."""
    files = (path for path in places.claude.parent.rglob("*") if path.is_file())
    return b"".join(path.read_bytes() for path in files)


@pytest.mark.parametrize("more", ["", "x\n" * 3_000], ids=["in the queue", "beside the queue"])
def test_a_typed_secret_is_nowhere_when_its_event_was_read(places, more):
    capture(places, RULE + more)
    assert SECRET.encode() in written(places)

    work(places)

    assert SECRET.encode() not in written(places)
    assert "pnpm" in Library(places).all(str(places.claude.parent))[0].preference.rule


def test_of_an_event_that_was_read_the_queue_keeps_who_where_and_when(places):
    capture(places, "good morning")
    (before,) = parse_line(places.queue.read_bytes())
    size = places.queue.stat().st_size

    work(places)

    (after,) = parse_line(places.queue.read_bytes())
    assert places.queue.stat().st_size == size
    assert (after.id, after.kind, after.project) == (before.id, before.kind, before.project)
    assert (after.timestamp, after.hook) == (before.timestamp, {})


@pytest.mark.parametrize("bad", ['{"v":9,"x":"@"}\n', '{"v":1,"id":"a\\n@"\n', "no JSON: @\n"])
def test_a_line_that_cannot_be_read_is_kept_aside_without_its_secret(places, bad):
    places.queue.write_text(bad.replace("@", SECRET))

    work(places)

    assert places.rejected.exists()
    assert SECRET.encode() not in written(places)


def test_an_event_that_fails_leaves_no_text_beside_the_queue(places, monkeypatch):
    def fail(*_):
        raise ValueError(SECRET)

    monkeypatch.setattr(EventProcessor, "process", fail)
    capture(places, RULE + "x\n" * 3_000)

    work(places)

    assert list(places.spool.iterdir()) == []
    assert SECRET.encode() not in places.queue.read_bytes() + places.rejected.read_bytes()


def test_an_error_that_quotes_a_secret_is_logged_without_it(places):
    fails = (
        "import sys; from pathlib import Path\n"
        "from perpetualcc.learning import process, worker\n"
        "from perpetualcc.learning.places import Places\n"
        "def fail(*_): raise ValueError(sys.argv[2])\n"
        "process.EventProcessor.process = fail\n"
        "worker.work(Places(claude=Path(sys.argv[1])))\n"
    )
    capture(places, "hello")
    child = subprocess.Popen([sys.executable, "-c", fails, str(places.claude), SECRET])
    try:
        deadline = time.monotonic() + 20
        while not places.rejected.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        child.kill()
        child.wait()

    assert "ValueError: [redacted]" in places.log.read_text()
    assert SECRET.encode() not in written(places)


def test_what_a_killed_worker_or_an_older_version_left_is_wiped_by_the_next(places):
    capture(places, RULE)
    reader = QueueReader(places)
    (line,) = reader.lines(1)
    reader.save(line.place)
    half = places.queue.read_bytes()
    places.queue.write_bytes(half[:150] + b" " * 30 + half[180:])
    capture(places, "the next, not read yet")

    reader.wipe_the_past()

    assert SECRET.encode() not in places.queue.read_bytes()
    assert b"not read yet" in places.queue.read_bytes()


def test_what_was_appended_to_a_queue_that_somebody_emptied_is_not_wiped(places):
    capture(places, "thank you, good night. " * 30)
    work(places)
    places.queue.write_bytes(b"")
    capture(places, "from now on never use npm")

    assert work(places) == 1
    assert len(Library(places).all(str(places.claude.parent))) == 1


def test_hooks_append_while_lines_are_wiped_and_none_is_lost(places):
    stop = threading.Event()

    def write():
        for number in range(60):
            capture(places, f"message {number} {SECRET}")
        stop.set()

    writing = threading.Thread(target=write)
    writing.start()
    while not stop.is_set():
        work(places)
    writing.join()
    work(places)

    lines = places.queue.read_bytes().splitlines()
    assert len({parse_line(line)[0].id for line in lines}) == 60
    assert not places.rejected.exists()
    assert SECRET.encode() not in written(places)


def test_a_text_that_no_event_names_goes_after_a_week(places):
    forgotten, fresh = places.spool / "old.json", places.spool / "new.json"
    for path in (forgotten, fresh):
        path.write_text(SECRET)
    os.utime(forgotten, (1, time.time() - 8 * 86_400))
    capture(places, "hello")

    work(places)

    assert [path.name for path in places.spool.iterdir()] == ["new.json"]


@given(st.binary(max_size=300))
def test_wiping_keeps_the_length_and_twice_is_once(data):
    line = b'{"v":1,"id":"1","type":"prompt","project":"/a\\"}","timestamp":5,"by":"user"' + data

    for text in (data, line):
        once = wiping.without_words(text)
        assert len(once) == len(text)
        assert wiping.without_words(once) == once


def test_a_line_longer_than_any_event_is_wiped_to_its_end(places):
    places.queue.write_bytes(b"x" * 2_500_000 + SECRET.encode() + b"\n")

    work(places)

    assert places.queue.read_bytes().strip() == b""
    assert places.queue.stat().st_size == 2_500_000 + len(SECRET) + 1
