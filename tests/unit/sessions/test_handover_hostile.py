"""A handover document is a file in the project: whoever writes it must not hold the engine up."""

import time

import pytest

from perpetualcc.sessions.handover.document import parse_document
from perpetualcc.sessions.handover.evidence import Evidence, differences

_DOCUMENT = "## Previous Session Summary\n{}\n## Files Modified\n{}\n## Next Steps\n1. Go on\n"


@pytest.mark.parametrize(
    ("summary", "files"),
    [
        ("[" * 120_000, "- a.py - mended"),
        ("- [" * 60_000, "- a.py - mended"),
        ("tests pass " * 20_000 + "never", "- a.py - mended"),
        ("Mended", "- a" + " " * 200_000 + "b"),
    ],
)
def test_a_document_that_is_made_to_take_long_does_not(tmp_path, summary, files):
    began = time.thread_time()

    differences(parse_document(_DOCUMENT.format(summary, files)), Evidence(), tmp_path)

    assert time.thread_time() - began < 5


def test_what_is_claimed_is_read_in_its_sentence(tmp_path):
    document = parse_document(
        _DOCUMENT.format("It is done. All tests pass. More to do.", "- a - b")
    )

    told = differences(document, Evidence(), tmp_path)

    assert any('It says "All tests pass", but' in one for one in told)
