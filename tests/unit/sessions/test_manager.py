"""What a person asks of a session, and what it comes to."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.events import SessionCreated, SessionStatusChanged, TaskAdded, TaskSettled
from perpetualcc.domain.ids import TaskId
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.sessions import Session
from perpetualcc.domain.tasks import (
    STOPS,
    Behind,
    Done,
    Failed,
    Lane,
    Later,
    NewTask,
    Parked,
    TaskState,
    Wait,
)
from perpetualcc.sessions.limit_waits import is_cut_short_by_a_person
from perpetualcc.sessions.manager import SessionManager
from perpetualcc.sessions.status import StatusError
from perpetualcc.sessions.task_queue import PlannedTask
from tests.fakes.clock import FakeClock
from tests.fakes.ledger import Memory, MemoryLedger
from tests.fakes.sessions import MemorySessions, RecordingWorkers


@dataclass
class World:
    """A manager and what it works with."""

    manager: SessionManager
    sessions: MemorySessions
    ledger: MemoryLedger
    workers: RecordingWorkers

    async def start(self, project: Path, *prompts: str, name: str = "") -> Session:
        plan = [PlannedTask(prompt=prompt) for prompt in prompts]
        return await self.manager.create_session(project, plan, name=name)

    async def work(self, outcome, *, limited: bool = False) -> Session:
        """Dispatch the next task, as the dispatcher would."""
        [task] = await self.ledger.claim({Lane.INTERACTIVE: 1}, 1)
        await self.manager.begin(task.group)
        await self.ledger.settle(task.id, task.fence, outcome)
        after = await self.ledger.get(task.id)
        due = None if after.due == float("inf") else after.due
        await self.manager.settled(
            task, after.state, due=due, result=after.result or "why", limited=limited
        )
        return await self.manager.get_session(task.group)

    async def can_start(self) -> bool:
        return await self.ledger.next_due() is not None


def play(scene) -> None:
    ledger = MemoryLedger(Memory(), FakeClock(), owner="me")
    sessions, workers = MemorySessions(ledger), RecordingWorkers(ledger)
    manager = SessionManager(sessions, ledger, sessions.record, workers)
    asyncio.run(scene(World(manager, sessions, ledger, workers)))


def test_a_session_is_created_with_its_tasks_and_starts(tmp_path):
    async def scene(world):
        session = await world.start(tmp_path, "Fix the login page", "and its tests")

        assert (session.name, session.project) == ("fix-login-page", tmp_path)
        kinds = [type(event) for event in world.sessions.log]
        assert kinds == [SessionCreated, TaskAdded, TaskAdded]
        pending = await world.manager.queue(session.id).pending()
        assert [task.prompt for task in pending] == ["Fix the login page", "and its tests"]
        assert world.workers.told == ["wake"]

    play(scene)


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("Write a hello program", "write-hello-program"),
        ("修复登录页面 and more", "修复登录页面-more"),
        ("🚀🚀", "session"),
        ("a b", "a-b"),
        ("Fix\nthe second line", "fix"),
        ("\n  Fix the login", "fix-login"),
        ("x" * 80, "x" * 32),
    ],
)
def test_a_session_is_named_after_its_task(tmp_path, prompt, name):
    async def scene(world):
        assert (await world.start(tmp_path, prompt)).name == name

    play(scene)


@pytest.mark.parametrize("name", ["a\x1b[2Jb", "two\nlines", "fdp\u202exe", "\udc80", "tab\t"])
def test_a_name_that_a_terminal_would_obey_is_refused(tmp_path, name):
    async def scene(world):
        with pytest.raises(PerpetualError, match="name is one line"):
            await world.start(tmp_path, "x", name=name)
        assert world.sessions.kept == {}
        assert (await world.start(tmp_path, "x", name="Läden 👩‍🌾 (2)")).name == "Läden 👩‍🌾 (2)"

    play(scene)


def test_a_place_that_cannot_be_worked_in_is_refused(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    locked = tmp_path / "locked"

    async def scene(world):
        for place, words in ((locked, "does not exist"), (file, "is not a directory")):
            with pytest.raises(PerpetualError, match=words):
                await world.start(place, "x")
        for prompts in ((), ("fine", " ")):
            with pytest.raises(PerpetualError, match="The task is empty"):
                await world.start(tmp_path, *prompts)
        knot = [PlannedTask(prompt="a", after=(1,)), PlannedTask(prompt="b", after=(0,))]
        with pytest.raises(PerpetualError, match="wait for each other"):
            await world.manager.create_session(tmp_path, knot)
        with pytest.raises(PerpetualError, match="File name too long"):
            await world.start(tmp_path / ("Build me a shop" * 20), "x")
        assert world.sessions.kept == {}

    play(scene)


def test_projects_inside_each_other_are_refused_as_long_as_one_is_at_work(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()

    async def scene(world):
        outer = await world.start(tmp_path, "outer")
        with pytest.raises(PerpetualError, match="inside each other"):
            await world.start(inner, "inner")
        await world.manager.stop_session(outer.id)

        assert (await world.start(inner, "inner")).status is SessionStatus.IDLE

    play(scene)


def test_a_worktree_of_a_project_is_beside_it_and_what_is_in_it_is_not_beside_that(tmp_path):
    tree = tmp_path / ".claude" / "worktrees" / "dark"
    (tree / "web").mkdir(parents=True)

    async def scene(world):
        await world.start(tmp_path, "outer")
        await world.start(tree, "inner")
        with pytest.raises(PerpetualError, match="inside each other"):
            await world.start(tree / "web", "deeper")

    play(scene)


@pytest.mark.parametrize(
    ("outcome", "limited", "status", "goes_on"),
    [
        (Done(result="ok"), False, SessionStatus.IDLE, True),
        (Later(due=9e9), False, SessionStatus.IDLE, True),
        (Later(due=9e9, counts=False), True, SessionStatus.RATE_LIMITED, True),
        (Wait(signal="escalation:1"), False, SessionStatus.WAITING_INPUT, False),
        (Parked(result="stuck"), False, SessionStatus.IDLE, True),
        (Failed(result="no"), False, SessionStatus.IDLE, True),
        (Parked(result="sign in", packet=STOPS), False, SessionStatus.ERROR, False),
    ],
)
def test_a_session_follows_its_task(tmp_path, outcome, limited, status, goes_on):
    async def scene(world):
        await world.start(tmp_path, "first", "second")

        session = await world.work(outcome, limited=limited)

        assert session.status is status
        assert await world.can_start() is goes_on

    play(scene)


STUCK, FINE = Parked(result="stuck"), Done(result="ok")
IDLE, ERROR = SessionStatus.IDLE, SessionStatus.ERROR


@pytest.mark.parametrize(
    ("outcomes", "statuses"),
    [
        ([STUCK, FINE, STUCK, FINE, FINE], [IDLE, IDLE, IDLE, IDLE, ERROR]),
        ([STUCK, STUCK], [IDLE, ERROR]),
        ([FINE, STUCK, Failed(result="no")], [IDLE, IDLE, ERROR]),
        ([STUCK, Later(due=0, counts=False), STUCK], [IDLE, IDLE, ERROR]),
    ],
)
def test_a_task_that_stops_for_a_reason_of_its_own_stops_no_other_until_a_second_does(
    tmp_path, outcomes, statuses
):
    async def scene(world):
        await world.start(tmp_path, *"abcde")

        found = []
        for outcome in outcomes:
            world.ledger.clock.move(60)
            found.append((await world.work(outcome)).status)

        assert found == statuses
        assert not await world.can_start()

    play(scene)


def test_what_comes_after_a_task_that_stopped_waits_for_a_person_and_the_rest_does_not(tmp_path):
    async def scene(world):
        plan = [
            PlannedTask(prompt="build"),
            PlannedTask(prompt="ship", after=(0,)),
            PlannedTask(prompt="announce", after=(1,)),
            PlannedTask(prompt="tidy up"),
        ]
        session = await world.manager.create_session(tmp_path, plan)

        assert (await world.work(Parked(result="no compiler"))).status is IDLE
        world.ledger.clock.move(60)
        stopped = await world.work(FINE)

        assert stopped.status is ERROR
        assert stopped.detail.startswith("no compiler (1 of 4 tasks done")
        states = [task.state for task in await world.manager.queue(session.id).everything()]
        waits = TaskState.QUEUED
        assert states == [TaskState.PARKED, TaskState.DONE, waits, waits]
        await world.manager.resume_session(session.id)
        for _ in range(3):
            ended = await world.work(FINE)
        assert ended.status is SessionStatus.COMPLETED

    play(scene)


def test_leaving_one_of_two_that_stopped_does_not_finish_the_other(tmp_path):
    async def scene(world):
        session = await world.start(tmp_path, "a", "b")
        await world.work(STUCK)
        assert (await world.work(STUCK)).status is ERROR
        first, second = await world.manager.queue(session.id).broken()

        await world.manager.give_up_task(session.id, first.id)
        assert (await world.manager.get_session(session.id)).status is ERROR
        await world.manager.give_up_task(session.id, second.id)

        assert (await world.manager.get_session(session.id)).status is SessionStatus.COMPLETED

    play(scene)


@pytest.mark.parametrize(("stopped", "status"), [(1, SessionStatus.IDLE), (2, ERROR)])
def test_a_task_that_is_added_need_not_wait_for_one_that_stopped(tmp_path, stopped, status):
    async def scene(world):
        session = await world.start(tmp_path, *"ab"[:stopped])
        for _ in range(stopped):
            found = await world.work(STUCK)
        assert found.status is ERROR

        await world.manager.add_task(session.id, "said differently")

        assert (await world.manager.get_session(session.id)).status is status
        assert await world.can_start() is (status is SessionStatus.IDLE)

    play(scene)


def test_a_task_that_would_never_be_done_is_refused(tmp_path):
    async def scene(world):
        session = await world.start(tmp_path, "a", "b")
        await world.work(STUCK)
        [broken] = await world.manager.queue(session.id).broken()
        await world.manager.add_task(session.id, "once it is mended", after=["a"])

        await world.ledger.cancel(broken.id)

        with pytest.raises(PerpetualError, match="given up"):
            await world.manager.add_task(session.id, "never", after=["a"])

    play(scene)


def test_it_is_completed_when_its_last_task_is_and_goes_on_with_another(tmp_path):
    async def scene(world):
        session = await world.start(tmp_path, "only")
        assert (await world.work(Done(result="ok"))).status is SessionStatus.COMPLETED

        await world.manager.add_task(session.id, "one more")

        assert (await world.manager.get_session(session.id)).status is SessionStatus.IDLE
        assert (await world.work(Done(result="ok"))).status is SessionStatus.COMPLETED
        with pytest.raises(PerpetualError, match="nothing to resume"):
            await world.manager.resume_session(session.id)

    play(scene)


def test_a_paused_session_starts_nothing_until_it_is_resumed(tmp_path):
    async def scene(world):
        session = await world.start(tmp_path, "first", "second")
        paused = await world.manager.pause_session(session.id)
        assert (paused.status, paused.detail) == (SessionStatus.PAUSED, "by a person")
        assert f"pause {session.id}" in world.workers.told
        assert not await world.can_start()
        await world.manager.add_task(session.id, "third")
        assert not await world.can_start(), "a task more does not end the pause"

        resumed = await world.manager.resume_session(session.id)

        assert resumed.status is SessionStatus.IDLE
        assert await world.can_start()

    play(scene)


def test_no_run_begins_in_a_session_that_was_paused_while_its_task_waited_for_a_turn(tmp_path):
    async def scene(world):
        session = await world.start(tmp_path, "first", "second")
        [task] = await world.ledger.claim({Lane.INTERACTIVE: 1}, 1)
        await world.manager.pause_session(session.id)

        assert not await world.manager.begin(session.id)

        await world.ledger.settle(task.id, task.fence, Later(due=0, counts=False))
        await world.manager.settled(task, TaskState.QUEUED, due=0, result="paused", limited=False)
        assert (await world.manager.get_session(session.id)).status is SessionStatus.PAUSED
        assert not await world.can_start()
        await world.manager.resume_session(session.id)
        assert await world.can_start()
        assert await world.manager.begin(session.id)

    play(scene)


def test_a_run_that_ends_after_the_pause_leaves_the_session_paused(tmp_path):
    async def scene(world):
        session = await world.start(tmp_path, "first", "second")
        [task] = await world.ledger.claim({Lane.INTERACTIVE: 1}, 1)
        await world.manager.begin(session.id)
        await world.manager.pause_session(session.id)

        await world.ledger.settle(task.id, task.fence, Later(due=0, counts=False))
        await world.manager.settled(task, TaskState.WAITING, due=0, result="paused", limited=True)

        assert (await world.manager.get_session(session.id)).status is SessionStatus.PAUSED

    play(scene)


def test_resuming_after_an_error_tries_the_broken_task_again(tmp_path):
    async def scene(world):
        session = await world.start(tmp_path, "first")
        assert (await world.work(Failed(result="no"))).status is SessionStatus.ERROR

        await world.manager.resume_session(session.id)

        assert (await world.work(Done(result="ok"))).status is SessionStatus.COMPLETED

    play(scene)


@pytest.mark.parametrize("broken", [Failed(result="no"), Parked(result="stuck")])
def test_resuming_tries_what_stopped_again_before_what_is_for_later(tmp_path, broken):
    async def scene(world):
        session = await world.start(tmp_path, "first")
        due = world.ledger.clock.now() + 7200
        later = await world.manager.add_task(session.id, "for later", due=due)
        assert (await world.work(broken)).status is IDLE

        for _ in range(2):
            assert (await world.manager.resume_session(session.id)).status is IDLE

        assert (await world.ledger.get(later.id)).due == due
        assert (await world.work(FINE)).status is IDLE
        assert await world.ledger.next_due() == due

    play(scene)


def test_resuming_a_session_at_work_tries_again_what_stopped_and_changes_nothing_else(tmp_path):
    async def scene(world):
        session = await world.start(tmp_path, "first", "slow")
        due = world.ledger.clock.now() + 7200
        later = await world.manager.add_task(session.id, "for later", due=due)
        await world.work(STUCK)
        await world.ledger.claim({Lane.INTERACTIVE: 1}, 1)
        await world.manager.begin(session.id)

        resumed = await world.manager.resume_session(session.id)
        with pytest.raises(PerpetualError, match="is at work: there is nothing to resume"):
            await world.manager.resume_session(session.id)

        assert resumed.status is SessionStatus.PROCESSING
        found = await world.manager.queue(session.id).everything()
        states = [task.state for task in found]
        assert states == [TaskState.QUEUED, TaskState.RUNNING, TaskState.QUEUED]
        assert (await world.ledger.get(later.id)).due == due
        assert (await world.manager.get_session(session.id)).status is resumed.status

    play(scene)


@pytest.mark.parametrize("stopped", [False, True])
def test_resuming_does_not_hide_that_an_answer_is_waited_for(tmp_path, stopped):
    async def scene(world):
        session = await world.start(tmp_path, *["broken"] * stopped, "asks")
        due = world.ledger.clock.now() + 7200
        later = await world.manager.add_task(session.id, "for later", due=due)
        if stopped:
            await world.work(STUCK)
        await world.work(Wait(signal="escalation:1", reason="a person must answer"))

        if stopped:
            await world.manager.resume_session(session.id)
            assert await world.manager.queue(session.id).broken() == []
        for _ in range(2):
            with pytest.raises(PerpetualError, match="waits for your answer") as refused:
                await world.manager.resume_session(session.id)

        assert "pcc pending --session" in refused.value.hint
        found = await world.manager.get_session(session.id)
        assert (found.status, found.detail) == (
            SessionStatus.WAITING_INPUT,
            "a person must answer",
        )
        assert (await world.ledger.get(later.id)).due == due

    play(scene)


def test_what_waited_for_an_answer_when_it_was_paused_waits_for_it_again(tmp_path):
    async def scene(world):
        session = await world.start(tmp_path, "asks")
        await world.work(Wait(signal="escalation:1", reason="a plan waits for you"))
        await world.manager.pause_session(session.id)

        resumed = await world.manager.resume_session(session.id)

        assert (resumed.status, resumed.detail) == (
            SessionStatus.WAITING_INPUT,
            "a plan waits for you",
        )
        await world.ledger.signal("escalation:1", {})
        assert (await world.work(FINE)).status is SessionStatus.COMPLETED

    play(scene)


@pytest.mark.parametrize("paused", [False, True])
def test_a_wait_for_another_try_is_over_when_a_person_resumes(tmp_path, paused):
    async def scene(world):
        session = await world.start(tmp_path, "first")
        due = world.ledger.clock.now() + 7200
        await world.manager.add_task(session.id, "for later", due=due)
        assert (await world.work(Later(due=due - 1, reason="no directory"))).resumes_at == due - 1
        if paused:
            await world.manager.pause_session(session.id)

        resumed = await world.manager.resume_session(session.id)

        assert (resumed.status, resumed.resumes_at) == (IDLE, None)
        await world.work(FINE)
        assert await world.ledger.next_due() == due

    play(scene)


def test_a_pause_does_not_bring_forward_what_is_for_later(tmp_path):
    async def scene(world):
        session = await world.start(tmp_path, "now")
        due = world.ledger.clock.now() + 7200
        await world.manager.add_task(session.id, "for later", due=due)
        await world.work(FINE)
        await world.manager.pause_session(session.id)

        await world.manager.resume_session(session.id)

        assert await world.ledger.next_due() == due

    play(scene)


def test_what_goes_on_by_itself_tries_nothing_again_that_stopped(tmp_path):
    async def scene(world):
        session = await world.start(tmp_path, "first", "limited")
        await world.work(STUCK)
        limited = SessionStatus.RATE_LIMITED
        await world.work(Wait(signal="limit:t:1", due=1e12), limited=True)

        await world.manager.resume_session(session.id, only=limited, by_itself=True)

        [broken] = await world.manager.queue(session.id).broken()
        assert broken.prompt == "first"

    play(scene)


def test_a_stopped_session_cancels_its_tasks_and_stays_stopped(tmp_path):
    async def scene(world):
        session = await world.start(tmp_path, "first", "second")

        stopped = await world.manager.stop_session(session.id)

        assert stopped.status is SessionStatus.STOPPED
        states = {task.state for task in await world.manager.queue(session.id).everything()}
        assert states == {TaskState.CANCELLED}
        for attempt in (
            world.manager.resume_session(session.id),
            world.manager.pause_session(session.id),
            world.manager.add_task(session.id, "more"),
        ):
            with pytest.raises(StatusError):
                await attempt

    play(scene)


def test_one_task_is_stopped_and_what_comes_after_it_is_left_out(tmp_path):
    async def scene(world):
        session = await world.start(tmp_path, "first", "wrong")
        await world.manager.add_task(session.id, "after it", after=["wrong"])
        await world.manager.add_task(session.id, "last")

        [stopped] = await world.manager.stop_task(session.id, "wrong")

        left = await world.manager.queue(session.id).pending()
        assert [task.prompt for task in left] == ["first", "last"]
        assert world.sessions.log[-1] == TaskSettled(
            session=session.id, task=stopped.id, state="cancelled"
        )
        with pytest.raises(PerpetualError, match="cancelled already"):
            await world.manager.stop_task(session.id, stopped.id)
        again = await world.manager.add_task(session.id, "wrong")
        assert await world.manager.stop_task(session.id, "wrong") == [again]
        with pytest.raises(PerpetualError, match="'nothing' matches no task of this session"):
            await world.manager.stop_task(session.id, "nothing")

    play(scene)


def test_what_is_left_of_the_plan_of_a_goal_is_given_up_with_it(tmp_path):
    async def scene(world):
        session = await world.start(tmp_path, "goal", "mine")
        await world.manager.add_task(session.id, "behind", after=["goal"])
        parts = [
            NewTask(
                id=TaskId(f"p-{n}"),
                group=session.id,
                prompt=str(n),
                priority=1,
                payload={"goal": "goal"},
            )
            for n in range(3)
        ]
        await world.work(Behind(first=tuple(parts), payload={"plan": "made"}))
        await world.work(FINE)
        await world.work(STUCK)

        stopped = await world.manager.stop_task(session.id, "goal")

        assert [task.prompt for task in stopped] == ["goal", "1", "2"]
        assert [task.prompt for task in await world.manager.queue(session.id).pending()] == ["mine"]
        told = [e for e in world.sessions.log if isinstance(e, TaskSettled)]
        assert [(e.task, e.state) for e in told] == [(one.id, "cancelled") for one in stopped]

    play(scene)


def test_what_a_stopped_session_had_left_is_told(tmp_path):
    async def scene(world):
        session = await world.start(tmp_path, "first", "second")
        await world.manager.add_task(session.id, "third", after=["second"])
        [running] = await world.ledger.claim({Lane.INTERACTIVE: 1}, 1)

        await world.manager.stop_session(session.id)

        told = [e.task for e in world.sessions.log if isinstance(e, TaskSettled)]
        tasks = await world.manager.queue(session.id).everything()
        assert told == [task.id for task in tasks if task.id != running.id]

    play(scene)


def test_what_is_left_is_cancelled_together_so_that_the_run_ends_soon(tmp_path):
    async def scene(world):
        session = await world.start(tmp_path, "first", "second", "third")
        all_three, cancel = asyncio.Barrier(3), world.ledger.cancel

        async def meet(task):
            await all_three.wait()
            return await cancel(task)

        world.ledger.cancel = meet
        async with asyncio.timeout(5):
            stopped = await world.manager.stop_session(session.id)

        assert stopped.status is SessionStatus.STOPPED
        assert await world.manager.queue(session.id).pending() == []

    play(scene)


@pytest.mark.parametrize(
    "before",
    [
        "queued",
        "paused",
        Wait(signal="answer"),
        Later(due=9e9),
        Parked(result="broken"),
        Failed(result="no"),
    ],
)
def test_a_session_whose_last_task_is_stopped_is_finished(tmp_path, before):
    async def scene(world):
        session = await world.start(tmp_path, "wrong")
        if before == "paused":
            await world.manager.pause_session(session.id)
        elif before != "queued":
            await world.work(before, limited=isinstance(before, Later))

        await world.manager.stop_task(session.id, "wrong")

        found = await world.manager.get_session(session.id)
        assert found.status is SessionStatus.COMPLETED
        assert not await world.can_start()

    play(scene)


def test_a_session_goes_on_when_the_task_that_it_waits_for_is_stopped(tmp_path):
    async def scene(world):
        session = await world.start(tmp_path, "asks", "next")
        await world.work(Wait(signal="answer"))

        await world.manager.stop_task(session.id, "asks")

        found = await world.manager.get_session(session.id)
        assert (found.status, found.detail) == (SessionStatus.IDLE, "")
        assert await world.can_start()

    play(scene)


def test_a_paused_session_stays_paused_when_one_of_its_tasks_is_stopped(tmp_path):
    async def scene(world):
        session = await world.start(tmp_path, "first", "wrong")
        await world.manager.pause_session(session.id)

        await world.manager.stop_task(session.id, "wrong")

        assert (await world.manager.get_session(session.id)).status is SessionStatus.PAUSED
        assert not await world.can_start()

    play(scene)


def test_stopping_a_task_does_not_hide_that_another_needs_a_person(tmp_path):
    async def scene(world):
        session = await world.start(tmp_path, "breaks", "wrong")
        await world.work(Parked(result="needs you"))

        await world.manager.stop_task(session.id, "wrong")

        assert (await world.manager.get_session(session.id)).status is SessionStatus.ERROR

    play(scene)


def test_after_a_crash_what_says_it_works_is_put_right(tmp_path):
    async def scene(world):
        working = await world.start(tmp_path / ".", "first")
        await world.manager.begin(working.id)

        await world.manager.recover()

        session = await world.manager.get_session(working.id)
        assert (session.status, session.detail) == (
            SessionStatus.IDLE,
            "taken over after a restart",
        )
        changes = [e for e in world.sessions.log if isinstance(e, SessionStatusChanged)]
        assert [(e.before, e.after) for e in changes] == [
            ("IDLE", "PROCESSING"),
            ("PROCESSING", "IDLE"),
        ]

    play(scene)


def test_after_a_crash_a_session_whose_only_task_was_parked_shows_that_a_person_is_needed(tmp_path):
    async def scene(world):
        working = await world.start(tmp_path / ".", "the task that kills the engine")
        await world.manager.begin(working.id)
        [task] = await world.ledger.claim({Lane.INTERACTIVE: 1}, 1)
        await world.ledger.settle(task.id, task.fence, Parked(result="too many crashes"))

        await world.manager.recover()

        session = await world.manager.get_session(working.id)
        assert session.status is SessionStatus.ERROR
        assert not await world.can_start()

    play(scene)


def test_a_stop_in_the_middle_of_a_settle_stays_a_stop(tmp_path):
    async def scene(world):
        session = await world.start(tmp_path, "one", "two")
        release = world.ledger.release
        async with asyncio.TaskGroup() as group:

            async def meanwhile(name):
                group.create_task(world.manager.stop_session(name))
                await asyncio.sleep(0.01)
                await release(name)

            world.ledger.release = meanwhile
            await world.work(Done(result="ok"))

        assert (await world.manager.get_session(session.id)).status is SessionStatus.STOPPED
        assert not await world.can_start()

    play(scene)


def test_a_stop_that_a_crash_cut_short_is_finished_after_it(tmp_path):
    async def scene(world):
        session = await world.start(tmp_path, "first", "second")

        class Killed(BaseException):
            """Past everything that handles errors."""

        async def killed(_task):
            raise Killed

        cancel, world.ledger.cancel = world.ledger.cancel, killed
        with pytest.raises(Killed):
            await world.manager.stop_session(session.id)
        world.ledger.cancel = cancel

        await world.manager.recover()

        states = {task.state for task in await world.manager.queue(session.id).everything()}
        assert states == {TaskState.CANCELLED}

    play(scene)


@pytest.mark.parametrize("by_itself", [True, False])
def test_a_wait_that_is_over_early_says_whether_a_person_wished_it(tmp_path, by_itself):
    async def scene(world):
        session = await world.start(tmp_path, "one")
        await world.work(Wait(signal="limit:t:1", due=1e12), limited=True)

        await world.manager.resume_session(session.id, by_itself=by_itself)

        [task] = await world.ledger.claim({Lane.INTERACTIVE: 1}, 1)
        assert is_cut_short_by_a_person(task) is not by_itself

    play(scene)


def test_what_resumes_by_itself_leaves_alone_what_a_person_paused_meanwhile(tmp_path):
    async def scene(world):
        session = await world.start(tmp_path, "one")
        await world.manager.pause_session(session.id)

        found = await world.manager.resume_session(session.id, only=SessionStatus.RATE_LIMITED)

        assert found.status is SessionStatus.PAUSED
        assert not await world.can_start()

    play(scene)


def test_a_settle_that_is_told_late_does_not_undo_what_began_since(tmp_path):
    async def scene(world):
        session = await world.start(tmp_path, "one", "two")
        [first] = await world.ledger.claim({Lane.INTERACTIVE: 1}, 1)
        await world.manager.begin(session.id)
        await world.ledger.settle(first.id, first.fence, Done(result="ok"))
        await world.ledger.claim({Lane.INTERACTIVE: 1}, 1)

        await world.manager.settled(first, TaskState.DONE, due=None, result="", limited=False)

        assert (await world.manager.get_session(session.id)).status is SessionStatus.PROCESSING

    play(scene)
