"""What a person reads about a task that stopped."""

from pathlib import Path

from perpetualcc.daemon.packets import completed, tried_last
from perpetualcc.domain.events import TextSaid, ToolDecided, ToolFinished
from perpetualcc.domain.ids import RequestId
from perpetualcc.domain.tasks import Done, Parked
from perpetualcc.sessions.checkpoint import FileMark, SessionCheckpoint
from tests.unit.daemon.test_limits import session, task

KEPT = SessionCheckpoint(
    session_id="abc123",
    timestamp=0.0,
    project_path="/p",
    current_task="Write",
    completed_subtasks=("Plan it",),
    pending_subtasks=tuple(f"Step {n}" for n in range(12)),
    modified_files=(FileMark(path="src/a.py", hash="x"),),
)


def decided(request: str, verdict: str = "allow", summary: str = "make test") -> ToolDecided:
    return ToolDecided(
        request=RequestId(request),
        tool="Bash",
        summary=summary,
        verdict=verdict,
        risk="LOW",
        reason="no reason",
        decided_by="policy",
    )


def test_a_parked_task_tells_everything_and_keeps_what_the_agent_said_of_it():
    parked = Parked(result="It failed", packet={"analysis": "the same each time", "hint": ""})
    events = [
        TextSaid(text="I try the tests."),
        decided("1"),
        ToolFinished(request=RequestId("1"), is_error=True, summary="2 failed"),
        decided("2", "deny", "rm -rf /"),
    ]

    packet = completed(parked, task(), session(Path("/p")), KEPT, events).packet

    assert packet["analysis"] == "the same each time"
    assert packet["state"] == "It failed"
    assert "src/a.py" in packet["progress"]
    assert "Done: Plan it" in packet["progress"]
    assert "and 2 more" in packet["progress"]
    assert packet["last"].splitlines() == [
        "Claude: I try the tests.",
        "Failed: Bash make test: 2 failed",
        "Refused: Bash rm -rf / (no reason)",
    ]
    assert any("pcc resume" in option for option in packet["options"])


def test_without_a_checkpoint_or_events_it_says_less_and_does_not_fail():
    packet = completed(Parked(result="x", packet={}), task(), session(Path("/p")), None, []).packet

    assert (packet["progress"], packet["last"]) == ("", "")
    assert packet["context"]


def test_what_is_done_needs_no_packet():
    done = Done(result="Finished")

    assert completed(done, task(), session(Path("/p")), KEPT, []) is done


def test_the_same_refusal_over_and_over_is_told_once():
    events = [decided(str(n), "deny", "rm x") for n in range(30)]

    assert tried_last(events) == ["Refused: Bash rm x (no reason)"]
