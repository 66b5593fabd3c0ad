"""What a document claims, against what is on record."""

import pytest

from perpetualcc.domain.events import QuestionAnswered, TextSaid, ToolDecided, ToolFinished
from perpetualcc.domain.ids import RequestId, SessionId, TaskId
from perpetualcc.sessions.handover.composition import completed_so_far, compose
from perpetualcc.sessions.handover.document import HandoverDocument
from perpetualcc.sessions.handover.evidence import (
    CommandRun,
    Evidence,
    differences,
    evidence_of,
)
from perpetualcc.sessions.handover.records import Handover, goes_in_circles
from perpetualcc.sessions.handover.repository import RepositoryState


def call(request, tool, summary, *, verdict="allow", failed=False):
    decided = ToolDecided(
        request=RequestId(request), tool=tool, summary=summary, verdict=verdict,
        risk="LOW", reason="because", decided_by="policy",
    )  # fmt: skip
    return [decided, ToolFinished(request=RequestId(request), is_error=failed, summary="out")]


def test_an_iteration_is_told_from_its_events():
    found = evidence_of(
        [
            TextSaid(text="I begin."),
            *call("1", "Write", "src/a.py"),
            *call("2", "Write", "src/a.py"),
            *call("3", "Write", ".claude-handover/handover.md"),
            *call("4", "Bash", "pytest -q", failed=True),
            *call("5", "Bash", "rm -rf /", verdict="deny", failed=True),
            QuestionAnswered(request=RequestId("6"), answers={"Which?": "B"}, decided_by="person"),
        ]
    )

    assert found == Evidence(
        files=("src/a.py",),
        commands=(CommandRun(command="pytest -q", succeeded=False),),
        said=("I begin.",),
        answers=("Which? → B",),
        refused=("Bash rm -rf /: because",),
        worked=(RequestId("1"), RequestId("2")),
    )


@pytest.mark.parametrize(
    ("said", "commands", "doubted"),
    [
        ("All tests pass.", [], "no test run is on record"),
        ("All 12 tests are passing now", [("ls", True)], "no test run is on record"),
        ("The test suite is green.", [("pytest -q", False)], "the last test run, `pytest -q`,"),
        ("Tests passed.", [("pytest", True), ("npm test", False)], "failed"),
        ("All tests pass.", [("cd api && npm run test", True)], ""),
        ("Tests pass.", [("pytest", False), ("make test", True)], ""),
        ("The tests do not pass yet.", [], ""),
        ("Go on until the tests pass.", [], ""),
        ("Wrote the parser.", [], ""),
    ],
)
def test_tests_that_are_said_to_pass_must_be_on_record(tmp_path, said, commands, doubted):
    evidence = Evidence(commands=tuple(CommandRun(command=c, succeeded=ok) for c, ok in commands))

    found = differences(HandoverDocument(summary=said), evidence, tmp_path)

    assert len(found) == bool(doubted)
    assert doubted in "".join(found)


def test_files_that_are_named_must_exist_and_changed_ones_be_named(tmp_path):
    (tmp_path / "here.py").write_text("1")
    document = HandoverDocument(
        files=("`here.py` - made", "gone.py - fixed", "old.py - deleted", "no file at all")
    )
    evidence = Evidence(files=("here.py", "silent.py"))

    found = differences(document, evidence, tmp_path, ["other.py"])

    assert found == [
        "It names the file gone.py, which does not exist.",
        "It does not mention these changed files: silent.py, other.py.",
    ]


def test_without_a_document_the_record_speaks_and_open_steps_are_carried():
    previous = HandoverDocument(
        summary="old", completed=("Step 1",), next_steps=("Step 2", "Step 3"), decisions="Stone"
    )
    evidence = Evidence(
        files=("src/a.py",), said=("I am at step 2.",), answers=("Which? → B",),
        commands=(CommandRun(command="pytest", succeeded=False),),
    )  # fmt: skip

    found = compose(None, previous, evidence, RepositoryState(commits=("abc123 Begin",)))

    assert found.next_steps == ("Step 2", "Step 3")
    assert found.completed == ()
    assert found.decisions == "Stone\n- Which? → B"
    for part in ("I am at step 2.", "src/a.py", "pytest (failed)", "abc123 Begin"):
        assert part in found.summary
    assert completed_so_far(("Step 1",), found) == ("Step 1",)


def test_a_document_that_claude_wrote_stays_as_it_is():
    written = HandoverDocument(summary="s", files=("a - b",), decisions="d", next_steps=("n",))

    assert compose(written, None, Evidence(said=("x",)), RepositoryState()) == written


@pytest.mark.parametrize(
    ("troubles", "circle"),
    [
        (["a", "a", "a"], "a"),
        (["a", "a", "a", "b"], "a"),
        (["b", "a", "a", "a"], ""),
        (["a", "a"], ""),
        (["", "", ""], ""),
        ([], ""),
    ],
)
def test_three_times_the_same_trouble_in_a_row_is_a_circle(troubles, circle):
    history = [
        Handover(
            session=SessionId("s"), task=TaskId("t"), iteration=n, run=None, claude_session=None,
            reason="", trouble=trouble,
        )
        for n, trouble in enumerate(troubles)
    ]  # fmt: skip

    assert goes_in_circles(history) == circle
