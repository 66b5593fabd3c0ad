"""What one answer of the engine holds, however long a queue is."""

import pytest

from perpetualcc.daemon.views import event_data, rows_for, that_fits
from perpetualcc.domain.events import RecordedEvent, TextSaid
from perpetualcc.domain.ids import SessionId
from perpetualcc.gateway import protocol
from perpetualcc.gateway.protocol import PushedEvent


def queue(tasks: int, length: int) -> dict:
    said = "täsk " * (length // 5)
    task = {"id": "t-123456", "prompt": said, "result": said, "packet": {"state": said}}
    return {"project": "/home/" + "x" * 100, "tasks": [task] * tasks, "checkpoints": []}


def test_a_queue_that_fits_is_told_as_it_is():
    found = queue(3, 3_000)

    assert that_fits([found]) == [found]


@pytest.mark.parametrize(("tasks", "length"), [(140, 30_000), (3_000, 500), (1, 5_000_000)])
def test_of_a_queue_that_is_too_long_the_texts_are_cut(tasks, length):
    found = queue(tasks, length)

    [told] = that_fits([found])

    protocol.response(1, told)  # it fits into a frame
    assert told["project"] == found["project"]
    assert len(told["tasks"]) == tasks
    assert told["tasks"][0]["id"] == "t-123456"
    assert told["tasks"][0]["prompt"].startswith("täsk täsk")
    assert told["tasks"][0]["prompt"].endswith("…")


def request(number: int, length: int) -> dict:
    said = "täsk " * (length // 5)
    raw = {"input": {"file_path": "a.txt", "content": said}}
    return {"number": number, "session": "abc123", "title": "Refused", "raw": raw, "answer": None}


@pytest.mark.parametrize(("rows", "length"), [(100, 200_000), (2_000, 3_000), (1, 5_000_000)])
def test_what_waits_can_be_listed_however_long_the_calls_are(rows, length):
    told = that_fits([request(number, length) for number in range(rows)])

    protocol.response(1, told)  # it fits into a frame
    assert [one["number"] for one in told] == list(range(rows))
    assert told[0]["raw"]["input"]["file_path"] == "a.txt"


def test_of_more_rows_than_one_answer_holds_the_first_are_told():
    told = that_fits([request(number, 50) for number in range(50_000)])

    protocol.response(1, told)
    assert 10_000 < len(told) < 50_000
    assert [one["number"] for one in told] == list(range(len(told)))


@pytest.mark.parametrize("character", ["x", "\x1b", "ä", "🙂"])
def test_an_event_can_be_told_however_long_its_text_is(character):
    said = TextSaid(session=SessionId("abc123"), text=character * 3_000_000)

    told = event_data(RecordedEvent(seq=7, at=1.0, event=said))

    protocol.response(1, [told])
    protocol.event(PushedEvent(event=said.kind, data=told, subscription="s1"))
    assert told["seq"] == 7
    assert told["text"].startswith(character * 500_000)


@pytest.mark.parametrize(
    ("asked", "rows"), [(None, 100), (0, 100), (7, 7), (-1, 1), (1_000_000, 2_000)]
)
def test_an_answer_has_rows_however_many_were_asked_for_and_no_more_than_one_holds(asked, rows):
    assert rows_for(asked) == rows
