"""What a checkpoint says of a session, and who says it. On the real tables."""

import asyncio
import json
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from perpetualcc.daemon.checkpoints import CheckpointKeeper
from perpetualcc.domain.clock import SystemClock
from perpetualcc.domain.decisions import DecidedBy, Decision, Verdict
from perpetualcc.domain.events import QuestionAnswered, RunStarted, TextSaid
from perpetualcc.domain.ids import RequestId, RunId, SessionId, TaskId
from perpetualcc.domain.sessions import Run, SessionOptions
from perpetualcc.domain.tasks import Done, Lane, NewTask
from perpetualcc.domain.tools import Risk
from perpetualcc.sessions.checkpoint import CheckpointManager
from perpetualcc.store.claims import SqliteClaims
from perpetualcc.store.database import Database
from perpetualcc.store.decisions import DecisionJournal
from perpetualcc.store.events import EventLog
from perpetualcc.store.ledger import SqliteLedger
from perpetualcc.store.runs import RunStore
from perpetualcc.store.sessions import SessionStore
from tests.fakes.clock import FakeClock
from tests.unit.daemon.test_limits import session, task

IDS = {"session": SessionId("abc123"), "run": RunId("r-1"), "task": TaskId("t-1")}


async def no_brain(_session, _text):
    return ""


async def never_outgrown(_task):
    return ""


@asynccontextmanager
async def keeping(tmp_path, summarize=no_brain, outgrown=never_outgrown):
    """A keeper and its event log, on a file."""
    database, clock = await Database.open(tmp_path / "pcc.db"), FakeClock()
    try:
        events = EventLog(database, clock)
        yield (
            CheckpointKeeper(
                manager=CheckpointManager(tmp_path, clock, retention=timedelta(days=7)),
                events=events,
                decisions=DecisionJournal(database, clock),
                ledger=SqliteLedger(database, clock, "test"),
                patience=0.05,
                claims=SqliteClaims(database),
                summarize=summarize,
                outgrown=outgrown,
            ),
            events,
        )
    finally:
        await database.close()


@pytest.fixture
def save(tmp_path):
    """`save(summarize, reason)`: a checkpoint of a session that said seven things."""

    def run(summarize, reason="the 5-hour limit"):
        async def main():
            async with keeping(tmp_path, summarize=summarize) as (keeper, events):
                said = [TextSaid(**IDS, text=f"Step {n}") for n in range(7)]
                await events.append([RunStarted(**IDS, claude_session="c", resumed=False), *said])
                return await keeper.save(session(tmp_path / "project"), task(), reason)

        return asyncio.run(main())

    return run


LAST_WORDS = "\n".join(f"Step {n}" for n in range(2, 7))


def test_a_brain_that_answers_in_time_sums_it_up(save):
    heard = []

    async def brain(_session, text):
        heard.append(text)
        return "Six of seven steps are done."

    assert save(brain).conversation_summary == "Six of seven steps are done."
    assert heard[0].splitlines()[0] == "Step 0"


def test_a_brain_that_is_slow_or_has_nothing_to_say_leaves_claudes_last_words(save):
    async def slow(_session, _text):
        await asyncio.sleep(5)
        return "Too late"

    async def silent(_session, _text):
        return ""

    assert save(slow).conversation_summary == LAST_WORDS
    assert save(silent).conversation_summary == LAST_WORDS


def test_an_engine_on_its_way_out_asks_no_brain(save):
    async def never(_session, _text):
        raise AssertionError("it was asked")

    assert save(never, "stopped").conversation_summary == LAST_WORDS


CART = "Fix this bug in the shop:\nThe cart shows the wrong total"
LOGIN = "Fix this bug in the shop:\nThe login page is blank"


@pytest.mark.parametrize("is_old", [False, True])
def test_a_task_is_never_told_the_words_of_another_that_begins_alike(tmp_path, is_old):
    async def main():
        here = session(tmp_path)
        async with keeping(tmp_path) as (keeper, events):
            told = {"session": here.id, "run": RunId("r"), "task": TaskId("t-1")}
            await events.append(
                [
                    TextSaid(**told, text="The cart adds twice."),
                    QuestionAnswered(
                        **told, request="q", answers={"Round the cart?": "no"}, reason="",
                        decided_by="person", confidence=1.0,
                    ),
                ]
            )  # fmt: skip
            await keeper.save(here, task("t-1", prompt=CART), "the 5-hour limit")
            if is_old:  # a version that did not write down whose it was
                [path] = (tmp_path / "checkpoints" / here.id).glob("*.json")
                path.write_text(json.dumps({**json.loads(path.read_text()), "task_id": ""}))

            other = await keeper.recall(here, task("t-2", prompt=LOGIN))
            assert "login page" in other.prompt
            assert "cart" not in other.prompt

    asyncio.run(main())


def test_a_task_keeps_its_words_to_the_letter_when_its_conversation_is_lost(tmp_path):
    prompt = "Set the test user's password=swordfish-1234-abcd in the fixtures"

    async def main():
        async with keeping(tmp_path) as (keeper, _):
            saved = await keeper.save(session(tmp_path), task(prompt=prompt), "a pause")
            known = await keeper.recall(session(tmp_path), task(prompt=prompt))

        assert prompt not in saved.current_task
        assert prompt in known.prompt

    asyncio.run(main())


def test_a_tasks_list_and_files_are_its_own(tmp_path):
    """Not those that an earlier task of the session left."""

    async def main():
        async with keeping(tmp_path) as (keeper, _):
            database = keeper.decisions._database
            runs, sessions = RunStore(database), SessionStore(database, SystemClock())
            here = await sessions.create(name="s", project=tmp_path, options=SessionOptions())
            for n, item in enumerate(("Mend the cart", "Draw the login page")):
                of = {"session": here.id, "task": TaskId(f"t-{n}")}
                run = Run(**of, id=RunId(f"r-{n}"), claude_session="c", fence=1, started_at=n)
                await runs.begin(run)
                todo = {"todos": [{"content": item, "status": "in_progress"}]}
                for tool, given in (("TodoWrite", todo), ("Write", {"file_path": f"{n}.py"})):
                    note = keeper.decisions.writing(
                        Decision(
                            request=RequestId(f"{tool}-{n}"), run=run.id, verdict=Verdict.ALLOW,
                            risk=Risk.LOW, confidence=1.0, reason="",
                            decided_by=DecidedBy.POLICY,
                        ),
                        session=here.id, tool=tool, tool_input=given,
                    )  # fmt: skip
                    await database.write(note)
            return [await keeper.save(here, task(f"t-{n}"), "stopped") for n in (0, 1, 2)]

    cart, login, fresh = asyncio.run(main())

    assert (cart.pending_subtasks, cart.next_action) == (("Mend the cart",), "Mend the cart")
    assert login.pending_subtasks == ("Draw the login page",)
    assert [mark.path for mark in login.modified_files] == ["1.py"]
    assert (fresh.pending_subtasks, fresh.modified_files) == ((), ())


def test_a_session_of_thousands_of_tasks_has_a_checkpoint_that_fits_into_a_conversation(tmp_path):
    words = "Mend it:\n" + "and all of this " * 500

    async def main():
        async with keeping(tmp_path) as (keeper, _):
            here, ledger = session(tmp_path), keeper.ledger
            for n in range(120):
                await ledger.add(
                    NewTask(id=TaskId(f"t-{n}"), group=here.id, prompt=f"{n}: {words}")
                )
            for _ in range(60):
                [one] = await ledger.claim({Lane.INTERACTIVE: 1}, limit=1)
                await ledger.settle(one.id, one.fence, Done(result="yes"))
            now = task("t-60", prompt=f"60: {words}")
            await keeper.save(here, now, "a pause")
            return (await keeper.recall(here, now)).prompt

    prompt = asyncio.run(main())

    assert words in prompt
    assert "- 59: Mend it:" in prompt
    assert "- 61: Mend it:" in prompt
    assert len(prompt) < 2 * len(words) + 5_000


def test_a_run_is_told_that_the_one_before_was_ended_for_its_memory(tmp_path):
    async def outgrown(_task):
        return "The run held 20.0 GB of memory"

    async def main():
        async with keeping(tmp_path, outgrown=outgrown) as (keeper, _):
            return await keeper.recall(session(tmp_path / "project"), task())

    known = asyncio.run(main())

    assert known.changes.startswith("You were ended because")
    assert "held 20.0 GB" in known.changes
    assert known.prompt.endswith(known.changes)
