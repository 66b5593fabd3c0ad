"""What a run came to, as a table: the first row that fits decides."""

import itertools
from dataclasses import replace

import pytest

from perpetualcc.agent.endings import HINTS, RunFacts, outcome_of, packet
from perpetualcc.agent.inbox import Order, TroubleReported, TurnEnded
from perpetualcc.domain.limits import LimitWindow, RateLimitInfo
from perpetualcc.domain.tasks import STOPS, Done, Failed, Later, Outcome, Parked, Wait
from perpetualcc.sessions.budget import BudgetScope, Refusal
from tests.unit.agent.test_supervision import TASK

NOW = 1000.0
WELL = TurnEnded(is_error=False, subtype="success", result="All done.")
WORDLESS = replace(WELL, result=" ")
BADLY = TurnEnded(is_error=True, subtype="error_during_execution", result="")


def after(facts: RunFacts, *, attempts: int = 1, before: str = "", **more) -> Outcome:
    """The outcome of a run of a task that has three attempts."""
    return outcome_of(facts, replace(TASK, attempts=attempts, result=before), now=NOW, **more)


def trouble(kind: str) -> TroubleReported:
    return TroubleReported(kind=kind, text=f"about {kind}")


OVER_THE_RUN = Refusal(scope=BudgetScope.RUN, limit="run_tokens", used=9, allowed=8)
OVER_THE_DAY = Refusal(scope=BudgetScope.DAY, limit="day_tokens", used=9, allowed=8)


@pytest.mark.parametrize(
    ("facts", "outcome"),
    [
        (
            {"question": 7, "turn": WELL},
            Wait(signal="escalation:7", reason="a person must answer"),
        ),
        ({"turn": WELL, "started": True}, Done(result="All done.")),
        ({"turn": WORDLESS, "got_on": True}, Done(result=" ")),
        ({"turn": WELL, "order": Order.PAUSE}, Done(result="All done.")),
        ({"order": Order.PAUSE}, Later(due=NOW, counts=False, reason="paused")),
        ({"order": Order.PAUSE, "turn": BADLY}, Later(due=NOW, counts=False, reason="paused")),
        ({"turn": WELL, "order": Order.LEAVE}, Done(result="All done.")),
        (
            {"order": Order.LEAVE},
            Later(due=NOW, counts=False, reason="Interrupted", keeps_answer=True),
        ),
        (
            {"turn": replace(BADLY, subtype="error_max_turns")},
            Later(due=NOW, counts=False, reason="the turns of --max-turns are taken", pauses=True),
        ),
        (
            {"over": OVER_THE_RUN, "turn": BADLY},
            Parked(
                result=OVER_THE_RUN.reason,
                packet={
                    **STOPS,
                    **packet(RunFacts(over=OVER_THE_RUN), replace(TASK, attempts=2)),
                    **OVER_THE_RUN.packet(TASK.group),
                },
            ),
        ),
        (
            {"over": OVER_THE_DAY, "order": Order.PAUSE},
            Later(due=NOW, counts=False, reason=OVER_THE_DAY.reason),
        ),
    ],
)
def test_the_first_row_that_fits_decides(facts, outcome):
    assert after(RunFacts(**facts), attempts=2) == outcome


@pytest.mark.parametrize("kind", HINTS)
def test_what_a_person_must_mend_parks_the_task_with_what_to_do(kind):
    outcome = after(RunFacts(trouble=trouble(kind), turn=BADLY))

    assert isinstance(outcome, Parked)
    assert outcome.result == f"about {kind}"
    assert outcome.packet["hint"] == HINTS[kind].format(session=TASK.group)


@pytest.mark.parametrize(
    ("facts", "attempts", "is_tried_again"),
    [
        ({"replies": 0}, 1, False),
        ({"replies": 3}, 1, True),
        ({"replies": 0}, 2, True),
        ({"replies": 3}, 3, False),
        ({"replies": 3, "got_on": True}, 3, True),
    ],
)
def test_a_sign_in_that_worked_before_is_tried_again_before_a_person_is_asked(
    facts, attempts, is_tried_again
):
    refused = RunFacts(trouble=trouble("authentication_failed"), turn=BADLY, **facts)

    outcome = after(refused, attempts=attempts)

    assert isinstance(outcome, Later if is_tried_again else Parked)
    if isinstance(outcome, Later):
        assert outcome.counts
        assert outcome.due >= NOW + 30


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"turn": BADLY}, "error_during_execution"),
        ({"error": "killed"}, "killed"),
        ({"started": True}, "Claude Code ended without finishing its turn"),
        ({"trouble": trouble("unknown")}, "about unknown"),
    ],
)
@pytest.mark.parametrize("attempts", [1, 2, 3])
def test_what_went_wrong_is_tried_again_after_a_growing_pause(facts, reason, attempts):
    outcome = after(RunFacts(**facts), attempts=attempts)

    assert (type(outcome), outcome.reason, outcome.counts) == (Later, reason, True)
    assert NOW + 2**attempts <= outcome.due <= NOW + 2**attempts * 1.25


def test_what_fails_the_same_way_to_the_last_is_a_persons():
    again = after(RunFacts(error="exit 7 in /a/b"), attempts=3, before="exit 8 in /c")
    other = after(RunFacts(error="exit 7"), attempts=3, before="no network")

    assert isinstance(again, Parked)
    assert "the same way" in again.packet["analysis"]
    assert isinstance(other, Later)


@pytest.mark.parametrize("attempts", [1, 2, 3, 9])
def test_a_process_lost_after_new_work_is_a_first_failure(attempts):
    outcome = after(RunFacts(error="killed", got_on=True), attempts=attempts, before="killed")

    assert (type(outcome), outcome.got_on) == (Later, True)
    assert NOW + 2 <= outcome.due <= NOW + 2.5


@pytest.mark.parametrize("spoken", [{"turn": BADLY}, {"trouble": trouble("unknown")}])
def test_new_work_before_an_error_that_claude_code_tells_is_a_failure_like_any(spoken):
    outcome = after(RunFacts(got_on=True, **spoken), attempts=3)

    assert (type(outcome), outcome.got_on) == (Later, False)
    assert outcome.due >= NOW + 8


def test_a_turn_without_a_word_or_a_deed_is_no_work_that_is_done():
    outcome = after(RunFacts(turn=WORDLESS, replies=1))

    assert isinstance(outcome, Later)
    assert outcome.reason == "Claude ended its turn without a word, and did nothing"


def test_a_reply_that_was_cut_off_is_no_progress_between_two_limits():
    limit = RateLimitInfo(window=LimitWindow.OVERLOAD)

    outcome = after(RunFacts(turn=BADLY, replies=1), limit=limit)

    assert isinstance(outcome, Later)
    assert not outcome.got_somewhere


@pytest.mark.parametrize("window", LimitWindow)
@pytest.mark.parametrize("order", [None, *Order])
def test_a_limit_is_waited_out_and_is_no_attempt(window, order):
    limit = RateLimitInfo(window=window, resets_at=NOW + 60)

    outcome = after(RunFacts(turn=BADLY, order=order, got_on=True), limit=limit)

    assert isinstance(outcome, Later)
    assert (outcome.counts, outcome.limit, outcome.got_somewhere) == (False, limit, True)
    assert outcome.reason


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

    outcome = after(facts)

    assert not isinstance(outcome, Failed), "how often to try is the ledger's to say"
    assert isinstance(outcome, Wait) == (question is not None)
    if isinstance(outcome, Later):
        assert outcome.due >= NOW
        assert outcome.reason


def test_a_packet_says_what_a_person_needs_to_decide():
    facts = RunFacts(trouble=trouble("billing_error"))

    assert packet(facts, replace(TASK, attempts=3, group="abc123")) == {
        "state": "about billing_error",
        "attempts": 3,
        "analysis": "billing_error",
        "hint": "Check the credit balance of the account, then: pcc resume abc123",
    }
