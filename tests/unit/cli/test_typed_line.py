"""What keys make of a line, however their bytes arrive, and on which rows it is drawn."""

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perpetualcc.cli import typed_line
from perpetualcc.cli.look import width
from perpetualcc.cli.typed_line import TypedLine

SAY = "   Say to Claude > "
BROKEN = ["\x1b[", "\x1b[1 ;", "\x1b[é", "\x1bO", "\x1b\x1b"]
KEYS = ["a", " ", "世", "🚀", "e\u0301", "👍🏽", "\x7f", "\x17", "\x15", "\t", "\x01"]
ARROWS = ["\x1b[A", "\x1b[1;5D", "\x1bOP", "\x1b[3~"]
PASTED = ["\x1b[200~two\rlines\n\x1b[201~"]


def typed(*chunks: bytes) -> tuple[str, list[str]]:
    """What is typed when these have arrived, and the lines that were sent."""
    arriving, line, sent = list(chunks), TypedLine(), []
    line._before = []  # as on a terminal whose keys are read one by one
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typed_line, "_read", lambda: arriving.pop(0))
        while arriving or line.has_more:
            left = len(line._unread)
            if (found := line.read()) is not None:
                sent.append(found)
            assert found is not None or arriving or len(line._unread) < left or not line.has_more
    return line.text, sent


@given(st.lists(st.sampled_from([*KEYS, *PASTED])), st.lists(st.integers(0, 300)))
def test_it_is_the_same_line_however_its_bytes_arrive(keys, cuts):
    whole = "".join(keys).encode()
    places = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    chunks = [whole[begin:end] for begin, end in pairwise(places)]

    assert typed(*chunks) == typed(whole)


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ("word", "word"),
        ("ab\x7f\x08\x7f\x7fc", "c"),
        ("a世\x7f", "a"),
        ("ae\u0301\x7f", "a"),
        ("a👍🏽\x7f", "a"),
        ("one two  \x17three", "one three"),
        ("wrong\x15right", "right"),
        ("".join(["a", *ARROWS, "b"]), "ab"),
        (PASTED[0], "two\nlines\n"),
        ("\x1b[200~\x04\x7f\x1b[31mred\x1b[0m\x1b[201~", "red"),
        ("\x00\x01\x07", ""),
    ],
)
def test_keys_do_what_they_do_on_every_terminal(keys, text):
    assert typed(keys.encode()) == (text, [])


@pytest.mark.parametrize(
    ("chunks", "sent"),
    [
        (["one\ntwo\nthree"], ["one\n", "two\n"]),
        (["\n"], ["\n"]),
        (["\x04"], [""]),
        (["half\x04"], ["half"]),
        (["y", "\x1b", "es\r"], ["yes\n"]),
        (["yes\x1b", "\n"], ["yes\n"]),
        (["\x1b\n"], ["\n"]),
        (["a\x1b[", "Db\n"], ["ab\n"]),
        (["yes\x1b[\n"], ["yes\n"]),
        (["yes\x1b[1 ;\r"], ["yes\n"]),
        (["yes\x1b[", "\x04"], ["yes"]),
        (["\x1b[200~a\n", "b\n\x1b[201~", "\n"], ["a\nb\n\n"]),
    ],
)
def test_a_line_is_sent_by_its_end_and_left_with_ctrl_d(chunks, sent):
    assert typed(*(chunk.encode() for chunk in chunks))[1] == sent


@given(st.text(alphabet="ab 世🚀", max_size=150), st.integers(25, 90))
def test_it_is_drawn_whole_on_rows_that_leave_the_last_column_free(text, columns):
    line = TypedLine()
    line.text, line._invitation, line._columns = text, SAY, columns
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typed_line, "_height", lambda: 40)
        rows = line._laid_out()

    assert all(width(row) < columns for row in rows)
    assert len(rows) <= 6
    whole = SAY + text
    assert "".join(rows) == whole or (rows[0] == " …" and whole.endswith("".join(rows[1:])))


def test_a_book_that_is_pasted_is_read_while_one_looks():
    """Of a page that took a second, a hundred would have taken an hour."""
    book = b"\x1b[200~" + b"A line of a book, and another word\r" * 20_000 + b"\x1b[201~!"
    began = time.process_time()

    line, _ = typed(*(book[at : at + 4_095] for at in range(0, len(book), 4_095)))

    assert line == "A line of a book, and another word\n" * 20_000 + "!"
    assert time.process_time() - began < 5


def test_of_a_long_text_the_end_is_drawn_and_stands_still_while_one_types():
    line = TypedLine()
    line._invitation, line._columns = SAY, 60
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typed_line, "_height", lambda: 40)
        line.text = "word " * 2_000
        before = line._laid_out()
        line.text += "more"
        after = line._laid_out()

    assert len(before) == 6
    assert "".join(after) == "".join(before) + "more"


def test_what_joins_letters_is_pasted_as_it_is_typed():
    persian = "می\u200cخواهم"

    assert typed(f"\x1b[200~{persian}\x1b[201~".encode()) == typed(persian.encode())


@given(st.lists(st.sampled_from([*KEYS, *ARROWS, *PASTED, *BROKEN, "\n", "\x04", "7"])))
def test_whatever_is_typed_something_becomes_of_it(keys):
    """What was read up to a line's end is taken: to look at it for ever would be all one does."""
    text, sent = typed("".join(keys).encode())

    assert "\x1b" not in text + "".join(sent)
