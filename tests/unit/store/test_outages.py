"""Which hours without work are kept, and what a report reads of them."""

import pytest

from perpetualcc.domain.ids import SessionId, TaskId
from perpetualcc.domain.limits import LimitWindow, RateLimitInfo
from perpetualcc.domain.tasks import Lane, Later, NewTask, Wait
from perpetualcc.sessions.limit_waits import LimitWait, signal_of
from perpetualcc.sessions.outages import Outage, OutageCause
from perpetualcc.store.ledger import SqliteLedger
from perpetualcc.store.limits import SqliteLimitWaits
from perpetualcc.store.outages import SqliteOutages
from perpetualcc.store.work_ahead import SqliteWorkAhead
from tests.fakes.clock import FakeClock
from tests.fakes.tables import on_tables

H = 3600.0
NOW = 1_000_000.0
NIGHT = Outage(began=NOW - 8 * H, ended=NOW, cause=OutageCause.SLEPT)
FREE = dict.fromkeys(Lane, 9)


async def ledger_with(database, kind: str) -> SqliteLedger:
    """One task of session `s`, added before the night."""
    clock = FakeClock(NOW - 9 * H)
    ledger = SqliteLedger(database, clock, owner="x")
    payload = {"every": "1 day"} if kind in {"at three", "every day"} else {}
    due = {"at three": NOW - 5 * H, "every day": NOW + H, "tomorrow": NOW + 20 * H}.get(kind, 0.0)
    await ledger.add(NewTask(id=TaskId("t"), group="s", prompt="p", due=due, payload=payload))
    if kind in {"queued", "at three", "every day", "tomorrow"}:
        return ledger
    if kind == "paused":
        await ledger.hold("s")
        return ledger
    [task] = await ledger.claim(FREE, 9)
    outcome = {
        "running": None,
        "limit until four": Wait(signal=signal_of(task.id, task.fence), due=NOW - 4 * H),
        "backs off": Later(due=NOW - 8.5 * H, reason="x"),
        "a person, for ever": Wait(signal="escalation:1"),
        "a person, until five": Wait(signal="escalation:1", due=NOW - 3 * H),
    }[kind]
    if outcome is not None:
        await ledger.settle(task.id, task.fence, outcome)
    return ledger


@pytest.mark.parametrize(
    ("kind", "missed", "ahead"),
    [
        # hours of the night in which it would have worked; when it goes on, from the evening
        ("running", 8, None),
        ("queued", 8, 0.0),
        ("at three", 5, None),
        ("every day", None, None),
        ("tomorrow", None, NOW + 20 * H),
        ("paused", None, None),
        ("limit until four", 4, NOW - 4 * H),
        ("backs off", 8, NOW - 8.5 * H),
        ("a person, for ever", None, None),
        ("a person, until five", None, None),
    ],
)
def test_only_work_that_would_have_run_was_missed(tmp_path, kind, missed, ahead):
    async def scene(database):
        await ledger_with(database, kind)
        next_due = await SqliteWorkAhead(database).next_due(repeating=False)
        return await SqliteOutages(database).add(NIGHT), next_due

    found, next_due = on_tables(tmp_path, scene)

    assert (found and found.seconds / H) == missed
    assert next_due == ahead
    assert found is None or found.sessions == ("s",)


def test_what_repeats_counts_as_ahead_where_that_is_asked_for(tmp_path):
    async def scene(database):
        await ledger_with(database, "every day")
        return await SqliteWorkAhead(database).next_due(repeating=True)

    assert on_tables(tmp_path, scene) == NOW + H


def test_it_is_written_down_once_and_read_by_session(tmp_path):
    async def scene(database):
        await ledger_with(database, "running")
        outages = SqliteOutages(database)
        await outages.add(NIGHT)
        again = await outages.add(NIGHT)
        read = [
            await outages.since(since, NOW, session)
            for since, session in ((0, None), (NOW, None), (0, SessionId("s")), (0, "other"))
        ]
        return again, read

    again, (all_of_it, later, of_s, of_other) = on_tables(tmp_path, scene)

    assert again is None
    [night] = all_of_it
    assert (night.began, night.ended, night.cause) == (NIGHT.began, NOW, OutageCause.SLEPT)
    assert of_s == all_of_it
    assert later == of_other == []


def test_a_wait_for_a_limit_is_told_where_nothing_else_ran(tmp_path):
    """Two sessions meet it; a third, of another account's model, works for an hour meanwhile."""

    async def scene(database):
        for made in (
            "INSERT INTO projects VALUES (1, '/p', 0)",
            (
                "INSERT INTO sessions (id, name, project, status, options, created_at, updated_at)"
                " VALUES ('c', 'c', 1, 'IDLE', '{}', 0, 0)"
            ),
            (
                "INSERT INTO runs (id, session, task, claude_session, fence, started_at, ended_at)"
                f" VALUES ('r', 'c', 't', 'x', 1, {NOW - 4 * H}, {NOW - 3 * H})"
            ),
        ):
            await database.write(lambda c, made=made: c.execute(made))
        waits = SqliteLimitWaits(database)
        limit = RateLimitInfo(window=LimitWindow.FIVE_HOUR, resets_at=NOW - 2 * H)
        for session, began in (("a", 6), ("b", 5.5)):
            wait = LimitWait(
                session=session, task=TaskId(session), at=NOW - began * H, limit=limit,
                due=NOW - 2 * H,
            )  # fmt: skip
            await waits.add(wait)
        await waits.over(TaskId("a"), NOW - 1.9 * H)
        outages = SqliteOutages(database)
        return await outages.since(0, NOW), await outages.since(0, NOW, SessionId("b"))

    found, of_b = on_tables(tmp_path, scene)

    def told(outages):
        return [((one.began - NOW) / H, (one.ended - NOW) / H, one.detail) for one in outages]

    why = "the 5-hour limit"
    assert told(found) == [(-6, -4, why), (-3, -2, why)]
    assert told(of_b) == [(-5.5, -2, why)]
    assert {one.cause for one in found} == {OutageCause.LIMIT}


def test_what_a_false_clock_put_ahead_hides_nothing(tmp_path):
    ahead = Outage(began=NOW, ended=NOW + 10_000 * H, cause=OutageCause.OFF)

    async def scene(database):
        await ledger_with(database, "running")
        outages = SqliteOutages(database)
        await outages.add(ahead)
        found = await outages.add(NIGHT)
        return found, await outages.since(0.0, NOW + H)

    found, told = on_tables(tmp_path, scene)

    assert found is not None
    assert [one.cause for one in told] == [OutageCause.SLEPT]
