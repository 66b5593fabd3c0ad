"""What becomes of a task whose run breaks off: again by itself, or a person's."""

import asyncio
import sqlite3
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from perpetualcc.agent import patience
from perpetualcc.agent.faculties import AgentSettings
from perpetualcc.agent.inbox import TurnEnded
from perpetualcc.agent.master_agent import MasterAgent
from perpetualcc.domain.errors import MissingError, NoRoomError, PassingError, PerpetualError
from perpetualcc.domain.tasks import Done, Later, Parked, Wait
from perpetualcc.store.problems import explain
from tests.fakes.clock import FakeClock
from tests.unit.agent.test_supervision import LAUNCH, SESSION, TASK


class Journal:
    """Keeps what a run leaves, unless its disk is full too."""

    def __init__(self, *, is_full: bool = False) -> None:
        self.is_full = is_full
        self.written: list[Any] = []

    async def session(self, _: object) -> Any:
        return SESSION

    async def open_run(self, *_: object) -> None: ...

    async def close_run(self, run: object, *events: Any) -> None:
        if self.is_full:
            raise PassingError("full")
        self.written += events


def agent_whose_run_fails(error: Exception, journal: Journal) -> MasterAgent:
    async def current(*_: object) -> None: ...

    async def plan(*_: object) -> Any:
        return LAUNCH

    async def fail(*_: object) -> None:
        raise error

    handovers = SimpleNamespace(current=current, watch=lambda *_: None)
    faculties = SimpleNamespace(journal=journal, clock=FakeClock(), handovers=handovers)
    agent = MasterAgent(faculties, AgentSettings())
    agent._plan, agent._metered = plan, fail
    return agent


@pytest.mark.parametrize("is_full", [False, True])
def test_a_disk_that_is_full_for_a_while_is_no_reason_to_ask_a_person(is_full):
    journal = Journal(is_full=is_full)
    agent = agent_whose_run_fails(PassingError("the disk is full", hint="Free some"), journal)

    with pytest.raises(PassingError):  # the dispatcher tries again later
        asyncio.run(agent.advance(TASK))

    kinds = [event.kind for event in journal.written]
    assert kinds == ([] if is_full else ["ProblemNoticed", "RunEnded"])


@pytest.mark.parametrize(
    ("error", "attempts", "outcome"),
    [
        (NoRoomError("No space left on device"), 1, Later),
        (NoRoomError("No space left on device"), TASK.max_attempts, Parked),
        (MissingError("No Claude Code at 'tpyo'"), 1, Parked),
    ],
)
def test_a_disk_without_room_is_waited_for_also_before_the_first_run(error, attempts, outcome):
    agent = agent_whose_run_fails(error, Journal())

    found = asyncio.run(agent.advance(replace(TASK, attempts=attempts)))

    assert isinstance(found, outcome)


def test_what_only_a_person_can_mend_is_a_persons():
    journal = Journal()
    agent = agent_whose_run_fails(PerpetualError("not signed in", hint="claude /login"), journal)

    outcome = asyncio.run(agent.advance(TASK))

    assert isinstance(outcome, Parked)
    assert outcome.result == "not signed in"


@pytest.mark.parametrize("code", ["FULL", "BUSY", "IOERR", "READONLY"])
def test_trouble_of_the_database_passes(code):
    error = sqlite3.OperationalError("trouble")
    error.sqlite_errorcode = getattr(sqlite3, f"SQLITE_{code}")

    assert isinstance(explain(error, Path("/data/perpetualcc.db")), PassingError)


class Meter:
    """Books a run, once the database takes it."""

    def __init__(self) -> None:
        self.failures, self.booked = 2, []

    async def ended(self, _task: object, _session: object, tokens: int, _usd: float) -> None:
        if self.failures:
            self.failures -= 1
            raise PassingError("the database is locked")
        self.booked.append(tokens)


def test_an_end_that_is_no_success_is_kept_through_a_lock_too(monkeypatch):
    """A limit, a question, a budget: lost, the task would run into it once more."""
    monkeypatch.setattr(patience, "_AGAIN", timedelta())
    journal, meter = Journal(), Meter()
    ends = iter([True, False])

    async def supervise(_launch: object, _task: object, facts: Any, _watch: object) -> None:
        facts.question = 3

    async def conclude(outcome: Any, _facts: object) -> Any:
        if next(ends, False):
            raise PassingError("the database is locked")
        return outcome

    agent = agent_whose_run_fails(PassingError("unused"), journal)
    del agent._metered
    agent._supervise = supervise
    agent._with.handovers.watch = lambda *_: SimpleNamespace(conclude=conclude)
    agent._with.meter = meter
    agent._with.limits = SimpleNamespace(detect=lambda *_: None)

    outcome = asyncio.run(agent.advance(TASK))

    assert outcome == Wait(signal="escalation:3", reason="a person must answer")
    assert meter.booked == [0]


@pytest.mark.parametrize("fails", ["the run itself", "its booking", "its end"])
def test_a_turn_that_ended_well_is_kept_whatever_of_it_cannot_be_written_yet(fails, monkeypatch):
    monkeypatch.setattr(patience, "_AGAIN", timedelta())
    journal, meter = Journal(is_full=fails == "its end"), Meter()
    meter.failures = 2 if fails == "its booking" else 0
    turn = TurnEnded(is_error=False, subtype="success", result="Hours of work.", tokens_out=7)

    async def supervise(_launch: object, _task: object, facts: Any, _watch: object) -> None:
        facts.turn = turn
        if fails == "the run itself":
            raise PassingError("the database is locked")

    async def conclude(outcome: Any, _facts: object) -> Any:
        return outcome

    async def main() -> Any:
        agent = agent_whose_run_fails(PassingError("unused"), journal)
        del agent._metered
        agent._supervise = supervise
        agent._with.handovers.watch = lambda *_: SimpleNamespace(conclude=conclude)
        agent._with.meter = meter
        agent._with.limits = SimpleNamespace(detect=lambda *_: None)
        async with asyncio.TaskGroup() as group:
            advancing = group.create_task(agent.advance(TASK))
            await asyncio.sleep(0.05)
            journal.is_full = False
        return advancing.result()

    assert asyncio.run(main()) == Done(result="Hours of work.")
    assert [event.kind for event in journal.written] == ["RunEnded"]
    assert set(meter.booked) == {7}


def test_a_run_without_the_end_of_its_turn_tells_what_was_counted():
    journal = Journal()
    agent = agent_whose_run_fails(PassingError("unused"), journal)

    async def killed(_launch: object, _task: object, facts: Any, _watch: object) -> None:
        facts.tokens_in, facts.tokens_out, facts.usd = 700, 30, 0.5
        raise asyncio.CancelledError

    agent._metered = killed
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(agent.advance(TASK))

    [ended] = journal.written
    assert (ended.tokens_in, ended.tokens_out, ended.cost_usd) == (700, 30, 0.5)
