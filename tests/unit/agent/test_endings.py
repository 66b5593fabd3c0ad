"""What a run came to, as a table: the first row that fits decides."""

import itertools

import pytest

from perpetualcc.agent.endings import HINTS, RunFacts, outcome_of, packet
from perpetualcc.agent.inbox import Order, TroubleReported, TurnEnded
from perpetualcc.domain.tasks import Done, Failed, Later, Parked, Wait

NOW = 1000.0
WELL = TurnEnded(is_error=False, subtype="success", result="All done.")
BADLY = TurnEnded(is_error=True, subtype="error_max_turns", result="")


def trouble(kind: str) -> TroubleReported:
    return TroubleReported(kind=kind, text=f"about {kind}")


@pytest.mark.parametrize(
    ("facts", "outcome"),
    [
        (
            {"question": 7, "turn": WELL},
            Wait(signal="escalation:7", reason="a person must answer"),
        ),
        ({"turn": WELL, "started": True}, Done(result="All done.")),
        ({"turn": WELL, "order": Order.PAUSE}, Done(result="All done.")),
        ({"order": Order.PAUSE}, Later(due=NOW, counts=False, reason="paused")),
        ({"order": Order.PAUSE, "turn": BADLY}, Later(due=NOW, counts=False, reason="paused")),
        ({"turn": BADLY}, Later(due=NOW + 4, reason="error_max_turns")),
        ({"error": "killed"}, Later(due=NOW + 4, reason="killed")),
        (
            {"started": True},
            Later(due=NOW + 4, reason="Claude Code ended without finishing its turn"),
        ),
        ({"trouble": trouble("unknown")}, Later(due=NOW + 4, reason="about unknown")),
    ],
)
def test_the_first_row_that_fits_decides(facts, outcome):
    assert outcome_of(RunFacts(**facts), attempts=2, now=NOW) == outcome


@pytest.mark.parametrize("kind", HINTS)
def test_what_a_person_must_mend_parks_the_task_with_what_to_do(kind):
    outcome = outcome_of(RunFacts(trouble=trouble(kind), turn=BADLY), attempts=1, now=NOW)

    assert isinstance(outcome, Parked)
    assert outcome.result == f"about {kind}"
    assert outcome.packet["hint"] == HINTS[kind]


@pytest.mark.parametrize(("attempts", "seconds"), [(1, 2), (2, 4), (3, 8), (8, 256), (50, 256)])
def test_what_went_wrong_is_tried_again_after_a_growing_pause(attempts, seconds):
    outcome = outcome_of(RunFacts(error="killed"), attempts=attempts, now=NOW)

    assert outcome == Later(due=NOW + seconds, reason="killed")


@pytest.mark.parametrize(
    ("question", "kind", "turn", "order", "error"),
    list(
        itertools.product(
            [None, 1], [None, "unknown", *HINTS], [None, WELL, BADLY], [None, *Order], ["", "lost"]
        )
    ),
)
def test_every_run_comes_to_something_and_never_to_giving_up(question, kind, turn, order, error):
    facts = RunFacts(
        question=question,
        trouble=None if kind is None else trouble(kind),
        turn=turn,
        order=order,
        error=error,
    )

    outcome = outcome_of(facts, attempts=1, now=NOW)

    assert not isinstance(outcome, Failed), "how often to try is the ledger's to say"
    assert isinstance(outcome, Wait) == (question is not None)
    if isinstance(outcome, Later):
        assert outcome.due >= NOW
        assert outcome.reason


def test_a_packet_says_what_a_person_needs_to_decide():
    facts = RunFacts(trouble=trouble("billing_error"))

    assert packet(facts, 3) == {
        "state": "about billing_error",
        "attempts": 3,
        "analysis": "billing_error",
        "hint": HINTS["billing_error"],
    }
