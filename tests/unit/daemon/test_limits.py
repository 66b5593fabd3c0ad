"""Who waits for a limit, how long, and who does not even start: on the real table."""

import asyncio
import time
from dataclasses import replace

import pytest

from perpetualcc.daemon.limits import LimitKeeper
from perpetualcc.daemon.open_questions import OpenQuestions
from perpetualcc.domain.escalations import EscalationRequest, EscalationType
from perpetualcc.domain.events import LimitReached, ResumePlanned
from perpetualcc.domain.ids import RequestId, RunId, SessionId, TaskId
from perpetualcc.domain.limits import LimitWindow, RateLimitInfo
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.sessions import Session, SessionOptions
from perpetualcc.domain.tasks import Done, Lane, Later, NewTask, Parked, Task, TaskState, Wait
from perpetualcc.human.answers import AnswerError, checked
from perpetualcc.sessions.limit_waits import BY_ITSELF, WakeUps
from perpetualcc.sessions.settings import LimitSettings
from perpetualcc.store.database import Database
from perpetualcc.store.escalations import SqliteEscalations
from perpetualcc.store.ledger import SqliteLedger
from perpetualcc.store.limits import SqliteLimitWaits
from tests.fakes.clock import FakeClock


def task(name: str = "t-1", **more) -> Task:
    given = Task(
        id=TaskId(name), group="abc123", prompt="Go", priority=0, after=(), due=0.0,
        lane=Lane.INTERACTIVE, state=TaskState.RUNNING, attempts=1, max_attempts=3, fence=7,
        payload={}, signal=None, answer=None, result="", packet=None, created_at=0.0,
        updated_at=0.0,
    )  # fmt: skip
    return replace(given, **more)


def session(tmp_path, **options) -> Session:
    return Session(
        id=SessionId("abc123"), name="s", project=tmp_path, status=SessionStatus.PROCESSING,
        options=SessionOptions(**options), created_at=0.0, updated_at=0.0,
        current_task=TaskId("t-1"),
    )  # fmt: skip


class People:
    """Somebody who is asked: on the real table, too."""

    def __init__(self, database, clock) -> None:
        self.asked = []
        self.store = SqliteEscalations(database, clock, SqliteLedger(database, clock, "test"))

    async def escalate(self, request):
        self.asked.append(request)
        return (await self.store.add(request)).number


class Stage:
    """A keeper on a file, with a clock to move."""

    def __init__(self, database, tmp_path, **more) -> None:
        self.clock, self.events = FakeClock(), []
        self.people = People(database, self.clock)
        self.session = session(tmp_path)
        self.keeper = LimitKeeper(
            waits=SqliteLimitWaits(database),
            settings=LimitSettings(**{"stagger_seconds": 0.0, **more.pop("settings", {})}),
            auto_resume=more.pop("auto_resume", True),
            record=self.record,
            people=self.people,
            clock=self.clock,
            wake_ups=WakeUps(0.0),
            asked=self.people.store.get,
        )

    async def record(self, *events) -> None:
        self.events += events

    async def admit(self, of):
        return await self.keeper.admit(of, self.session)

    async def stopped(self, of=None, *, window=LimitWindow.FIVE_HOUR, ahead=600.0, **more):
        at = None if ahead is None else self.clock.now() + ahead
        limit = RateLimitInfo(window=window, resets_at=at, is_exact=True, model="opus")
        outcome = Later(due=0.0, counts=False, reason="a limit", limit=limit, **more)
        return await self.keeper.settle(of or task(), self.session, outcome)


@pytest.fixture
def play(tmp_path):
    """`play(scene, …)`: runs an async function with a stage."""

    def run(scene, **more):
        async def main():
            async with await Database.open(tmp_path / "pcc.db") as database:
                return await scene(Stage(database, tmp_path, **more))

        return asyncio.run(main())

    return run


@pytest.fixture
def utc(monkeypatch):
    """Quiet hours are local."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


def test_a_limit_becomes_a_wait_that_was_announced(play):
    async def scene(stage):
        wait = await stage.stopped()
        assert wait == Wait(signal="limit:t-1:7", due=stage.clock.now() + 601, reason="a limit")
        assert [type(event) for event in stage.events] == [LimitReached, ResumePlanned]
        assert stage.events[1].resumes_at == wait.due

    play(scene)


def test_nobody_starts_while_the_account_is_known_to_be_limited(play):
    async def scene(stage):
        first = await stage.stopped()
        other = task("t-2", group="def456")

        assert (await stage.admit(other)).due == first.due
        stage.clock.move(602)
        assert await stage.admit(other) is None

    play(scene)


@pytest.mark.parametrize(
    "wants", [{"auto_resume": False}, {"settings": {"ask_for_models": ("opus",)}}]
)
def test_who_had_not_begun_before_a_limit_asks_once_before_it_begins(play, wants):
    async def scene(stage):
        stage.keeper.model = "opus"
        limit = await stage.stopped()
        other = task("t-2", group="def456")

        held = await stage.admit(other)

        assert (limit.signal, held.signal, held.due) == ("escalation:1", "escalation:2", None)
        agreed = replace(other, signal=held.signal, answer={"text": "Go on"}, fence=8)
        assert (await stage.admit(agreed)).due == stage.clock.now() + 601
        stage.clock.move(602)
        assert await stage.admit(agreed) is None
        assert len(stage.people.asked) == 2
        declined = await stage.admit(replace(agreed, answer={"text": "Leave it"}))
        assert isinstance(declined, Parked)

    play(scene, **wants)


@pytest.mark.parametrize("window", [LimitWindow.RATE, LimitWindow.OVERLOAD, LimitWindow.MODEL])
def test_a_limit_of_one_session_holds_up_no_other(play, window):
    async def scene(stage):
        await stage.stopped(window=window)

        assert await stage.admit(task("t-2", group="def456")) is None

    play(scene)


def test_the_account_is_free_again_for_everybody_when_one_got_through(play):
    async def scene(stage):
        await stage.stopped()
        stage.keeper.begins(TaskId("t-3"))
        await stage.keeper.settle(task("t-3"), stage.session, Done(result=""))

        assert await stage.admit(task("t-2", group="def456")) is None

    play(scene)


@pytest.mark.parametrize(
    ("window", "settings", "own", "begins", "goes_on"),
    [
        (LimitWindow.SEVEN_DAY, {}, False, 1.0, 60.0),
        (LimitWindow.SEVEN_DAY, {}, True, 1.0, 60.0),
        # Its replies may be older than the limit, or there are none: checks proved it.
        (LimitWindow.SEVEN_DAY, {}, False, -1.0, None),
        (LimitWindow.SEVEN_DAY, {}, False, None, None),
        # Until 06:00: nothing resumes by itself before.
        (LimitWindow.SEVEN_DAY, {"quiet_hours": "05:00-06:00"}, False, 1.0, 3600.0),
        (LimitWindow.MODEL, {}, False, 1.0, None),
    ],
)
@pytest.mark.usefixtures("utc")
def test_those_who_wait_go_on_when_a_run_that_began_later_got_through(
    tmp_path, window, settings, own, begins, goes_on
):
    """
    A window may open early: the account was given more, and a person resumed one to try, or the
    only one (`own`) that had met the limit.
    """

    async def main():
        async with await Database.open(tmp_path / "pcc.db") as database:
            stage = Stage(database, tmp_path, settings=settings)
            stage.clock.move(5 * 3600 - stage.clock.now() % 86400)
            ledger = SqliteLedger(database, stage.clock, "me")
            for name in ("t-1", "t-2"):
                await ledger.add(NewTask(id=TaskId(name), group=name, prompt="Go"))
            limited, other = await ledger.claim({Lane.INTERACTIVE: 2}, 2)
            name = "t-1" if own else "t-3"
            through = task(name, signal=f"limit:{name}:7", answer={})  # a person resumed it
            if begins is not None and begins < 0:
                stage.keeper.begins(through.id)
                stage.clock.move(1)
            await ledger.settle(
                limited.id,
                limited.fence,
                await stage.stopped(limited, window=window, ahead=86400.0),
            )
            if held := await stage.admit(other):
                await ledger.settle(other.id, other.fence, held)
            if begins is not None and begins > 0:
                stage.clock.move(begins)
                stage.keeper.begins(through.id)
            started = stage.clock.now()

            stage.clock.move(59)
            await stage.keeper.settle(through, stage.session, Done(result=""))

            waits = ("t-2",) if own else ("t-1", "t-2")
            due = [(await ledger.get(TaskId(name))).due for name in waits]
            if goes_on is None:
                assert max(due) > started + 80000
            else:
                assert [round(at - started, -1) for at in due] == [goes_on] * len(waits)
                stage.clock.move(goes_on)
                for one in await ledger.claim({Lane.INTERACTIVE: 2}, 2):
                    assert await stage.admit(one) is None

    asyncio.run(main())


def test_a_crash_between_the_wait_and_its_settle_starts_no_run(play):
    async def scene(stage):
        wait = await stage.stopped()

        held = await stage.admit(task(fence=8))

        assert (held.due, held.reason) == (wait.due, "the 5-hour limit")

    play(scene)


def test_a_person_cuts_a_wait_short(play):
    async def scene(stage):
        wait = await stage.stopped()

        assert await stage.admit(task(signal=wait.signal, answer={})) is None

    play(scene)


@pytest.mark.parametrize(("own", "model"), [("", "sonnet"), ("opus", "opus")])
def test_a_session_runs_on_the_model_that_is_configured_now_unless_it_has_its_own(
    play, tmp_path, own, model
):
    async def scene(stage):
        stage.keeper.model = "sonnet"

        assert await stage.keeper.model_for(session(tmp_path, claude_model=own)) == model

    play(scene)


def test_what_was_woken_early_by_no_person_still_waits_for_the_account(play):
    async def scene(stage):
        await stage.stopped()

        woken = task("t-2", signal="limit:t-2:7", answer=BY_ITSELF)

        assert isinstance(await stage.admit(woken), Wait)

    play(scene)


def test_patience_grows_until_claude_gets_somewhere(play):
    async def scene(stage):
        waits = [(await stage.stopped(ahead=None)).due - stage.clock.now() for _ in range(3)]
        after = await stage.stopped(ahead=None, got_somewhere=True)
        assert waits == [60, 300, 900]
        assert after.due - stage.clock.now() == 60

    play(scene)


def test_a_person_is_asked_first_when_they_want_to_be(play):
    async def scene(stage):
        wait = await stage.stopped()
        assert (wait.signal, wait.due) == ("escalation:1", None)
        assert not [event for event in stage.events if isinstance(event, ResumePlanned)]
        # Agreed before the reset: it still waits for the reset. Declined: it is set aside.
        agreed = task(signal=wait.signal, answer={"approve": True})
        assert (await stage.admit(agreed)).due == stage.clock.now() + 601
        declined = await stage.admit(replace(agreed, answer={"approve": False}))
        assert isinstance(declined, Parked)
        assert declined.packet["declined"], "a person has said so: nobody is asked again"

    play(scene, auto_resume=False)


def test_whether_to_go_on_is_a_question_of_which_people_are_told(play):
    """A review sends nothing and reads "nothing happens", while the session waits for ever."""

    async def scene(stage):
        wait = await stage.stopped()
        [asked] = stage.people.asked
        assert (asked.type, asked.deadline) == (EscalationType.QUESTION, None)
        at = time.strftime("%Y-%m-%d %H:%M", time.localtime(stage.clock.now() + 601))
        assert at in asked.options[0]["description"]
        for said, goes_on in (("1", True), ("go on", True), ("2", False), ("leave it", False)):
            answer = checked(asked, {"text": said}, number=1)
            came_to = await stage.admit(task(signal=wait.signal, answer=answer))
            assert isinstance(came_to, Parked) is not goes_on, said
        with pytest.raises(AnswerError):
            checked(asked, {"text": "seen"}, number=1)

    play(scene, auto_resume=False)


@pytest.mark.parametrize(
    ("window", "ahead", "waits"),
    [(LimitWindow.OVERLOAD, None, 15), (LimitWindow.FIVE_HOUR, 600.0, 600 + 1 + 12 * 3600)],
)
def test_a_while_that_nobody_told_the_end_of_begins_again_when_the_clock_is_set_back(
    tmp_path, window, ahead, waits
):
    async def main():
        async with await Database.open(tmp_path / "pcc.db") as database:
            stage = Stage(database, tmp_path)
            ledger = SqliteLedger(database, stage.clock, "me")
            await ledger.add(NewTask(id=TaskId("t-1"), group="abc123", prompt="Go"))
            [claimed] = await ledger.claim({Lane.INTERACTIVE: 1}, 1)
            await ledger.settle(
                claimed.id, claimed.fence, await stage.stopped(claimed, window=window, ahead=ahead)
            )

            stage.clock.move(-12 * 3600)
            await stage.keeper.waits.set_back(stage.clock.now())

            [again] = await ledger.claim({Lane.INTERACTIVE: 1}, 1)
            assert (await stage.admit(again)).due - stage.clock.now() == waits

    asyncio.run(main())


def test_a_call_that_a_person_denies_after_a_limit_parks_nothing(play):
    async def scene(stage):
        await stage.stopped()
        stage.clock.move(602)
        call = EscalationRequest(
            session=stage.session.id, run=RunId("r-1"), task=TaskId("t-1"),
            request=RequestId("toolu_1"), type=EscalationType.PERMISSION, title="git push?",
        )  # fmt: skip
        number = await stage.people.escalate(call)
        denied = task(signal=f"escalation:{number}", answer={"approve": False})

        assert await stage.admit(denied) is None

    play(scene)


def test_a_crash_while_a_person_is_being_asked_never_goes_on_unasked(play):
    async def scene(stage):
        async def killed(_):
            raise SystemExit

        stage.people.escalate = killed
        with pytest.raises(SystemExit):
            await stage.stopped()

        stage.clock.move(602)
        assert await stage.keeper.waits.open_of(TaskId("t-1")) == []  # the limit is met again

    play(scene, auto_resume=False)


def test_a_question_about_a_limit_is_waited_for_after_a_crash_too(tmp_path):
    async def main():
        database, clock = await Database.open(tmp_path / "pcc.db"), FakeClock()
        try:
            store = SqliteEscalations(database, clock, SqliteLedger(database, clock, "test"))
            for name in ("toolu_1", "limit:t-1:7"):
                request = EscalationRequest(
                    session=SessionId("abc123"), run=RunId(""), task=TaskId("t-1"),
                    request=RequestId(name), type=EscalationType.REVIEW, title="?",
                )  # fmt: skip
                await store.add(request)

            held = await OpenQuestions(escalations=store, permissions=False).admit(task())

            assert held.signal == "escalation:2"
        finally:
            await database.close()

    asyncio.run(main())


def test_the_fallback_model_works_until_the_models_own_limit_resets(play):
    async def scene(stage):
        outcome = await stage.stopped(window=LimitWindow.MODEL)
        assert isinstance(outcome, Later)
        assert await stage.admit(task()) is None
        assert await stage.keeper.model_for(stage.session) == "sonnet"
        stage.clock.move(700)
        assert await stage.keeper.model_for(stage.session) == ""

    play(scene, settings={"fallback_model": "sonnet"})


def test_those_who_waited_together_take_turns():
    async def scene():
        turns = WakeUps(0.05)
        return await asyncio.gather(*(turns.take_turn() for _ in range(4)))

    waited = asyncio.run(scene())

    assert waited == sorted(waited)
    assert all(abs(one - n * 0.05) < 0.02 for n, one in enumerate(waited))
