"""What Claude proposes is read with care, and becomes tasks."""

import pytest

from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.tasks import Lane
from perpetualcc.goals.plans import MOST_PARTS, followed, lines_of, plan_from
from perpetualcc.store.plans import SqlitePlans
from tests.fakes.tables import on_tables
from tests.unit.daemon.test_limits import task

WALLS = {"title": " The\nwalls ", "prompt": "Build the walls", "checks": [" make walls "]}
ROOF = {"title": "The roof", "prompt": "The roof, of tiles", "after": [1, 1]}
GOAL = task(payload={"plan": "ask", "checks": ["make"], "every": "day"}, priority=3, lane=Lane.CRON)


@pytest.mark.parametrize(
    ("tasks", "why"),
    [
        (None, "a list of one task or more"),
        ("Build it", "a list of one task or more"),
        ([], "a list of one task or more"),
        ([WALLS] * (MOST_PARTS + 1), "30 tasks at most"),
        (["Build it"], "Task 1 is no object"),
        ([{"title": "x"}], "Task 1 has no prompt"),
        ([{"title": 3, "prompt": "x"}], "Task 1 has no title"),
        ([{"title": " ", "prompt": "x"}], "Task 1 has no title"),
        ([{"title": "x" * 101, "prompt": "x"}], "The title of task 1 has 101 characters"),
        ([WALLS, {**ROOF, "after": [2]}], "Task 2 comes after"),
        ([WALLS, {**ROOF, "after": [0]}], "Task 2 comes after"),
        ([WALLS, {**ROOF, "after": [True]}], "Task 2 comes after"),
        ([WALLS, {**ROOF, "after": "1"}], "Task 2 comes after"),
        ([{**WALLS, "checks": "make"}], "a list of up to 5 checks"),
        ([{**WALLS, "checks": ["make"] * 6}], "a list of up to 5 checks"),
        ([{**WALLS, "checks": [" "]}], "no command of one line"),
        ([{**WALLS, "checks": ["make\nrm x"]}], "no command of one line"),
        ([{**WALLS, "checks": ["make\0"]}], "no command of one line"),
        ([{**WALLS, "checks": [{"run": "make"}]}], "no command of one line"),
    ],
)
def test_what_could_not_be_followed_is_no_plan(tasks, why):
    with pytest.raises(PerpetualError, match=why) as raised:
        plan_from(tasks)
    assert raised.value.hint, "Claude is told what to do"


def test_a_plan_is_told_in_lines():
    assert lines_of(plan_from([WALLS, ROOF])) == [
        "1. The walls", "   check: make walls", "2. The roof (after 1)",
    ]  # fmt: skip


def test_its_tasks_come_before_the_goal_and_before_what_was_queued_beside_it():
    outcome = followed(plan_from([WALLS, ROOF]), GOAL)

    walls, roof = outcome.first
    assert walls.prompt == "The walls\n\nBuild the walls"
    assert roof.prompt == "The roof, of tiles", "it says its title itself"
    assert roof.after == (walls.id,)
    assert {one.priority for one in outcome.first} == {4}
    assert {one.lane for one in outcome.first} == {Lane.CRON}
    assert {one.group for one in outcome.first} == {GOAL.group}
    assert walls.payload == {"goal": GOAL.prompt, "checks": ["make walls"]}
    assert roof.payload == {"goal": GOAL.prompt}, "it repeats nothing by itself"
    assert outcome.payload == {"plan": "made", "checks": ["make"], "every": "day"}


def test_a_plan_is_kept_without_secrets_and_read_as_it_is_however_long_that_makes_it(tmp_path):
    secret = "ghp_" + "a1B2" * 9
    told = plan_from([{**WALLS, "prompt": f"Use {secret}".ljust(8_000, ".")}])

    async def scene(database):
        from perpetualcc.domain.clock import SystemClock
        from perpetualcc.domain.tasks import NewTask
        from perpetualcc.store.ledger import SqliteLedger

        ledger = SqliteLedger(database, SystemClock(), owner="one")
        await ledger.add(NewTask(id=GOAL.id, group="g", prompt="Build it"))
        plans = SqlitePlans(database)
        await plans.put(GOAL.id, told)
        kept = await plans.get(GOAL.id)
        await plans.drop(GOAL.id)
        return kept, await plans.get(GOAL.id)

    kept, gone = on_tables(tmp_path, scene)
    assert gone is None
    assert secret not in kept.parts[0].prompt
    assert kept.checks == ("make walls",)
    assert not kept.is_agreed
