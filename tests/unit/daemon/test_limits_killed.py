"""`kill -9` between any two writes, where a person is asked before work goes on after a limit."""

import asyncio
from dataclasses import dataclass, field
from itertools import count

import pytest

from perpetualcc.daemon.limits import LimitKeeper
from perpetualcc.daemon.open_questions import OpenQuestions
from perpetualcc.domain.ids import TaskId
from perpetualcc.domain.limits import LimitWindow, RateLimitInfo
from perpetualcc.domain.tasks import Done, Lane, Later, NewTask, TaskState
from perpetualcc.sessions.limit_waits import WakeUps
from perpetualcc.sessions.settings import LimitSettings
from perpetualcc.store.database import Database
from perpetualcc.store.escalations import SqliteEscalations
from perpetualcc.store.events import EventLog
from perpetualcc.store.ledger import SqliteLedger
from perpetualcc.store.limits import SqliteLimitWaits
from tests.fakes.clock import FakeClock
from tests.unit.daemon.test_limits import session

HOURS = 3600.0
TASK = TaskId("t-1")


class Killed(BaseException):
    """Nothing after this is executed."""


@dataclass
class World:
    """What no kill changes: the clock, the account with its limit, and what people do."""

    says: str
    at_once: bool
    """The answer is there before the task begins to wait for it."""
    clock: FakeClock = field(default_factory=FakeClock)
    is_open: bool = False
    answered: bool = False
    turned_away: int = 0
    """Runs that met the limit after a person had answered."""

    def __post_init__(self) -> None:
        self.resets_at = self.clock.now() + HOURS

    def run(self) -> Done | Later:
        self.is_open |= self.clock.now() >= self.resets_at  # its own clock never goes back
        if self.is_open:
            return Done(result="")
        self.turned_away += self.answered
        window = LimitWindow.FIVE_HOUR
        limit = RateLimitInfo(window=window, resets_at=self.resets_at, is_exact=True)
        return Later(due=0.0, counts=False, reason="a limit", limit=limit)


class Engine:
    """What deals with limits, on the file."""

    def __init__(self, database, tmp_path, world: World) -> None:
        clock = world.clock
        self.database, self.world, self.session = database, world, session(tmp_path)
        self.ledger = SqliteLedger(database, clock, owner=str(id(self)))
        self.store = SqliteEscalations(database, clock, self.ledger)
        self.questions = OpenQuestions(escalations=self.store, permissions=False)
        events = EventLog(database, clock)
        self.keeper = LimitKeeper(
            waits=SqliteLimitWaits(database), settings=LimitSettings(stagger_seconds=0.0),
            auto_resume=False, record=lambda *these: events.append(these), people=self,
            clock=clock, wake_ups=WakeUps(0.0), asked=self.store.get,
        )  # fmt: skip

    def dies_at(self, number: int) -> None:
        """Its write of this number is its first that does not happen."""
        write, left = self.database.write, count(number - 1, -1)

        async def dying(work, **options):
            if next(left) <= 0:
                raise Killed
            return await write(work, **options)

        self.database.write = dying

    async def escalate(self, request) -> int:
        asked = await self.store.add(request)
        if self.world.at_once:
            await self._answer(asked.number)
        return asked.number

    async def _answer(self, number: int) -> None:
        await self.store.settle(number, {"text": self.world.says}, by="cli")
        self.world.answered = True

    async def live(self) -> None:
        """From the start to the end of the task, whatever is on file already."""
        await self.ledger.recover()
        await self.keeper.waits.set_back(self.world.clock.now())
        await self.ledger.add(NewTask(id=TASK, group=self.session.id, prompt="Go"))
        while not (await self.ledger.get(TASK)).state.is_final:
            for task in await self.ledger.claim({Lane.INTERACTIVE: 1}, 1):
                await self.ledger.settle(task.id, task.fence, await self._advance(task))
            for asked in await self.store.pending():
                await self._answer(asked.number)
            if due := await self.ledger.next_due():
                self.world.clock.move(max(0.0, due - self.world.clock.now()))

    async def _advance(self, task):
        held = await self.questions.admit(task) or await self.keeper.admit(task, self.session)
        return held or await self.keeper.settle(task, self.session, self.world.run())


@pytest.mark.parametrize("leap", [0.0, 12 * HOURS, -12 * HOURS])
@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize(
    ("says", "ends"), [("Go on", TaskState.DONE), ("Leave it", TaskState.PARKED)]
)
def test_a_person_is_asked_once_and_heard_whenever_the_engine_dies(
    tmp_path, says, ends, at_once, leap
):
    """`leap`: how far the clock is set forward or back before the next engine starts."""

    async def play(number: int) -> bool:
        """Whether the first engine came to its write of this number, and died there."""
        world = World(says=says, at_once=at_once)
        database = await Database.open(tmp_path / f"{number}.db")
        try:
            first = Engine(database, tmp_path, world)
            first.dies_at(number)
            await first.live()
        except Killed:
            database.write = Database.write.__get__(database)
            was_asked = bool(await first.store.pending()) or world.answered
            world.clock.move(leap)
            second = Engine(database, tmp_path, world)
            await second.live()
            asked = await EventLog(database, world.clock).tail(None, 9, kinds=["EscalationRaised"])
            # Of a limit that is over before anybody was asked about it nobody is asked.
            assert len(asked) == 1 or (not was_asked and world.is_open and not asked)
            assert (await second.ledger.get(TASK)).state is (ends if asked else TaskState.DONE)
            assert world.turned_away == 0
            return True
        else:
            return False
        finally:
            await database.close()

    async def main() -> None:
        number = 1
        while await play(number):
            number += 1
        assert number > 5

    asyncio.run(main())
