"""What every ledger promises, state by state and operation by operation."""

import itertools
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import ProblemNoticed
from perpetualcc.domain.ids import TaskId
from perpetualcc.domain.tasks import (
    Again,
    Behind,
    Done,
    Failed,
    Lane,
    Later,
    NewTask,
    Outcome,
    Parked,
    Repetition,
    Task,
    TaskState,
    Wait,
)
from perpetualcc.work.ledger import MOST_CRASHES, TaskOrderError, UnknownTaskError
from tests.contracts.ledgers import BACKENDS, Calls, World
from tests.fakes.clock import FakeClock

HOUR = 3600.0
S = TaskState


@pytest.fixture(params=list(BACKENDS))
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    world = World(request.param, tmp_path)
    yield world
    world.close()


@pytest.fixture
def ledger(world: World) -> Calls:
    return world.engine()


@pytest.fixture
def clock(world: World) -> FakeClock:
    return world.clock


REACH: dict[TaskState, Outcome | None] = {
    S.QUEUED: None,
    S.RUNNING: None,
    S.WAITING: Wait(signal="answer"),
    S.DONE: Done(result="fine"),
    S.FAILED: Failed(result="broken"),
    S.PARKED: Parked(result="look"),
    S.CANCELLED: Done(result="cancelled meanwhile"),
}


def reach(ledger: Calls, state: TaskState) -> Task:
    ledger.new("t")
    if state is not S.QUEUED:
        fence = ledger.take_one().fence
        if state is S.CANCELLED:
            ledger.cancel("t")
        if (outcome := REACH[state]) is not None:
            assert ledger.settle("t", fence, outcome)
    task = ledger.get("t")
    assert task.state is state
    return task


OPERATIONS = {
    "claim": lambda ledger, _: ledger.take(),
    "settle": lambda ledger, task: ledger.settle("t", task.fence, Done(result="x")),
    "stale": lambda ledger, task: ledger.settle("t", task.fence - 1, Done(result="x")),
    "signal": lambda ledger, _: ledger.signal("answer", {}),
    "cancel": lambda ledger, _: ledger.cancel("t"),
    "requeue": lambda ledger, _: ledger.requeue("t"),
    "add": lambda ledger, _: ledger.new("t"),
    "recover": lambda ledger, _: ledger.recover(),
}

TABLE = """
            claim    settle   stale    signal   cancel     requeue  add      recover
queued      running  -        -        -        cancelled  -        -        -
running     -        done     -        -        -          -        -        -
waiting     -        -        -        queued   cancelled  -        -        -
done        -        -        -        -        -          -        -        -
failed      -        -        -        -        cancelled  queued   -        -
parked      -        -        -        -        cancelled  queued   -        -
cancelled   -        -        -        -        -          queued   -        -
"""
_HEAD, *_ROWS = [line.split() for line in TABLE.strip().splitlines()]
CASES = [
    (S(row[0]), operation, row[0] if after == "-" else after)
    for row in _ROWS
    for operation, after in zip(_HEAD, row[1:], strict=True)
]


@pytest.mark.parametrize(("before", "operation", "after"), CASES)
def test_each_operation_in_each_state(
    ledger: Calls, before: TaskState, operation: str, after: str
) -> None:
    task = reach(ledger, before)

    OPERATIONS[operation](ledger, task)

    assert ledger.state("t") == after


@pytest.mark.parametrize("before", list(REACH))
def test_another_engine_takes_over_what_runs_and_nothing_else(
    world: World, ledger: Calls, before: TaskState
) -> None:
    task = reach(ledger, before)

    recovered = world.engine("two").recover()

    assert [one.id for one in recovered] == (["t"] if before is S.RUNNING else [])
    if before is S.RUNNING:
        assert recovered[0].state is S.QUEUED
        assert recovered[0].fence == task.fence + 1
        assert recovered[0].attempts == 0
    else:
        assert ledger.get("t") == task


NOW = FakeClock().now()

OUTCOMES = [
    (Again(prompt="more"), S.QUEUED, 0),
    (Later(due=NOW + HOUR), S.WAITING, 1),
    (Later(due=NOW + HOUR, counts=False), S.WAITING, 0),
    (Later(due=NOW + HOUR, got_on=True), S.WAITING, 1),
    (Later(due=NOW - HOUR), S.QUEUED, 1),
    (Wait(signal="s"), S.WAITING, 0),
    (Wait(signal="s", due=NOW + HOUR), S.WAITING, 0),
    (Done(result="r"), S.DONE, 1),
    (Failed(result="r", packet={"a": 1}), S.FAILED, 1),
    (Parked(result="r", packet={"a": 1}), S.PARKED, 1),
]


@pytest.mark.parametrize(("outcome", "state", "attempts"), OUTCOMES)
def test_an_outcome_decides_the_state_and_whether_the_attempt_counted(
    ledger: Calls, outcome: Outcome, state: TaskState, attempts: int
) -> None:
    ledger.new("t")
    claimed = ledger.take_one()

    assert ledger.settle("t", claimed.fence, outcome)

    task = ledger.get("t")
    assert (task.state, task.attempts) == (state, attempts)
    assert task.packet == getattr(outcome, "packet", None)


@pytest.mark.parametrize("outcome", [outcome for outcome, _, _ in OUTCOMES])
def test_a_running_task_that_was_cancelled_is_cancelled_whatever_it_came_to(
    ledger: Calls, outcome: Outcome
) -> None:
    task = reach(ledger, S.RUNNING)

    assert ledger.cancel("t") is S.RUNNING
    ledger.settle("t", task.fence, outcome)

    assert ledger.state("t") is S.CANCELLED


def test_a_task_fails_when_its_attempts_are_used_up(ledger: Calls) -> None:
    ledger.new("t", max_attempts=2)

    for _ in range(2):
        ledger.settle("t", ledger.take_one().fence, Later(due=0.0))

    assert ledger.state("t") is S.FAILED
    assert ledger.get("t").packet["attempts"] == 2


def test_a_dispatch_that_does_not_count_may_be_repeated_for_ever(ledger: Calls) -> None:
    ledger.new("t", max_attempts=1)

    for _ in range(20):
        ledger.settle("t", ledger.take_one().fence, Later(due=0.0, counts=False))

    assert ledger.state("t") is S.QUEUED


def test_a_stale_fence_writes_nothing_not_even_events(world: World, ledger: Calls) -> None:
    ledger.new("t")
    old = ledger.take_one()
    other = world.engine("two")
    other.recover()
    new = other.take_one()

    told = ledger.settle("t", old.fence, Done(result="old"), [ProblemNoticed(text="old")])

    assert not told
    assert (ledger.state("t"), world.events) == (S.RUNNING, [])
    assert other.settle("t", new.fence, Done(result="new"), [ProblemNoticed(text="new")])
    assert [event.text for event in world.events] == ["new"]


def test_a_dispatch_is_settled_once(ledger: Calls) -> None:
    task = reach(ledger, S.RUNNING)

    told = [ledger.settle("t", task.fence, Again(prompt=str(n))) for n in range(3)]

    assert (told, ledger.get("t").prompt) == ([True, False, False], "0")


def test_a_group_has_one_task_in_hand_whatever_state_it_is_in(ledger: Calls) -> None:
    ledger.new("a", group="g")
    ledger.new("b", group="g", priority=9)
    first = ledger.take_one()
    outcomes = [Again(prompt="x"), Later(due=NOW + HOUR), Wait(signal="s")]

    assert first.id == "b"
    assert ledger.take() == []
    ledger.settle("b", first.fence, outcomes[0])
    ledger.new("c", group="g", priority=99)
    again = ledger.take_one()
    assert again.id == "b"
    ledger.settle("b", again.fence, outcomes[1])
    assert ledger.take() == []


def test_within_a_group_priority_decides_and_then_the_order_of_adding(ledger: Calls) -> None:
    for name, priority in (("a", 0), ("b", 5), ("c", 5), ("d", -1)):
        ledger.new(name, group="g", priority=priority)

    order = []
    while taken := ledger.take():
        order.append(taken[0].id)
        ledger.settle(taken[0].id, taken[0].fence, Done(result=""))

    assert order == ["b", "c", "a", "d"]


def test_groups_take_turns(ledger: Calls, clock: FakeClock) -> None:
    for name, group in (("a1", "a"), ("a2", "a"), ("a3", "a"), ("b1", "b"), ("b2", "b")):
        ledger.new(name, group=group)

    order = []
    while taken := ledger.take():
        clock.move(1)
        order.append(taken[0].id)
        ledger.settle(taken[0].id, taken[0].fence, Done(result=""))

    assert order == ["a1", "b1", "a2", "b2", "a3"]


def test_a_lane_gives_no_more_than_it_has_room_for(ledger: Calls) -> None:
    for number in range(4):
        ledger.new(f"i{number}")
        ledger.new(f"c{number}", lane=Lane.CRON)

    claimed = ledger.claim({Lane.INTERACTIVE: 3, Lane.CRON: 1, Lane.GOAL: 5}, 10)

    assert sorted(task.id for task in claimed) == ["c0", "i0", "i1", "i2"]
    assert ledger.claim({Lane.INTERACTIVE: 0}, 10) == []
    assert len(ledger.claim({Lane.INTERACTIVE: 5, Lane.CRON: 5}, 2)) == 2


def test_a_held_group_starts_nothing_and_finishes_what_runs(ledger: Calls) -> None:
    ledger.new("a", group="g")
    ledger.new("b", group="g")
    running = ledger.take_one()

    ledger.hold("g")
    assert ledger.settle("a", running.fence, Done(result=""))
    assert (ledger.take(), ledger.next_due()) == ([], None)
    ledger.release("g")

    assert ledger.take_one().id == "b"


def test_a_group_that_is_hastened_waits_for_no_time_and_still_for_a_signal(
    ledger: Calls, clock: FakeClock
) -> None:
    later = clock.now() + HOUR
    for task, group in (("a", "g"), ("b", "g"), ("c", "h")):
        ledger.new(task, group=group, due=later)
    waits = ledger.new("d", group="g")
    assert ledger.settle(waits.id, ledger.take_one().fence, Wait(signal="s", due=later))

    ledger.hasten("g")

    assert ledger.take() == []  # one of the group is in hand: it waits for its signal
    ledger.signal("s", {})
    assert ledger.settle("d", ledger.take_one().fence, Done(result=""))
    assert ledger.next_due() == later, "what is queued behind it was left"
    ledger.hasten("g")
    order = []
    while taken := ledger.take():
        order.append(taken[0].id)
        assert ledger.settle(taken[0].id, taken[0].fence, Done(result=""))
    assert order == ["a", "b"]
    assert ledger.next_due() == later


@pytest.mark.parametrize("in_hand", [False, True])
def test_what_is_tried_again_is_hastened_before_what_is_queued(
    ledger: Calls, clock: FakeClock, in_hand: bool
) -> None:
    later = clock.now() + HOUR
    ledger.new("tried again", group="g")
    assert ledger.settle("tried again", ledger.take_one().fence, Later(due=later))
    ledger.new("for later", group="g", due=later)

    ledger.hasten("g", in_hand=in_hand)
    assert ledger.settle("tried again", ledger.take_one().fence, Done(result=""))
    assert ledger.take() == []
    ledger.hasten("g", in_hand=in_hand)

    assert [task.id for task in ledger.take()] == ([] if in_hand else ["for later"])


def test_what_is_for_later_is_not_hastened_while_something_can_begin(
    ledger: Calls, clock: FakeClock
) -> None:
    ledger.new("for later", group="g", due=clock.now() + HOUR)
    ledger.new("after that", group="g", after=("for later",))
    ledger.new("now", group="g")

    ledger.hasten("g")
    assert ledger.settle("now", ledger.take_one().fence, Done(result=""))
    assert ledger.take() == []
    ledger.hasten("g")

    assert ledger.take_one().id == "for later"


def test_two_engines_never_run_one_task_at_the_same_fence(world: World) -> None:
    engines = [world.engine("one"), world.engine("two")]
    for number in range(6):
        engines[0].new(f"t{number}")

    claimed = [
        (task.id, task.fence)
        for engine in itertools.islice(itertools.cycle(engines), 8)
        for task in engine.take()
    ]

    assert len(claimed) == len(set(claimed)) == 6


def test_a_task_starts_when_all_that_comes_before_it_is_done(ledger: Calls) -> None:
    ledger.new("a")
    ledger.new("b")
    ledger.new("c", after=("a", "b"))

    a, b = ledger.take(5)
    ledger.settle("a", a.fence, Done(result=""))
    assert ledger.take() == []
    ledger.settle("b", b.fence, Done(result=""))

    assert ledger.take_one().id == "c"
    assert ledger.get("c").after == ("a", "b")


@pytest.mark.parametrize("state", [S.FAILED, S.CANCELLED])
def test_what_comes_after_a_lost_task_is_parked_and_comes_back_with_it(
    ledger: Calls, state: TaskState
) -> None:
    ledger.new("t")
    ledger.new("next", after=("t",))
    ledger.new("last", after=("next",))
    ledger.new("other")
    fence = ledger.take_one().fence
    if state is S.CANCELLED:
        ledger.cancel("t")
    ledger.settle("t", fence, Failed(result="broken"))
    ledger.new("late", after=("last",))

    parked = {task.id: task.packet["task"] for task in ledger.list(states=[S.PARKED])}
    assert parked == {"next": "t", "last": "t", "late": "t"}
    with pytest.raises(PerpetualError):
        ledger.requeue("next")
    ledger.requeue("t")

    assert all(task.state is S.QUEUED for task in ledger.list())


def test_a_task_behind_two_failures_waits_for_both_to_come_back(ledger: Calls) -> None:
    ledger.new("a")
    ledger.new("b")
    ledger.new("c", after=("a", "b"))
    for task in ledger.take(2):
        ledger.settle(task.id, task.fence, Failed(result=""))

    ledger.requeue("a")
    assert ledger.state("c") is S.PARKED
    ledger.requeue("b")

    assert ledger.state("c") is S.QUEUED


def test_what_is_behind_a_failed_task_stays_behind_when_that_is_given_up(ledger: Calls) -> None:
    ledger.new("a", max_attempts=1)
    ledger.new("b", after=["a"])
    ledger.settle("a", ledger.take_one().fence, Failed(result="no"))
    failed = ledger.get("b").packet
    assert failed is not None
    assert failed["state"] == S.FAILED

    assert ledger.cancel("a") is S.CANCELLED

    behind = ledger.get("b")
    assert behind.state is S.PARKED
    assert behind.packet is not None
    assert behind.packet["state"] == S.CANCELLED
    ledger.requeue("a")
    assert [ledger.state(one) for one in ("a", "b")] == [S.QUEUED] * 2


def test_a_parked_task_does_not_park_what_comes_after_it(ledger: Calls) -> None:
    ledger.new("t")
    ledger.new("next", after=("t",))
    ledger.settle("t", ledger.take_one().fence, Parked(result=""))

    assert (ledger.state("next"), ledger.take(5)) == (S.QUEUED, [])


def test_an_unknown_predecessor_and_a_cycle_are_refused_and_nothing_is_added(
    ledger: Calls,
) -> None:
    ledger.new("a")
    ledger.new("b", after=("a",))

    with pytest.raises(UnknownTaskError):
        ledger.new("c", after=("nobody",))
    with pytest.raises(TaskOrderError):
        ledger.new("c", after=("c",))
    with pytest.raises(TaskOrderError):
        ledger.new("a", after=("b",))

    assert [task.id for task in ledger.list()] == ["a", "b"]


def test_a_signal_wakes_the_task_that_waits_and_is_its_answer(ledger: Calls) -> None:
    reach(ledger, S.WAITING)

    assert ledger.signal("answer", {"choice": "yes"})
    task = ledger.take_one()

    assert (task.signal, task.answer) == ("answer", {"choice": "yes"})


def test_a_signal_that_came_before_the_wait_ends_it_at_once(ledger: Calls) -> None:
    task = reach(ledger, S.RUNNING)
    ledger.signal("answer", {"choice": "early"})

    ledger.settle("t", task.fence, Wait(signal="answer"))

    assert ledger.state("t") is S.QUEUED
    assert ledger.take_one().answer == {"choice": "early"}


def test_the_second_sender_is_told_that_somebody_else_won(ledger: Calls) -> None:
    reach(ledger, S.WAITING)

    told = [ledger.signal("answer", {"from": name}) for name in ("phone", "desk")]

    assert told == [True, False]
    task = ledger.take_one()
    assert task.answer == {"from": "phone"}
    ledger.settle("t", task.fence, Done(result=""))
    assert not ledger.signal("answer", {"from": "desk"})


def test_an_answer_is_consumed_with_the_settle_and_given_again_after_a_crash(world: World) -> None:
    ledger = world.engine()
    reach(ledger, S.WAITING)
    ledger.signal("answer", {"n": 1})
    ledger.take_one()

    other = world.engine("two")
    other.recover()
    again = other.take_one()
    other.settle("t", again.fence, Again(prompt="on"))

    assert again.answer == {"n": 1}
    assert other.take_one().answer is None


def test_an_answer_is_kept_by_a_dispatch_that_was_cut_short(ledger: Calls) -> None:
    reach(ledger, S.WAITING)
    ledger.signal("answer", {"n": 1})
    cut_short = Later(due=0.0, counts=False, keeps_answer=True)
    ledger.settle("t", ledger.take_one().fence, cut_short)

    again = ledger.take_one()
    ledger.settle("t", again.fence, Again(prompt="on"))

    assert again.answer == {"n": 1}
    assert ledger.take_one().answer is None


def test_a_wait_for_an_answer_that_was_used_is_parked_because_it_would_never_end(
    ledger: Calls,
) -> None:
    reach(ledger, S.WAITING)
    ledger.signal("answer", {})
    ledger.settle("t", ledger.take_one().fence, Again(prompt="on"))

    ledger.settle("t", ledger.take_one().fence, Wait(signal="answer"))

    assert ledger.get("t").packet["reason"] == "signal used"


def test_one_answer_goes_to_one_of_two_tasks_that_wait_for_it(
    ledger: Calls, clock: FakeClock
) -> None:
    for name in ("a", "b"):
        ledger.new(name)
        ledger.settle(name, ledger.take_one().fence, Wait(signal="s", due=NOW + HOUR))

    ledger.signal("s", {"n": 1})
    clock.move(HOUR)
    claimed = ledger.take(5)

    assert [task.answer for task in claimed] == [{"n": 1}, None]


def test_a_wait_ends_at_its_due_time_without_an_answer(ledger: Calls, clock: FakeClock) -> None:
    ledger.new("t")
    ledger.settle("t", ledger.take_one().fence, Wait(signal="s", due=NOW + HOUR))
    assert (ledger.take(), ledger.next_due()) == ([], NOW + HOUR)

    clock.move(HOUR)
    timed_out = ledger.take_one()
    ledger.signal("s", {"n": "late"})
    ledger.settle("t", timed_out.fence, Wait(signal="s", due=NOW + 2 * HOUR))

    assert timed_out.answer is None
    assert ledger.take_one().answer == {"n": "late"}


def test_what_was_for_later_is_as_old_as_its_time(ledger: Calls, clock: FakeClock) -> None:
    ledger.new("now")
    ledger.new("t", due=NOW + HOUR)
    assert (ledger.take_one().created_at, ledger.get("t").created_at) == (NOW, NOW)

    clock.move(2 * HOUR)
    begun = ledger.take_one()
    ledger.settle("t", begun.fence, Later(due=NOW + 9 * HOUR))
    clock.move(8 * HOUR)

    assert begun.created_at == ledger.take_one().created_at == NOW + HOUR


def test_a_wait_without_a_due_time_lasts_until_it_is_answered(ledger: Calls, clock: FakeClock):
    reach(ledger, S.WAITING)

    clock.move(1000 * 24 * HOUR)

    assert (ledger.take(), ledger.next_due()) == ([], None)
    assert ledger.get("t").due == math.inf


def test_a_task_waits_for_its_time_also_when_the_clock_jumps_forth_and_back(
    ledger: Calls, clock: FakeClock
) -> None:
    ledger.new("t", due=NOW + HOUR)
    assert (ledger.take(), ledger.next_due()) == ([], NOW + HOUR)

    clock.move(-24 * HOUR)
    assert ledger.take() == []
    clock.move(48 * HOUR)
    task = ledger.take_one()
    clock.move(-72 * HOUR)
    ledger.settle("t", task.fence, Later(due=NOW))

    assert (ledger.state("t"), ledger.take()) == (S.WAITING, [])
    clock.move(48 * HOUR)
    assert ledger.take_one().fence == 2


@pytest.mark.parametrize(
    ("wait", "is_over"),
    [
        (Later(due=NOW + 2), True),
        (Later(due=NOW + HOUR), False),
        (Wait(signal="limit", due=NOW + 2), False),
    ],
)
def test_a_back_off_is_over_when_the_clock_was_set_back_and_a_moment_is_not(
    ledger: Calls, clock: FakeClock, wait: Later | Wait, is_over: bool
) -> None:
    ledger.new("t")
    ledger.settle("t", ledger.take_one().fence, wait)

    ledger.recover()
    assert ledger.take() == []
    clock.move(-6 * HOUR)
    ledger.recover()

    assert [task.id for task in ledger.take()] == (["t"] if is_over else [])


@pytest.mark.parametrize("how", ["paused", "brought back", "answered", "taken over"])
def test_what_is_due_at_once_is_so_whatever_the_clock_was_set_to(
    world: World, clock: FakeClock, how: str
) -> None:
    ledger = world.engine()
    ledger.new("t")
    task = ledger.take_one()
    clock.move(0.5)
    match how:
        case "paused":
            ledger.settle("t", task.fence, Later(due=clock.now(), counts=False))
        case "brought back":
            ledger.settle("t", task.fence, Failed(result="no"))
            ledger.requeue("t")
        case "answered":
            ledger.settle("t", task.fence, Wait(signal="s"))
            ledger.signal("s", {})
        case "taken over":
            world.engine("another").recover()

    clock.move(-12 * HOUR)
    ledger.recover()

    assert ledger.next_due() <= clock.now()
    assert ledger.take_one().id == "t"


def test_the_next_due_time_is_past_while_something_can_be_claimed_in_these_lanes(
    ledger: Calls,
) -> None:
    ledger.new("now")
    ledger.new("later", lane=Lane.CRON, due=NOW + HOUR)

    assert ledger.next_due() <= NOW
    assert ledger.next_due([Lane.CRON]) == NOW + HOUR
    assert ledger.next_due([Lane.GOAL]) is None


def test_a_task_that_was_there_at_too_many_crashes_in_a_row_is_parked(world: World) -> None:
    world.engine().new("t")

    for number in range(MOST_CRASHES + 1):
        engine = world.engine(f"engine {number}")
        engine.recover()
        engine.take_one()

    def tell(tasks: list[Task]) -> list[ProblemNoticed]:
        return [ProblemNoticed(text=task.state) for task in tasks]

    states = [task.state for task in world.engine("last").recover(tell=tell)]

    assert states == [S.PARKED]
    assert [event.text for event in world.events] == [S.PARKED], "told with it, not after it"
    assert world.engine().get("t").packet["crashes"] == MOST_CRASHES + 1


def test_what_a_person_ended_by_force_counts_as_no_crash(world: World) -> None:
    world.engine().new("t")

    for number in range(2 * MOST_CRASHES):
        engine = world.engine(f"engine {number}")
        [*recovered] = engine.recover(halted=True)
        engine.take_one()

    assert [task.state for task in recovered] == [S.QUEUED]
    assert [task.attempts for task in recovered] == [0]
    assert [task.state for task in world.engine("last").recover()] == [S.QUEUED]


def settle_one_dispatch(engine: Calls, task: Task) -> None:
    engine.settle("t", task.fence, Again(prompt="on"))
    engine.take_one()


def get_on(engine: Calls, task: Task) -> None:
    engine.got_on("t", task.fence)


@pytest.mark.parametrize("start_afresh", [settle_one_dispatch, get_on])
def test_crashes_are_in_a_row_until_a_dispatch_settles_or_its_work_gets_on(
    world: World, start_afresh: Callable[[Calls, Task], None]
) -> None:
    world.engine().new("t")

    for number in range(2 * MOST_CRASHES):
        engine = world.engine(f"engine {number}")
        engine.recover()
        task = engine.take_one()
        if number == MOST_CRASHES:
            start_afresh(engine, task)

    assert [task.state for task in world.engine("last").recover()] == [S.QUEUED]


def test_an_older_dispatch_cannot_say_that_the_work_got_on(world: World) -> None:
    world.engine().new("t")

    for number in range(MOST_CRASHES + 1):
        engine = world.engine(f"engine {number}")
        engine.recover()
        task = engine.take_one()
        engine.got_on("t", task.fence - 1)

    assert [task.state for task in world.engine("last").recover()] == [S.PARKED]


def test_a_cancelled_task_whose_engine_died_is_cancelled_by_recovery(world: World) -> None:
    ledger = world.engine()
    reach(ledger, S.RUNNING)
    ledger.cancel("t")

    [task] = world.engine("two").recover()

    assert task.state is S.CANCELLED


def test_tasks_are_listed_in_order_by_group_and_state(ledger: Calls) -> None:
    for name, group in (("a", "g"), ("b", "h"), ("c", "g")):
        ledger.new(name, group=group)
    ledger.take()

    assert [task.id for task in ledger.list("g")] == ["a", "c"]
    assert [task.id for task in ledger.list(states=[S.QUEUED])] == ["b", "c"]
    assert [task.id for task in ledger.list("g", [S.RUNNING])] == ["a"]


@pytest.mark.parametrize("operation", ["get", "cancel", "requeue"])
def test_an_unknown_task_is_an_error_that_names_it(ledger: Calls, operation: str) -> None:
    with pytest.raises(UnknownTaskError, match="nobody"):
        getattr(ledger, operation)("nobody")


def test_a_requeued_task_has_all_its_attempts_again(ledger: Calls) -> None:
    ledger.new("t", max_attempts=1)
    ledger.settle("t", ledger.take_one().fence, Later(due=0.0))

    task = ledger.requeue("t")

    assert (task.state, task.attempts, task.result, task.packet) == (S.QUEUED, 0, "", None)
    assert ledger.take_one().fence == 2


def every_hour(task: Task, now: float) -> Repetition | None:
    """A rule of a test's own: one that is more than half an hour late is missed."""
    if not task.payload.get("hourly"):
        return None
    following = NewTask(
        id=TaskId(f"{task.id}+"),
        group=task.group,
        prompt=task.prompt,
        due=task.due + HOUR,
        payload=task.payload,
    )
    return Repetition(following=following, missed="too late" if now > task.due + HOUR / 2 else "")


def hourly(world: World) -> Calls:
    ledger = world.engine(repeats=every_hour)
    ledger.new("t", due=world.clock.now() + HOUR, payload={"hourly": True})
    world.clock.move(HOUR)
    return ledger


def test_what_repeats_leaves_the_following_when_it_is_taken_for_the_first_time(
    world: World,
) -> None:
    ledger = hourly(world)

    task = ledger.take_one()
    assert [(one.id, one.state) for one in ledger.list("t")] == [("t", S.RUNNING), ("t+", S.QUEUED)]
    assert ledger.get("t+").due == task.due + HOUR

    for outcome in (Again(prompt="go on"), Later(due=world.clock.now()), Failed(result="broken")):
        ledger.settle("t", task.fence, outcome)
        task = next(iter(ledger.take()), None)
    ledger.requeue("t")
    assert ledger.take_one().id == "t"
    assert [one.id for one in ledger.list("t")] == ["t", "t+"]
    assert [event.task for event in world.events] == ["t+"]


@pytest.mark.parametrize(("back", "waits"), [(100 * 24 * HOUR, HOUR), (HOUR / 2, 1.5 * HOUR)])
def test_what_repeats_was_planned_by_a_clock_that_was_ahead(
    world: World, back: float, waits: float
) -> None:
    """And is planned anew; not where only the time that it has just had would come again."""
    ledger = hourly(world)
    ledger.new("once", group="u", due=world.clock.now() + 2 * HOUR)
    ledger.settle("t", ledger.take_one().fence, Done(result="ok"))

    world.clock.move(-back)
    for _ in range(2):
        ledger.recover()

    assert ledger.get("t+").due - world.clock.now() == pytest.approx(waits)
    assert ledger.get("once").due > ledger.get("t+").due


def test_what_repeats_is_one_at_a_time(world: World) -> None:
    ledger = hourly(world)
    task = ledger.take_one()

    world.clock.move(1.2 * HOUR)
    assert ledger.take() == []
    ledger.settle("t", task.fence, Done(result="ok"))

    assert ledger.take_one().id == "t+"
    assert [one.id for one in ledger.list("t")] == ["t", "t+", "t++"]


def test_a_time_that_is_missed_is_on_record_and_never_taken(world: World) -> None:
    ledger = hourly(world)
    ledger.new("behind", group="u", after=(TaskId("t"),))
    world.clock.move(0.7 * HOUR)

    assert ledger.take(5) == []
    assert (ledger.state("t"), ledger.get("t").result) == (S.MISSED, "too late")
    assert ledger.state("t+") is S.QUEUED
    assert ledger.state("behind") is S.PARKED
    assert ledger.next_due() == ledger.get("t+").due
    assert [event.kind for event in world.events] == ["TaskAdded", "TaskSettled"]


def test_a_missed_time_that_a_person_brings_back_is_done_now(world: World) -> None:
    ledger = hourly(world)
    world.clock.move(0.7 * HOUR)
    ledger.take()

    ledger.requeue("t")

    assert ledger.take_one().id == "t"
    assert [one.id for one in ledger.list("t")] == ["t", "t+"]


def test_a_crash_after_the_taking_leaves_one_following(world: World) -> None:
    hourly(world).take_one()

    other = world.engine("two", repeats=every_hour)
    other.recover()

    assert other.take_one().id == "t"
    assert [one.id for one in other.list("t")] == ["t", "t+"]


def test_what_is_cancelled_repeats_no_more(world: World) -> None:
    ledger = world.engine(repeats=every_hour)
    ledger.new("t", due=world.clock.now() + HOUR, payload={"hourly": True})

    ledger.cancel("t")
    world.clock.move(5 * HOUR)

    assert ledger.take() == []
    assert [one.id for one in ledger.list()] == ["t"]


def parts(*names: str, **options) -> Behind:
    """One after the other."""
    first: list[NewTask] = []
    for name in names:
        after = tuple(one.id for one in first[-1:])
        part = NewTask(id=TaskId(name), group="g", prompt=name, after=after, **options)
        first.append(part)
    return Behind(first=tuple(first), payload={"plan": "made"}, result="2 tasks")


def test_what_is_put_behind_others_goes_on_when_they_are_done(ledger: Calls):
    ledger.new("goal", group="g", payload={"plan": "ask"})
    ledger.new("next", group="g")
    fence = ledger.take_one().fence

    assert ledger.settle("goal", fence, parts("a", "b", priority=1))

    goal = ledger.get("goal")
    assert (goal.state, goal.after, goal.attempts) == (S.QUEUED, ("a", "b"), 0)
    assert (goal.payload, goal.result) == ({"plan": "made"}, "2 tasks")
    order = []
    for _ in range(4):
        task = ledger.take_one()
        order.append(task.id)
        assert ledger.settle(task.id, task.fence, Done(result="done"))
    assert order == ["a", "b", "goal", "next"]


def test_what_comes_first_takes_what_is_behind_it_along_when_it_is_given_up(ledger: Calls):
    ledger.new("goal", group="g")
    ledger.settle("goal", ledger.take_one().fence, parts("a", "b"))

    ledger.cancel("a")

    assert [ledger.state(one) for one in ("a", "b", "goal")] == [S.CANCELLED, S.PARKED, S.PARKED]
    ledger.requeue("a")
    assert [ledger.state(one) for one in ("a", "b", "goal")] == [S.QUEUED] * 3


def test_nothing_is_put_first_twice_or_for_what_was_cancelled_meanwhile(world: World):
    ledger = world.engine()
    ledger.new("goal", group="g")
    fence = ledger.take_one().fence
    assert ledger.settle("goal", fence, parts("a"))
    assert not ledger.settle("goal", fence, parts("b")), "it is settled"

    ledger.new("other", group="h")
    fence = ledger.take_one().fence  # of `a`, which came first
    ledger.cancel("a")
    assert ledger.settle("a", fence, parts("c"))
    assert {task.id for task in ledger.list()} == {"goal", "a", "other"}
