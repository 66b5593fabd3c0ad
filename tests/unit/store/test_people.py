"""Requests to people and notifications as rows: what is kept, once, and in which order."""

import asyncio
import errno
import json
import os
import time
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from perpetualcc.cli.main import app
from perpetualcc.daemon.open_questions import OpenQuestions
from perpetualcc.domain.escalations import EscalationRequest, EscalationType
from perpetualcc.domain.events import SessionStatusChanged
from perpetualcc.domain.ids import RequestId, RunId, SessionId, TaskId
from perpetualcc.human.escalation import AnsweredAlreadyError, EscalationQueue, NothingWaitingError
from perpetualcc.human.notifications import senders
from perpetualcc.human.notifications.channels import Channel
from perpetualcc.human.notifications.courier import Courier, Equipment
from perpetualcc.human.notifications.message import compose
from perpetualcc.human.notifications.outbox import Kind, NewNotice, NoticeState
from perpetualcc.human.notifications.settings import NotificationSettings
from perpetualcc.human.reminders import take_steps
from perpetualcc.human.settings import HumanSettings, Unattended
from perpetualcc.store.database import Database
from perpetualcc.store.escalations import SqliteEscalations
from perpetualcc.store.events import EventLog
from perpetualcc.store.ledger import SqliteLedger
from perpetualcc.store.outbox import SqliteNews, SqliteOutbox
from tests.acceptance.receivers import Webhook
from tests.fakes.clock import FakeClock

ASKED = EscalationRequest(
    session=SessionId("s"),
    run=RunId("run-1"),
    task=TaskId("t"),
    request=RequestId("q-1"),
    type=EscalationType.QUESTION,
    title="Which one?",
    digest="which",
)


class Held:
    """`human.escalation.Runs`: what was handed to runs."""

    def __init__(self):
        self.answers = []

    def answered(self, escalation):
        self.answers.append((escalation.number, escalation.answer))


class World:
    """Everything about people on one file, with a clock of its own."""

    def __init__(self, database, clock, settings):
        self.database, self.clock, self.held = database, clock, Held()
        ledger = SqliteLedger(database, clock, owner="test")
        self.store = SqliteEscalations(database, clock, ledger)
        self.queue = EscalationQueue(self.store, self.held, settings, clock)
        self.outbox = SqliteOutbox(database, clock)
        self.events = EventLog(database, clock)

    async def kinds(self):
        return [recorded.event.kind for recorded in await self.events.tail(None, 500)]


@asynccontextmanager
async def world(path, settings=None):
    clock = FakeClock()
    async with await Database.open(path / "x.db") as database:
        yield World(database, clock, settings or HumanSettings())


def test_the_most_severe_come_first_then_the_oldest(tmp_path):
    async def play():
        async with world(tmp_path) as it:
            for place, kind in enumerate(["review", "question", "error", "permission", "question"]):
                request = replace(
                    ASKED, request=RequestId(f"q-{place}"), type=EscalationType(kind), digest=""
                )
                await it.queue.escalate(request)
            found = await it.queue.get_pending()
            assert [one.request.type.value for one in found] == [
                "error", "permission", "question", "question", "review",
            ]  # fmt: skip
            assert [one.number for one in found] == [3, 4, 2, 5, 1]
            assert await it.store.count(SessionId("s")) == 5
            assert await it.queue.get_pending(SessionId("other")) == []

    asyncio.run(play())


def test_the_same_request_of_a_later_run_is_the_same_while_it_waits(tmp_path):
    async def play():
        async with world(tmp_path) as it:
            first = await it.queue.escalate(ASKED)
            again = replace(ASKED, run=RunId("run-2"), request=RequestId("q-2"))
            assert (await it.queue.escalate(again)).number == first.number
            await it.queue.respond(first.number, {"text": "this"}, by="a")
            assert (await it.store.stored(ASKED.task, "which")).answer["text"] == "this"
            assert await it.store.use(first.number)
            assert not await it.store.use(first.number)
            assert await it.store.stored(ASKED.task, "which") is None
            assert (await it.queue.escalate(again)).number == first.number + 1
            assert await it.kinds() == [
                "EscalationRaised", "EscalationSettled", "QuestionAnswered", "EscalationRaised",
            ]  # fmt: skip

    asyncio.run(play())


@pytest.mark.parametrize("is_approved", [True, False])
def test_a_review_that_was_only_looked_at_answers_no_call_though_the_engine_dies(
    tmp_path, is_approved
):
    async def play():
        async with world(tmp_path) as it:
            review = await it.queue.escalate(replace(ASKED, type=EscalationType.REVIEW))

            # The first write of an answer, and the last where the engine is killed after it.
            await it.store.settle(review.number, {"approve": is_approved}, by="a")

            found = await it.store.stored(ASKED.task, "which")
            assert (found is not None) is is_approved

    asyncio.run(play())


@pytest.mark.parametrize(
    ("kind", "permissions", "waits"),
    [
        ("question", False, True),
        ("question", True, True),
        ("permission", False, False),
        ("permission", True, True),
        ("review", True, False),
        ("error", True, False),
    ],
)
def test_a_task_waits_for_what_it_has_asked_until_it_is_answered(
    tmp_path, kind, permissions, waits
):
    async def play():
        async with world(tmp_path) as it:
            gate = OpenQuestions(escalations=it.store, permissions=permissions)
            task = SimpleNamespace(id=ASKED.task, answer=None)
            assert await gate.admit(task) is None

            asked = await it.queue.escalate(replace(ASKED, type=EscalationType(kind)))
            second = await it.queue.escalate(
                replace(
                    ASKED, type=EscalationType(kind), request=RequestId("q-2"), digest="another"
                )
            )

            held = await gate.admit(task)
            assert (held.signal if held else None) == (
                f"escalation:{asked.number}" if waits else None
            )
            assert await gate.admit(SimpleNamespace(id="another task", answer=None)) is None
            await it.store.settle(asked.number, {"text": "this"}, by="a")
            held = await gate.admit(task)
            assert (held.signal if held else None) == (
                f"escalation:{second.number}" if waits else None
            )
            await it.store.settle(second.number, {"text": "that"}, by="a")
            assert await gate.admit(task) is None

    asyncio.run(play())


@pytest.mark.parametrize(
    ("request_", "answer", "recorded"),
    [
        pytest.param(
            ASKED, {"text": "this"}, [{"Which one?": "this"}], id="a question of Claude's"
        ),
        pytest.param(replace(ASKED, run=RunId("")), {"text": "this"}, [], id="a question of ours"),
        pytest.param(
            replace(ASKED, run=RunId(""), raw={"plan": {"parts": []}}),
            {"text": "Go ahead"},
            [{"Which one?": "Go ahead"}],
            id="a plan of Claude's",
        ),
        pytest.param(
            replace(ASKED, type=EscalationType.PERMISSION), {"approve": True}, [], id="a permission"
        ),
    ],
)
def test_what_a_person_answered_claude_is_on_record_with_the_answer(
    tmp_path, request_, answer, recorded
):
    async def play():
        async with world(tmp_path) as it:
            number = (await it.queue.escalate(request_)).number
            await it.queue.respond(number, answer, by="a")
            events = [one.event for one in await it.events.tail(None, 500)]
            found = [one for one in events if one.kind == "QuestionAnswered"]
            assert [one.answers for one in found] == recorded
            assert {(one.decided_by, one.run, one.confidence) for one in found} <= {
                ("person", request_.run, 1.0)
            }

    asyncio.run(play())


def test_of_many_who_answer_at_once_one_wins_and_the_others_are_told(tmp_path):
    async def play():
        async with world(tmp_path) as it:
            number = (await it.queue.escalate(ASKED)).number
            results = await asyncio.gather(
                *(it.queue.respond(number, {"text": f"{n}"}, by=f"p{n}") for n in range(10)),
                return_exceptions=True,
            )
            won = [one for one in results if not isinstance(one, Exception)]
            lost = [one for one in results if isinstance(one, AnsweredAlreadyError)]
            assert (len(won), len(lost)) == (1, 9)
            assert won[0].settled_by in lost[0].message
            assert len(it.held.answers) == 1
            with pytest.raises(NothingWaitingError):
                await it.queue.respond(999, {"text": "x"}, by="a")

    asyncio.run(play())


def test_nobody_reacts_so_people_are_told_again_and_a_permission_is_refused(tmp_path):
    async def play():
        settings = HumanSettings(
            unattended=Unattended.WAIT, permission_hours=10, remind_after=("1h", "4h")
        )
        async with world(tmp_path, settings) as it:
            question = await it.queue.escalate(ASKED)
            permission = replace(ASKED, request=RequestId("p"), type=EscalationType.PERMISSION)
            number = (await it.queue.escalate(permission)).number

            async def steps():
                await take_steps(it.store, it.queue.expire, settings.ladder, it.clock)

            assert await it.store.next_due() == it.clock.now() + 3600
            await steps()
            assert (await it.queue.get(question.number)).reminders == 0
            it.clock.move(3600)
            await steps()
            await steps()
            assert (await it.queue.get(question.number)).reminders == 1
            it.clock.move(10 * 3600)
            await steps()
            assert (await it.queue.get(question.number)).reminders == 2
            refused = await it.queue.get(number)
            assert refused.settled_by == "timeout"
            assert refused.answer["approve"] is False
            assert [one.number for one in await it.queue.get_pending()] == [question.number]

    asyncio.run(play())


def test_what_nobody_needs_to_answer_any_more_is_withdrawn_and_not_sent(tmp_path):
    async def play():
        async with world(tmp_path) as it:
            number = (await it.queue.escalate(ASKED)).number
            await it.outbox.put([notice("event:1", escalation=number)])
            gone = await it.store.withdraw(
                "over", session=ASKED.session, task=ASKED.task, types=["question"]
            )
            assert gone == [number]
            assert await it.queue.get_pending() == []
            with pytest.raises(AnsweredAlreadyError, match=r"was withdrawn at .*: over; your"):
                await it.queue.respond(number, {"text": "x"}, by="a")
            [one] = await it.outbox.list(10)
            assert one.state is NoticeState.MOOT
            assert await it.outbox.next_due() is None

    asyncio.run(play())


def notice(cause, channel="json:x", **more):
    return NewNotice(cause=cause, channel=channel, kind=Kind.QUESTION, title="T", body="B", **more)


def equipment(tmp_path, *channels, **settings):
    return Equipment(
        channels=channels,
        settings=NotificationSettings(**settings),
        receipts=tmp_path / "receipts",
    )


def test_a_reminder_holds_what_was_asked(tmp_path):
    questions = [{"question": "Which?", "options": [{"label": "A"}]}, {"question": "Who?"}]

    async def play():
        async with world(tmp_path) as it:
            asked = await it.queue.escalate(
                replace(
                    ASKED,
                    raw={"questions": questions},
                    options=({"label": "A"},),
                    context="why",
                    suggestion="A",
                    confidence=0.5,
                )
            )
            await it.store.remind(asked.number, None)

            raised, reminded = (one.event.data() for one in await it.events.tail(None, 500))
            told = ("title", "options", "context", "questions", "suggestion", "confidence")
            assert [reminded[name] for name in told] == [raised[name] for name in told]
            assert reminded["questions"] == questions

    asyncio.run(play())


def test_a_nights_reminders_arrive_as_one_message_a_channel(tmp_path):
    async def play():
        async with world(tmp_path) as it:
            for cause in ("event:1", "event:2", "event:3"):
                about = {"escalation": 7, "session": SessionId("s")}
                await it.outbox.put([notice(cause, "mail:x", **about), notice(cause, **about)])
            await it.outbox.put([notice("event:4", escalation=8)])

            assert [(one.what.cause, one.what.channel) for one in await it.outbox.due()] == [
                ("event:3", "mail:x"),
                ("event:3", "json:x"),
                ("event:4", "json:x"),
            ]

    asyncio.run(play())


def test_a_message_under_way_is_not_taken_back(tmp_path):
    async def play():
        async with world(tmp_path) as it:
            await it.outbox.put([notice("event:1", escalation=7)])
            [first] = await it.outbox.due()
            await it.outbox.begin(first.id, look_again=it.clock.now() + 60)
            await it.outbox.put([notice("event:2", escalation=7)])

            assert [one.state for one in await it.outbox.due()] == [
                NoticeState.SENDING,
                NoticeState.QUEUED,
            ]

    asyncio.run(play())


def test_a_limit_that_was_over_before_anybody_was_told_is_not_told(tmp_path):
    async def play():
        async with world(tmp_path) as it:
            limits = [
                replace(notice(f"event:{name}"), kind=Kind.LIMIT, session=SessionId(name))
                for name in ("on", "limited")
            ]
            await it.outbox.put(limits)
            await it.outbox.put([], goes_on=SessionId("on"))
            it.clock.move(3600)

            assert [one.what.cause for one in await it.outbox.due()] == ["event:limited"]
            assert [one.problem for one in await it.outbox.list(10)] == [
                "",
                "the limit was over before it left",
            ]

    asyncio.run(play())


async def _settled(it):
    await it.queue.respond(1, {"text": "this"}, by="a")


async def _withdrawn(it):
    asked = (EscalationType.QUESTION,)
    await it.store.withdraw("it is over", session=ASKED.session, task=None, types=asked)


async def _told_again(it):
    await it.outbox.put([replace(notice("event:2"), escalation=1)])


async def _goes_on(it):
    await it.outbox.put([], goes_on=SessionId("s"))


@pytest.mark.parametrize(
    ("happens", "why"),
    [
        (_settled, "it was settled before it left"),
        (_withdrawn, "it was settled before it left"),
        (_told_again, "a later message says it"),
        (_goes_on, "the limit was over before it left"),
    ],
)
@pytest.mark.parametrize("arrives", [True, False])
def test_what_became_moot_while_it_was_sent_is_not_tried_again(tmp_path, happens, why, arrives):
    async def play():
        async with world(tmp_path) as it:
            await it.queue.escalate(ASKED)
            kind = Kind.LIMIT if happens is _goes_on else Kind.QUESTION
            first = replace(notice("event:1"), kind=kind, session=SessionId("s"), escalation=1)
            await it.outbox.put([first])
            it.clock.move(3600)
            begun = await it.outbox.begin(1, look_again=it.clock.now() + 35)

            await happens(it)
            if arrives:
                await it.outbox.end(begun.id, NoticeState.SENT)
            else:
                await it.outbox.postpone(begun.id, it.clock.now() + 30, "no net")
            it.clock.move(3600)

            *_, found = await it.outbox.list(10)
            told = (found.state, found.due, found.problem)
            moot = (NoticeState.MOOT, None, why)
            assert told == ((NoticeState.SENT, None, "") if arrives else moot)
            assert found.id not in {one.id for one in await it.outbox.due()}

    asyncio.run(play())


def test_a_limit_of_the_account_is_one_message_that_names_all_who_wait(tmp_path):
    """Each session is stopped at its next request, and each says so."""

    def limited(session, channel):
        told = compose(
            SessionStatusChanged(session=session, before="PROCESSING", after="RATE_LIMITED"), None
        )
        title, body = told.brief
        return NewNotice(
            cause=f"event:{session}",
            channel=channel,
            kind=Kind.LIMIT,
            title=title,
            body=body,
            session=session,
        )

    async def sent(it):
        later = it.clock.now() + 60
        begun = [await it.outbox.begin(one.id, look_again=later) for one in await it.outbox.due()]
        return [(one.what.channel, one.what.title, one.what.body) for one in begun if one]

    async def play():
        async with world(tmp_path) as it:
            for session in map(SessionId, "abc"):
                await it.outbox.put([limited(session, "mail:x"), limited(session, "json:x")])
                it.clock.move(5)
            await it.outbox.put([], goes_on=SessionId("b"))
            await it.outbox.put([notice("event:question", "mail:x")])
            assert await sent(it) == [("mail:x", "T", "B")]
            it.clock.move(20)
            title, told = (
                "PerpetualCC: 2 sessions wait for a limit",
                (
                    "Session a waits for a limit; it goes on by itself.\n"
                    "Session c waits for a limit; it goes on by itself.\n"
                    "See: pcc list"
                ),
            )
            assert await sent(it) == [("mail:x", title, told), ("json:x", title, told)]
            assert [one.problem for one in await it.outbox.list(10)] == [
                *("", "told with #2", "told with #1"),
                *("the limit was over before it left",) * 2,
                *("", ""),
            ]

            (first, *_) = [one for one in await it.outbox.list(10) if one.what.body == told]
            await it.outbox.postpone(first.id, it.clock.now(), "no net")
            await it.outbox.put([limited(SessionId("d"), first.what.channel)])
            it.clock.move(30)
            [(_, title, told)] = await sent(it)
            assert title == "PerpetualCC: 3 sessions wait for a limit"
            assert [line.split()[1] for line in told.splitlines()] == ["a", "c", "d", "pcc"]

    asyncio.run(play())


async def until(holds, within=20.0):
    async with asyncio.timeout(within):
        while not await holds():  # noqa: ASYNC110  # a row, not an event of ours
            await asyncio.sleep(0.02)


@asynccontextmanager
async def working(courier):
    async with asyncio.TaskGroup() as group:
        group.create_task(courier.run())
        yield
        courier.stop()


def test_a_receiver_that_is_down_for_an_hour_gets_everything_once(tmp_path):
    async def play():
        webhook = Webhook()
        async with world(tmp_path) as it:
            await it.outbox.put([notice(f"event:{n}") for n in range(2)])
            await it.outbox.put([notice(f"event:{n}") for n in range(2)])
            channel = Channel(name="json:x", url=webhook.url)
            began = it.clock.now()
            courier = Courier(
                it.outbox, equipment(tmp_path, channel, retry_seconds=900.0), it.clock
            )
            async with working(courier):
                tries = 0
                while it.clock.now() - began < 3600:
                    tries += 1

                    async def failed(count=tries):
                        rows = await it.outbox.list(10)
                        return all(
                            one.attempts == count and one.state is NoticeState.QUEUED
                            for one in rows
                        )

                    await until(failed)
                    it.clock.move(900 + 1)
                    if it.clock.now() - began < 3600:
                        courier.wake()
                with webhook.listening():
                    courier.wake()
                    await until(lambda: sent(it))
            assert len(webhook.got) == 2
            assert tries == 4

    asyncio.run(play())


def test_a_sender_that_cannot_be_started_now_is_started_later(tmp_path, monkeypatch):
    start, tries = senders._start, []

    def short_of_memory(schemes):
        tries.append(schemes)
        if len(tries) == 1:
            raise OSError(errno.ENOMEM, "Cannot allocate memory")
        return start(schemes)

    async def tried():
        return tries

    async def play():
        webhook = Webhook()
        async with world(tmp_path) as it:
            await it.outbox.put([notice("event:1")])
            channel = Channel(name="json:x", url=webhook.url)
            courier = Courier(it.outbox, equipment(tmp_path, channel), it.clock)
            with webhook.listening():
                async with working(courier):
                    await until(tried)
                    courier.wake()
                    await until(lambda: sent(it))
        assert len(webhook.got) == 1

    monkeypatch.setattr(senders, "_start", short_of_memory)
    asyncio.run(play())


async def sent(it):
    return all(one.state is NoticeState.SENT for one in await it.outbox.list(10))


def test_a_channel_that_is_down_for_hours_is_told_by_the_commands_people_look_at(
    tmp_path, monkeypatch
):
    async def play():
        async with world(tmp_path) as it:
            it.clock.move(time.time() - 2 * 3600 - it.clock.now())
            await it.outbox.put([notice("event:1", channel="json:HOOK")])
            for _ in range(4):
                await it.outbox.begin(1, look_again=it.clock.now() + 35)
                await it.outbox.postpone(1, it.clock.now(), "no route to https://u:secret@host/")
                it.clock.move(1200)

    asyncio.run(play())
    (tmp_path / "x.db").rename(tmp_path / "perpetualcc.db")
    (tmp_path / "config.toml").write_text('[notifications]\nurls = ["env:HOOK"]\n')
    monkeypatch.setenv("HOOK", "json://127.0.0.1:1/")

    def said(*words):
        place = ["--config", str(tmp_path / "config.toml"), "--data-dir", str(tmp_path)]
        return CliRunner().invoke(app, [*place, *words]).stdout

    assert "Channel     json:HOOK has failed since" in said("daemon", "status")
    assert "(4 tries): no route to" in said("daemon", "status")
    assert "secret" not in said("daemon", "status")
    assert json.loads(said("daemon", "status", "--json"))["unreached"][0]["tries"] == 4
    (told,) = (one for one in said("doctor").splitlines() if "Notifications" in one)
    assert "json:HOOK has failed since" in told
    assert "pcc notify test" in told
    (tmp_path / "config.toml").write_text("")
    assert "Channel" not in said("daemon", "status")


def test_a_receipt_left_by_a_sender_of_a_dead_engine_counts(tmp_path):
    async def play():
        webhook = Webhook()
        async with world(tmp_path) as it:
            channel = Channel(name="json:x", url=webhook.url)
            await it.outbox.put([notice("event:1"), notice("event:2")])
            for one in (1, 2):
                await it.outbox.begin(one, look_again=it.clock.now() + 35)
            (tmp_path / "receipts").mkdir()
            (tmp_path / "receipts" / "1.1").write_text('{"problem": ""}')
            with webhook.listening():
                courier = Courier(it.outbox, equipment(tmp_path, channel), it.clock)
                async with working(courier):

                    async def first_is_sent():
                        rows = {one.id: one.state for one in await it.outbox.list(10)}
                        return rows == {1: NoticeState.SENT, 2: NoticeState.SENDING}

                    await until(first_is_sent)
                    assert webhook.got == []
                    it.clock.move(36)  # no receipt will come for the second any more

                    async def second_failed():
                        rows = {one.id: one.state for one in await it.outbox.list(10)}
                        return rows[2] is NoticeState.QUEUED

                    await until(second_failed)
                    it.clock.move(31)
                    courier.wake()
                    await until(lambda: sent(it))
            assert len(webhook.got) == 1

    asyncio.run(play())


@pytest.mark.parametrize("damage", [b"", b"\xff", b"[" * 50_000, None])
@pytest.mark.timeout(20)
def test_a_receipt_that_cannot_be_read_holds_nobody_up_and_is_sent_again(tmp_path, damage):
    async def play():
        webhook = Webhook()
        async with world(tmp_path) as it:
            channel = Channel(name="json:x", url=webhook.url)
            await it.outbox.put([notice("event:1")])
            await it.outbox.begin(1, look_again=it.clock.now() + 35)
            receipt = tmp_path / "receipts" / "1.1"
            receipt.parent.mkdir()
            os.mkfifo(receipt) if damage is None else receipt.write_bytes(damage)
            it.clock.move(36)
            with webhook.listening():
                courier = Courier(it.outbox, equipment(tmp_path, channel), it.clock)
                async with working(courier):

                    async def is_over():
                        (row,) = await it.outbox.list(10)
                        it.clock.move(36)
                        courier.wake()
                        return row.state is NoticeState.SENT

                    await until(is_over)
            assert len(webhook.got) == 1

    asyncio.run(play())


def test_what_was_taken_is_not_sent_again_when_its_receipt_has_no_room(tmp_path):
    async def play():
        webhook = Webhook()
        async with world(tmp_path) as it:
            channel = Channel(name="json:x", url=webhook.url)
            courier = Courier(it.outbox, equipment(tmp_path, channel), it.clock)
            with webhook.listening():
                async with working(courier):
                    await until(lambda: exists(tmp_path / "receipts"))
                    (tmp_path / "receipts").rmdir()
                    await it.outbox.put([notice("event:1")])
                    courier.wake()
                    await until(lambda: sent(it))
            assert len(webhook.got) == 1

    async def exists(path):
        return path.is_dir()

    asyncio.run(play())


def test_a_channel_that_was_taken_away_holds_nobody_up(tmp_path):
    async def play():
        webhook = Webhook()
        async with world(tmp_path) as it:
            await it.outbox.put([notice("event:1", channel="json:gone"), notice("event:2")])
            await it.outbox.begin(1, look_again=it.clock.now() + 35)
            it.clock.move(36)
            channel = Channel(name="json:x", url=webhook.url)
            courier = Courier(it.outbox, equipment(tmp_path, channel), it.clock)
            with webhook.listening():
                async with working(courier):

                    async def settled():
                        rows = {one.id: one.state for one in await it.outbox.list(10)}
                        return rows == {1: NoticeState.FAILED, 2: NoticeState.SENT}

                    await until(settled)
            assert len(webhook.got) == 1

    asyncio.run(play())


def test_what_cannot_be_written_down_is_sent_once_and_not_in_quiet_hours(tmp_path):
    async def play():
        webhook = Webhook()
        async with world(tmp_path) as it:
            channel = Channel(name="json:x", url=webhook.url)
            quiet = equipment(tmp_path, channel, quiet_hours="00:00-23:59")
            with webhook.listening():
                for given in (quiet, equipment(tmp_path, channel)):
                    courier = Courier(it.outbox, given, it.clock)
                    await courier.send_unrecorded([notice("disk full")])
            assert [one["title"] for one in webhook.got] == ["T"]
            assert await it.outbox.list(10) == []

    asyncio.run(play())


async def first_of(news, count):
    """The numbers of so many events that are told next."""
    async with aclosing(news.follow({"EscalationRaised"})) as told:
        return [(await anext(told)).seq for _ in range(count)]


def test_the_log_is_read_on_from_where_it_was_written_down(tmp_path):
    async def play():
        async with world(tmp_path) as it:
            news = SqliteNews(it.database, it.events)
            for place in range(3):
                await it.queue.escalate(replace(ASKED, request=RequestId(f"{place}"), digest=""))
            assert await first_of(news, 3) == [1, 2, 3]
            await it.outbox.put([], seen=2)
            await it.queue.escalate(replace(ASKED, request=RequestId("next"), digest=""))
            assert await first_of(news, 2) == [3, 4]
            assert await news.is_ahead({"EscalationRaised"})
            assert not await news.is_ahead({"TaskSettled"})
            await it.outbox.put([], seen=4)
            assert not await news.is_ahead({"EscalationRaised"})

    asyncio.run(play())


DAY = 86_400.0


@pytest.mark.parametrize("set_by", [-DAY, -3600.0, -365 * DAY])
def test_a_clock_that_was_set_back_delays_no_reminder_and_no_deadline(tmp_path, set_by):
    settings = HumanSettings(unattended=Unattended.WAIT)
    longest = max(settings.ladder).total_seconds()

    async def play():
        async with world(tmp_path, settings) as it:
            permission = replace(ASKED, type=EscalationType.PERMISSION)
            asked = await it.queue.escalate(permission)
            it.clock.move(set_by)

            await it.store.set_back(it.clock.now(), longest)

            found, now = await it.store.get(asked.number), it.clock.now()
            assert found.raised_at == now
            patience = settings.permission_patience.total_seconds()
            assert found.request.deadline == pytest.approx(now + patience)
            first = min(settings.ladder).total_seconds()
            assert await it.store.next_due() == pytest.approx(now + min(first, patience))

    asyncio.run(play())


def test_a_clock_that_was_a_year_ahead_silences_no_reminder(tmp_path):
    settings = HumanSettings()
    longest = max(settings.ladder).total_seconds()

    async def play():
        async with world(tmp_path, settings) as it:
            await it.queue.escalate(ASKED)
            it.clock.move(365 * DAY)
            await take_steps(it.store, it.queue.expire, settings.ladder, it.clock)
            it.clock.move(-365 * DAY)

            await it.store.set_back(it.clock.now(), longest)

            assert await it.store.next_due() == it.clock.now() + longest

    asyncio.run(play())


@pytest.mark.parametrize("set_by", [-60.0, -DAY, -365 * DAY])
@pytest.mark.parametrize("is_lost", [True, False])
def test_a_message_that_waits_for_its_next_try_is_tried_when_the_clock_was_set_back(
    tmp_path, set_by, is_lost
):
    async def play():
        async with world(tmp_path) as it:
            notice = NewNotice(cause="event:1", channel="c", kind=Kind.QUESTION, title="", body="")
            await it.outbox.put([notice])
            it.clock.move(1)
            [one] = await it.outbox.due()
            await it.outbox.begin(one.id, look_again=it.clock.now() + 35)
            if not is_lost:
                await it.outbox.postpone(one.id, it.clock.now() + 900, "nobody answers")
            it.clock.move(set_by)

            await it.outbox.set_back(it.clock.now())

            [found] = await it.outbox.due()
            assert found.due == found.started_at == it.clock.now()

    asyncio.run(play())


def test_a_message_that_waits_for_the_end_of_the_quiet_goes_on_waiting(tmp_path):
    async def play():
        async with world(tmp_path) as it:
            notice = NewNotice(cause="event:1", channel="c", kind=Kind.QUESTION, title="", body="")
            await it.outbox.put([notice])
            it.clock.move(1)
            [one] = await it.outbox.due()
            await it.outbox.postpone(one.id, it.clock.now() + 8 * 3600)

            await it.outbox.set_back(it.clock.now())

            assert await it.outbox.due() == []

    asyncio.run(play())


def test_what_waited_for_an_address_that_was_corrected_leaves_through_the_new_one(tmp_path):
    async def play():
        webhook = Webhook()
        async with world(tmp_path) as it:
            waiting = [notice("event:1", channel=name) for name in ("mail:typo", "json:old")]
            on_this_machine = notice("event:2", channel="desktop")
            test = replace(notice("test:1", channel="mail:typo"), kind=Kind.TEST)
            await it.outbox.put([*waiting, on_this_machine, test])
            channels = [Channel(name=name, url=webhook.url) for name in ("json:old", "json:new")]
            courier = Courier(it.outbox, equipment(tmp_path, *channels), it.clock)

            async def ended():
                return all(one.due is None for one in await it.outbox.list(10))

            with webhook.listening():
                async with working(courier):
                    await until(ended)
            rows = await it.outbox.list(10)

        assert {(one.what.cause, one.what.channel, one.state) for one in rows} == {
            ("event:1", "mail:typo", NoticeState.FAILED),
            ("event:1", "json:old", NoticeState.SENT),
            ("event:1", "json:new", NoticeState.SENT),
            ("event:2", "desktop", NoticeState.FAILED),
            ("test:1", "mail:typo", NoticeState.FAILED),
        }
        assert len(webhook.got) == 2

    asyncio.run(play())
