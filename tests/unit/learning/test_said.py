"""What a person says to a supervised Claude is queued as if they had typed it elsewhere."""

from pathlib import Path

import pytest

from perpetualcc.learning.events import parse_line
from perpetualcc.learning.install import install
from perpetualcc.learning.said import queue_said


def queued(places, text="no, use pnpm, not npm", **more):
    hook = {"session_id": "c-1", "transcript_path": "/t.jsonl"}
    return queue_said(places, "said-s-1", text, project=Path("/p"), at=5.0, hook=hook, **more)


@pytest.mark.parametrize("text", ["no, use pnpm, not npm", "ünï\ncödé 🚀 \"'\\", "x" * 8_000])
def test_it_is_one_line_of_a_persons(places, text):
    install(places)

    assert queued(places, text)

    [line] = places.queue.read_bytes().splitlines()
    [event] = parse_line(line)
    assert (event.id, event.kind, event.project, event.by_user) == (
        "said-s-1",
        "prompt",
        "/p",
        True,
    )
    assert event.hook["prompt"] == text
    assert event.hook["transcript_path"] == "/t.jsonl"
    assert places.queue.stat().st_mode & 0o777 == 0o600


def test_who_has_no_hooks_is_not_listened_to(places):
    assert not queued(places)
    assert not places.queue.exists()


def test_what_is_no_file_is_not_written_to(places):
    install(places)
    places.queue.mkdir()

    assert not queued(places)
