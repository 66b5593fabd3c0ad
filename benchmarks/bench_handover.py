"""What a handover costs: the watch on each event, and the handover itself."""

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.result import Result
from perpetualcc.domain.events import TextSaid
from perpetualcc.domain.ids import RunId
from perpetualcc.sessions.handover.composition import compose
from perpetualcc.sessions.handover.document import (
    HandoverDocument,
    Heading,
    parse_document,
    render_document,
)
from perpetualcc.sessions.handover.evidence import differences, evidence_of
from perpetualcc.sessions.handover.folder import DOCUMENT, STATUS, HandoverFolder
from perpetualcc.sessions.handover.repository import RepositoryState
from perpetualcc.sessions.handover.status_text import status_text
from perpetualcc.sessions.handover.thresholds import Level, Thresholds

LIMITS = Thresholds(warn_tokens=90_000, hard_tokens=120_000, warn_minutes=18, hard_minutes=25)
DOCUMENT_OF_AN_ITERATION = HandoverDocument(
    summary="What was accomplished. " * 40,
    files=tuple(f"src/module_{n}.py - changed" for n in range(40)),
    completed=tuple(f"Step {n}" for n in range(40)),
    next_steps=tuple(f"Step {n}" for n in range(40, 60)),
    code="```python\n" + "print('context')\n" * 200 + "```",
)
HEADING = Heading(generated="2026-11-21", iteration=3, duration="00:18:00", reason="time")


def run() -> list[Result]:
    with tempfile.TemporaryDirectory() as directory:
        folder = HandoverFolder(Path(directory))
        folder.prepare()
        return [
            Result(
                name="a look at the trigger file",
                value=_milliseconds(folder.take_trigger),
                unit="ms",
                limit=1.0,
                note="each second, and after each tool once Claude is warned",
            ),
            Result(
                name="status.txt is written",
                value=_milliseconds(lambda: _write_status(folder)),
                unit="ms",
                limit=10.0,
            ),
            Result(
                name="a handover is composed, checked and archived",
                value=_milliseconds(lambda: _hand_over(folder), times=20),
                unit="ms",
                limit=100.0,
                note="2,000 events of an iteration",
            ),
        ]


def _write_status(folder: HandoverFolder) -> None:
    folder.write(STATUS, status_text(LIMITS, 87_432, 12, Level.NORMAL))


def _hand_over(folder: HandoverFolder) -> None:
    text = render_document(DOCUMENT_OF_AN_ITERATION, "Build it", HEADING)
    evidence = evidence_of(EVENTS)
    document = compose(parse_document(text), None, evidence, RepositoryState())
    differences(document, evidence, folder.path)
    folder.archive("1", {DOCUMENT: render_document(document, "Build it", HEADING)})


EVENTS = [TextSaid(run=RunId("r"), text="I work on it. " * 10) for _ in range(2_000)]


def _milliseconds(call: Callable[[], object], *, times: int = 200) -> float:
    """The median of so many calls."""
    took = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        took.append((time.perf_counter() - began) * 1000)
    return statistics.median(took)
