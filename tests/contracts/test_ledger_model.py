"""Whatever is done in whatever order: the SQLite ledger and the plain one in memory agree."""

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.ids import TaskId
from perpetualcc.domain.tasks import (
    Again,
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
from tests.contracts.ledgers import World

NAMES = st.sampled_from([f"t{n}" for n in range(6)])
GROUPS = st.sampled_from("gh")
SIGNALS = st.sampled_from(["s1", "s2"])
TIMES = st.integers(-2, 5).map(lambda n: 1_800_000_000.0 + 10 * n)
OUTCOMES = st.one_of(
    st.builds(Again, prompt=st.just("on")),
    st.builds(Later, due=TIMES, counts=st.booleans(), keeps_answer=st.booleans()),
    st.builds(Wait, signal=SIGNALS, due=st.none() | TIMES),
    st.builds(Done, result=st.just("r")),
    st.builds(Failed, result=st.just("r")),
    st.builds(Parked, result=st.just("r")),
)


class Ledgers(RuleBasedStateMachine):
    """The same calls on both, by one of two engines."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.worlds: list[World] = []

    @initialize()
    def open(self) -> None:
        path = Path(self.folder.name)
        self.worlds = [World("memory", path), World("sqlite", path)]
        self.engines = [[w.engine(owner) for w in self.worlds] for owner in ("one", "two")]
        self.running: list[tuple[str, int]] = []
        self.planned = 0

    def both(self, method, *args, engine: int = 0, **options):
        told = []
        for ledger in self.engines[engine]:
            try:
                told.append(getattr(ledger, method)(*args, **options))
            except PerpetualError as error:
                told.append(type(error))
        memory, sqlite = told
        assert _bare(memory) == _bare(sqlite), f"{method}{args}"
        return memory

    @rule(
        name=NAMES,
        group=GROUPS,
        after=st.sets(NAMES, max_size=2),
        due=TIMES,
        priority=st.integers(0, 2),
        lane=st.sampled_from([Lane.INTERACTIVE, Lane.CRON]),
    )
    def add(self, name, group, after, **options):
        self.both("new", name, group=group, after=tuple(sorted(after)), max_attempts=2, **options)

    @rule(engine=st.integers(0, 1), room=st.integers(1, 2), limit=st.integers(1, 3))
    def claim(self, engine, room, limit):
        free = {Lane.INTERACTIVE: room, Lane.CRON: 1}
        claimed = self.both("claim", free, limit, engine=engine)
        self.running += [(task.id, task.fence) for task in claimed]

    @rule(data=st.data(), outcome=OUTCOMES)
    def settle(self, data, outcome):
        if self.running:
            task, fence = data.draw(st.sampled_from(self.running))
            self.both("settle", task, fence, outcome)

    @rule(data=st.data(), count=st.integers(1, 3), priority=st.integers(0, 2))
    def put_behind(self, data, count, priority):
        if self.running:
            task, fence = data.draw(st.sampled_from(self.running))
            group = self.both("get", task).group
            first: list[NewTask] = []
            for _ in range(count):
                self.planned += 1
                after = tuple(one.id for one in first[-1:])
                first.append(
                    NewTask(
                        id=TaskId(f"p{self.planned}"),
                        group=group,
                        prompt="part",
                        priority=priority,
                        after=after,
                    )
                )
            outcome = Behind(first=tuple(first), payload={"plan": "made"})
            self.both("settle", task, fence, outcome)

    @rule(name=SIGNALS, payload=st.integers())
    def signal(self, name, payload):
        self.both("signal", name, {"n": payload})

    @rule(name=NAMES, method=st.sampled_from(["cancel", "requeue"]))
    def of_a_person(self, name, method):
        self.both(method, name)

    @rule(group=GROUPS, method=st.sampled_from(["hold", "release"]))
    def of_a_group(self, group, method):
        self.both(method, group)

    @rule(engine=st.integers(0, 1), halted=st.booleans())
    def recover(self, engine, halted):
        self.both("recover", engine=engine, halted=halted)

    @rule(seconds=st.integers(-30, 60))
    def the_clock_jumps(self, seconds):
        for world in self.worlds:
            world.clock.move(seconds)

    @invariant()
    def they_agree(self):
        if self.worlds:
            self.both("list")
            self.both("next_due")

    @invariant()
    def a_group_has_one_task_at_work(self):
        if self.worlds:
            at_work = self.both("list", states=[TaskState.RUNNING, TaskState.WAITING])
            groups = [task.group for task in at_work]
            assert len(groups) == len(set(groups))

    def teardown(self) -> None:
        for world in self.worlds:
            world.close()
        self.folder.cleanup()


def _bare(told):
    """Without the words for people, which each ledger chooses."""
    match told:
        case list():
            return [_bare(task) for task in told]
        case bool() | float() | None | type() | TaskState():
            return told
        case task:
            return {
                name: getattr(task, name)
                for name in type(task).__slots__
                if name not in {"result", "packet", "after"}
            } | {"after": set(task.after), "packet": task.packet is None}


Ledgers.TestCase.settings = settings(
    max_examples=25,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestLedgersAgree = Ledgers.TestCase
