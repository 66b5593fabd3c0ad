"""Claude Code's transcripts, whatever became of them."""

import json
import os

import pytest

from perpetualcc.claude.transcripts import is_connected, transcript_size
from perpetualcc.domain.ids import ClaudeSessionId

pytestmark = pytest.mark.timeout(10)
CONVERSATION = ClaudeSessionId("c1")


@pytest.fixture
def transcript(tmp_path):
    path = tmp_path / "projects" / "p" / f"{CONVERSATION}.jsonl"
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def size(tmp_path):
    return lambda: transcript_size(CONVERSATION, {"CLAUDE_CONFIG_DIR": str(tmp_path)})


def test_the_size_of_a_whole_one_is_told_however_long_it_is(transcript, size):
    transcript.write_text('{"type": "user"}\n')
    os.truncate(transcript, 1 << 30)

    assert size() == 1 << 30


@pytest.mark.parametrize(
    "damage", [b"", b"\x00" * 100, b"{", b"[]\n", b"\xff\xfe\n", b"[" * 50_000 + b"\n"]
)
def test_of_one_that_does_not_begin_well_there_is_nothing_to_read(transcript, size, damage):
    transcript.write_bytes(damage)

    assert size() == 0


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda _: None])
def test_what_is_none_holds_nobody_up(transcript, size, make):
    make(transcript)

    assert size() == 0


def test_one_line_of_a_gigabyte_is_not_read_whole(transcript, size):
    transcript.touch()
    os.truncate(transcript, 1 << 30)

    assert size() == 0


def message(name, parent, **more):
    return json.dumps({"parentUuid": parent, "type": "user", "uuid": name, **more})


@pytest.mark.parametrize(
    ("lines", "holds"),
    [
        ([message("a", None), '{"type": "mode"}', message("b", "a"), message("c", "b")], True),
        (
            [message("a", None), message("b", "a")[:30] + message("c", "b"), message("d", "c")],
            False,
        ),
        ([message("a", None), message("c", "b")], False),
        ([message("a", None), message("b", "a"), message("c", None), message("d", "c")], True),
        ([message("a", None), message("s", "elsewhere", isSidechain=True)], True),
        ([message("a", "b"), message("b", "a")], False),
        ([message("a", None), message("b", "a")[:30]], True),
        (['{"type": "mode"}'], True),
    ],
    ids=["whole", "torn", "missing", "compacted", "an agent's", "round", "cut at the end", "empty"],
)
def test_a_conversation_whose_newest_message_leads_back_is_in_one_piece(
    transcript, tmp_path, lines, holds
):
    transcript.write_text("\n".join(lines))

    assert is_connected(CONVERSATION, {"CLAUDE_CONFIG_DIR": str(tmp_path)}) is holds
