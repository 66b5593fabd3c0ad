"""Claude ends its turn while an agent or a command of its own works on: the task is not done."""

from dataclasses import replace

import pytest

from perpetualcc.agent import background
from perpetualcc.agent.endings import outcome_of
from perpetualcc.agent.inbox import (
    BackgroundBegan,
    BackgroundChanged,
    ClockTicked,
    Gone,
    Order,
    Said,
    Started,
    Told,
    TurnEnded,
)
from perpetualcc.domain.tasks import Done, Later, Parked
from tests.fakes.faculties import OpenMeter
from tests.unit.agent.test_supervision import TASK, World, ended, play, wants

AGENT, COMMAND = "local_agent", "local_bash"
WAITS = TurnEnded(
    is_error=False, subtype="success", result="I wait.", turns=2, tokens_in=300, tokens_out=30
)
LAST = TurnEnded(
    is_error=False, subtype="success", result="All done.", turns=1, tokens_in=100, tokens_out=10
)
BEGINS = Started(model="m", permission_mode="default", version="1")


def running(*kinds: str) -> BackgroundChanged:
    return BackgroundChanged(works={f"w{at}": kind for at, kind in enumerate(kinds)})


def outcome(world: World):
    return outcome_of(world.facts, TASK, now=0.0)


@pytest.mark.parametrize("kind", [AGENT, COMMAND])
def test_a_turn_that_ends_for_what_still_runs_is_not_the_last(kind):
    world = play(World(), running(kind), WAITS, ClockTicked())

    assert not world.run.is_over

    play(world, running(), BEGINS, Said(text="All done."), LAST)

    assert world.run.is_over
    assert outcome(world) == Done(result="All done.")
    turn = world.facts.turn
    assert (turn.turns, turn.tokens_in, turn.tokens_out) == (3, 400, 40)


def test_nothing_in_the_background_and_the_turn_is_the_last():
    assert play(World(), running(COMMAND), running(), WAITS).run.is_over


def test_a_turn_without_claude_is_neither_the_end_nor_a_reply(monkeypatch):
    """A conversation that is resumed begins with one for each thing that its old process lost."""
    monkeypatch.setattr(background, "_WORD", 0.0)
    empty = TurnEnded(is_error=False, subtype="success", result="", is_empty=True)
    world = play(World(), BEGINS, empty, BEGINS, empty, BEGINS, ClockTicked())
    assert not world.run.is_over

    play(world, Said(text="I wait."), running(COMMAND), WAITS, running(), BEGINS, empty)
    assert not world.run.is_over

    assert outcome(play(world, ClockTicked())) == Done(result="I wait.")


def test_a_process_that_dies_meanwhile_leaves_the_task_undone():
    world = play(World(), running(AGENT), WAITS, Gone(error="killed"))

    assert isinstance(outcome(world), Later)


def test_a_server_that_never_ends_is_waited_for_and_then_left(monkeypatch):
    monkeypatch.setattr(background, "_COMMANDS", 0.0)

    world = play(World(), running(COMMAND), WAITS, ClockTicked())

    assert world.run.is_over
    assert outcome(world) == Done(result="I wait.")


@pytest.mark.parametrize(("is_asked", "is_over"), [(False, True), (True, False)])
def test_an_agent_that_gets_nowhere_is_stuck_unless_it_waits_for_a_person(is_asked, is_over):
    world = World()
    play(world, running(AGENT), WAITS, *([wants("w", "Bash")] if is_asked else []))
    world.run.stuck.since -= 3600

    play(world, ClockTicked())

    assert world.run.is_over is is_over
    assert isinstance(outcome(world), Parked) is is_over


@pytest.mark.parametrize(("command", "is_over"), [("npm run dev", True), ("npm test", False)])
def test_a_server_is_not_waited_for(command: str, is_over: bool):
    call = wants("w", command=command)
    began = BackgroundBegan(work="w0", request=call.request)

    world = play(World(), call, running(COMMAND), began, ended("w"), WAITS)

    assert world.run.is_over is is_over


LINE = (BEGINS, Said(text="A line came."), WAITS)


def test_a_command_that_tells_line_by_line_is_left_when_nothing_follows_from_it():
    """Before the replies without a tool are taken for a run that is stuck."""
    world = play(World(), running(COMMAND), WAITS, *LINE * 4, ClockTicked())
    assert not world.run.is_over

    world = play(World(), running(COMMAND), WAITS, *LINE * 5, ClockTicked())
    assert world.run.is_over
    assert isinstance(outcome(world), Done)

    uses = (wants("w"), ended("w"))
    world = play(World(), running(COMMAND), WAITS, *LINE * 3, *uses, *LINE * 3, ClockTicked())
    assert not world.run.is_over


def test_an_agent_is_not_left_however_long_it_takes(monkeypatch):
    monkeypatch.setattr(background, "_COMMANDS", 0.0)

    assert not play(World(), running(COMMAND, AGENT), WAITS, ClockTicked()).run.is_over


def test_an_end_that_claude_says_nothing_to_is_waited_for_shortly(monkeypatch):
    monkeypatch.setattr(background, "_WORD", 0.0)

    world = play(World(), running(AGENT), WAITS, ClockTicked())
    assert not world.run.is_over

    assert outcome(play(world, running(), ClockTicked())) == Done(result="I wait.")


def test_a_reply_to_it_may_take_its_time(monkeypatch):
    monkeypatch.setattr(background, "_WORD", 0.0)

    assert not play(World(), running(AGENT), WAITS, running(), BEGINS, ClockTicked()).run.is_over


@pytest.mark.parametrize("order", list(Order))
def test_an_order_ends_the_wait_once_the_agent_has_no_call_at_work(order):
    world = play(World(), running(AGENT), WAITS, wants("w"), Told(order=order))
    assert not world.run.is_over

    play(world, ended("w"))

    assert world.run.is_over
    assert isinstance(outcome(world), Later)


@pytest.mark.parametrize("kind", [AGENT, COMMAND])
def test_an_order_before_the_turn_ended_is_not_kept_waiting_and_the_work_is_not_done(kind):
    world = play(World(), running(kind), Told(order=Order.HAND_OVER), WAITS)

    assert world.run.is_over
    assert isinstance(outcome(world), Later)


@pytest.mark.parametrize("kind", [AGENT, COMMAND])
def test_a_budget_that_the_last_reply_used_up_leaves_the_work_in_the_background_undone(kind):
    said = Said(text="I wait.", message="m", tokens_fresh=5, tokens_out=5)
    world = play(World(meter=OpenMeter(allowed=1)), running(kind), said, WAITS)

    assert world.run.is_over
    assert isinstance(outcome(world), Parked)

    alone = play(World(meter=OpenMeter(allowed=1)), said, WAITS)
    assert outcome(alone) == Done(result="I wait.")


def test_what_the_turn_cost_that_now_waits_is_in_the_book_before_the_agents_go_on():
    world = World()
    world.claude.costs = [2.0]
    waits = replace(WAITS, cost_usd=2.0)

    play(world, running(AGENT), Said(text="I wait.", message="m"), waits, ClockTicked())

    assert (world.meter.usd, world.facts.usd) == (2.0, 2.0)
    assert not world.run.is_over


def test_the_word_after_the_last_agent_is_waited_for_from_its_end(monkeypatch):
    now = 0.0
    monkeypatch.setattr(background, "_now", lambda: now)
    work = background.BackgroundWork()
    work.changed({"w": next(iter(background._AGENTS))})
    work.wait()

    now = 1000.0
    work.changed({})
    assert not work.is_waited_out

    now += background._WORD
    assert work.is_waited_out
