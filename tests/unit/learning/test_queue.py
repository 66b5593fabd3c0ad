"""The queue: each line counts once, whatever becomes of the file."""

import gzip
import time

import pytest

from perpetualcc.learning import queue
from perpetualcc.learning.queue import QueueReader
from tests.unit.learning.test_worker import line, seen, work


def test_what_was_read_is_not_read_again(places, tmp_path):
    places.queue.write_bytes(line(tmp_path))

    assert [work(places), work(places)] == [1, 0]


@pytest.mark.parametrize(
    "bad",
    [b"\x00\xff\xfe\n", b"{}\n", b"[1]\n", b'{"v":1,"id":"x"\n', b'{"v":9,"id":"x"}\n',
     b'{"v":1,"id":"x","project":"relative"}\n', b"[" * 100_000 + b"\n", b"\n",
     b"x" * 3_000_000 + b"\n"],
)  # fmt: skip
def test_a_bad_line_costs_only_itself(places, tmp_path, bad):
    places.queue.write_bytes(line(tmp_path, number=1) + bad + line(tmp_path, number=2))

    work(places)

    assert seen(places, tmp_path) == 2
    assert places.rejected.exists() == bool(bad.strip())


def test_a_cut_line_does_not_take_its_neighbour_along(places, tmp_path):
    whole = line(tmp_path, number=1)
    places.queue.write_bytes(whole[:40] + line(tmp_path, number=2) + line(tmp_path, number=3))

    work(places)

    assert seen(places, tmp_path) == 2


@pytest.mark.parametrize("cut", [b"{", b'{"v":1', b"of another program "])
def test_a_beginning_that_was_cut_at_once_does_not_take_its_neighbour_along(places, tmp_path, cut):
    places.queue.write_bytes(cut + line(tmp_path))

    work(places)

    assert seen(places, tmp_path) == 1


def test_two_events_of_which_the_first_lost_its_lines_end_both_count(places, tmp_path):
    places.queue.write_bytes(line(tmp_path)[:-1] + line(tmp_path, number=1))

    work(places)

    assert seen(places, tmp_path) == 2


def test_a_queue_that_was_deleted_and_got_the_same_inode_is_read_from_its_start(places, tmp_path):
    places.queue.write_bytes(line(tmp_path) + line(tmp_path, number=1))
    work(places)
    other = b"".join(line(tmp_path, number=number) for number in (2, 3, 4))
    places.queue.write_bytes(other)  # the same inode, and longer

    work(places)

    assert seen(places, tmp_path) == 5


def test_a_line_that_is_being_written_is_waited_for(places, tmp_path):
    whole = line(tmp_path)
    places.queue.write_bytes(whole[:-10])
    assert work(places) == 0

    places.queue.write_bytes(whole)

    assert work(places) == 1


def test_a_long_queue_is_rotated_packed_and_forgotten(places, tmp_path, monkeypatch):
    monkeypatch.setattr(queue, "ROTATE_AFTER", 3)
    monkeypatch.setattr(queue, "QUIET_SECONDS", 0.0)
    places.queue.write_bytes(b"".join(line(tmp_path, number=n) for n in range(4)))
    work(places)
    reader = QueueReader(places)
    reader.rotate(now=time.time() + 5)
    packed = list(places.claude.glob("learning_queue.*.jsonl.gz"))
    with places.queue.open("ab") as file:
        file.write(line(tmp_path, number=9))

    assert work(places) == 1
    assert len(gzip.decompress(packed[0].read_bytes()).splitlines()) == 4
    reader.rotate(now=time.time() + 8 * 86_400)
    assert list(places.claude.glob("*.gz")) == []


def test_a_hook_that_opened_the_queue_before_its_rotation_is_heard(places, tmp_path, monkeypatch):
    monkeypatch.setattr(queue, "ROTATE_AFTER", 1)
    places.queue.write_bytes(line(tmp_path))
    late = places.queue.open("ab")
    work(places)
    assert list(places.claude.glob("learning_queue.*.jsonl"))
    late.write(line(tmp_path, number=2))
    late.close()

    assert work(places) == 1
    assert seen(places, tmp_path) == 2


def test_a_copy_of_the_queue_that_a_person_made_stays(places, tmp_path, monkeypatch):
    monkeypatch.setattr(queue, "QUIET_SECONDS", -1.0)
    copy = places.queue.with_name("learning_queue.mine.jsonl")
    copy.write_bytes(line(tmp_path))

    work(places)

    assert copy.exists()
