"""A commit message is asked by what it says, not by who signed it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perpetualcc.knowledge.messages import without_trailers
from perpetualcc.store.index.opening import open_pipeline

TRAILERS = (
    "Signed-off-by: Ada Moss <ada@example.org>",
    "Co-authored-by: Ben Lark <ben@example.org>",
    "Change-Id: I8c0ffee08c0ffee08c0ffee08c0ffee08c0ffee0",
    "PR-URL: https://example.org/pull/12",
    "Fixes: https://example.org/issues/9",
    "Closes: #12",
    "Bug: 1234",
    "(cherry picked from commit 8c0ffee08c0ffee08c0ffee08c0ffee08c0ffee0)",
)


@pytest.mark.parametrize("trailer", TRAILERS)
def test_lines_for_tools_at_the_end_of_a_message_are_not_asked(trailer):
    message = f"parser: keep the last line\n\nIt was lost.\n\n{trailer}\n{TRAILERS[0]}\n"

    assert without_trailers(message) == "parser: keep the last line\nIt was lost."


@pytest.mark.parametrize(
    ("message", "told"),
    [
        ("Content-Type: keep its charset", "Content-Type: keep its charset"),
        ("Keep it\n\nNote: the drawer stays open", "Keep it\nNote: the drawer stays open"),
        ("open the drawer (#123)", "open the drawer ( )"),
        ("[PATCH 2/3] open the drawer", "open the drawer"),
        ("feat(till)!: open the drawer", "till  open the drawer"),
        ("fix: open the drawer", "open the drawer"),
        ("open it Signed-off-by: Ada Moss <a@example.org>", "open it"),
        ("open it Reviewed-By: A <a@b.org> Reviewed-By: C <c@b.org>", "open it"),
        ("Revert 1a2b3c4d5 and defaced in 1234567", "Revert   and defaced in 1234567"),
        ("1a2b3c4d5", "1a2b3c4d5"),
        ("https://example.org/x", "https://example.org/x"),
    ],
)
def test_what_only_names_a_person_or_a_place_goes_and_what_may_be_code_stays(message, told):
    assert without_trailers(message).strip() == told


@given(st.text())
def test_whatever_is_asked_something_is_left_of_it(text):
    assert bool(without_trailers(text).strip()) == bool(text.strip())


def test_a_reviewer_who_has_the_name_of_a_file_does_not_find_it(tmp_path):
    (tmp_path / "moss.py").write_text("def moss():\n    return 'ada moss'\n")
    (tmp_path / "till.py").write_text("def open_drawer(cashier):\n    return cashier\n")
    pipeline = open_pipeline(tmp_path)
    pipeline.index_project()

    found = pipeline.retrieve(f"drawer: stays closed\n\n{TRAILERS[0]}")

    assert [result.file_path for result in found] == ["till.py"]
