"""What people type for an amount."""

import time
from contextlib import nullcontext
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from perpetualcc.cli import budget
from perpetualcc.cli.budget import _OF_WHAT, _number, _row, of_one_unattended, used_up
from perpetualcc.cli.ending import Mistyped
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.times import moment
from perpetualcc.sessions.budget import BudgetLimits


@pytest.mark.parametrize(
    ("typed", "number"),
    [("0", 0), ("500000", 5e5), ("500k", 5e5), ("2M", 2e6), ("1.5m", 1.5e6), ("2,000,000", 2e6),
     ("1_000", 1000), ("-4", -4), ("0.25", 0.25), ("1e6", 1e6)],
)  # fmt: skip
def test_an_amount_is_read_as_people_write_it(typed, number):
    assert _number(typed) == number


@pytest.mark.parametrize(
    "typed", ["", "lots", "nan", "inf", "2G", "1.2.3", "k", "1,5", "2,50", "1,0000", "1,000,5"]
)
def test_what_is_no_amount_is_refused(typed):
    with pytest.raises(PerpetualError, match="is no number") as refused:
        _number(typed)

    assert isinstance(refused.value, Mistyped), "code 2, as of any word that is not known"


@pytest.mark.parametrize(
    ("name", "allowed", "used", "said"),
    [
        ("tokens_per_day", 9000, 9052, "tokens_per_day is used up: 9,052 of 9,000"),
        ("usd_per_day", 2.5, 2.5, "usd_per_day is used up: 2.5 of 2.5"),
        ("tokens_per_day", 9000, 8999, ""),
        ("tokens_per_day", 0, 5, ""),
        ("unattended_tokens_per_day", 10, 20, ""),
        ("task_tokens", 10, None, ""),
    ],
)
def test_who_wants_something_done_is_told_of_a_budget_that_everything_waits_for(
    name, allowed, used, said
):
    found = used_up([{"name": name, "allowed": allowed, "used": used}])

    assert said in found
    assert bool(found) == bool(said)


WEEK = time.time() + 3 * 86400


@pytest.mark.parametrize(
    ("name", "allowed", "used", "told"),
    [
        ("tokens_per_day", 1000, 4200, "4,200 of 1,000. Work waits for midnight, or until you"),
        ("unattended_tokens_per_day", 10, 20, "20 of 10. Unattended work waits for midnight"),
        (
            "weekly_share",
            0.3,
            0.75,
            f"0.75 of 0.7. Unattended work waits until the week resets, {moment(WEEK)}",
        ),
        ("tokens_per_day", 5000, 4200, ""),
        ("tokens_per_day", 0, 4200, ""),
        ("weekly_share", 0.2, 0.75, ""),
        ("task_tokens", 10, None, ""),
    ],
)
def test_a_budget_that_is_set_below_what_is_used_says_what_waits_and_until_when(
    monkeypatch, name, allowed, used, told
):
    answers = {
        "budget.set": {"name": name, "allowed": allowed},
        "budget.show": {
            "budgets": [{"name": name, "allowed": allowed, "used": used}],
            "windows": [{"window": "seven_day", "used": 0.75, "resets_at": WEEK}],
        },
    }
    daemon = SimpleNamespace(call=lambda method, **_: answers[method])
    monkeypatch.setattr(budget, "connect", lambda _: nullcontext(daemon))

    done = CliRunner().invoke(budget.app, ["set", name, str(allowed)])

    assert done.stdout.startswith(f"{name} = ")
    assert told in done.stderr
    assert bool(done.stderr) == bool(told)


@pytest.mark.parametrize(
    ("minutes", "tokens", "said"),
    [
        (30, 100_000, "after 30 minutes and 100,000 fresh tokens a task is parked"),
        (0, 5, "after 5 fresh tokens a task"),
        (0, 0, ""),
    ],
)
def test_who_leaves_work_for_later_is_told_what_it_may_use(minutes, tokens, said):
    budgets = [
        {"name": "task_minutes", "allowed": minutes, "used": None},
        {"name": "task_tokens", "allowed": tokens, "used": None},
    ]

    found = of_one_unattended(budgets)

    assert said in found
    assert bool(found) == bool(said)


@pytest.mark.parametrize(
    ("name", "allowed", "used", "row"),
    [
        ("tokens_per_day", 9000, 4500, ["9,000", "4,500", "50%"]),
        ("usd_per_day", 2.5, 1.25, ["2.5", "1.25", "50%"]),
        # What is set is left to the person; the rest may be used.
        ("weekly_share", 0.3, 0.35, ["0.3", "0.35", "50%"]),
        ("task_tokens", 100, None, ["100", "", ""]),
        ("usd_per_day", 0.0, None, ["no limit", "", ""]),
        ("weekly_share", 0.0, None, ["0", "", ""]),
    ],
)
def test_a_row_says_what_may_be_used_what_was_and_which_share_that_is(name, allowed, used, row):
    assert _row({"name": name, "allowed": allowed, "used": used})[2:] == row


NOTHING_SPENT = {"budgets": [], "today": {"tokens": 0, "usd": 0.0}}


def shown(monkeypatch: pytest.MonkeyPatch, found: dict[str, Any], *flags: str) -> str:
    daemon = SimpleNamespace(call=lambda _: found)
    monkeypatch.setattr(budget, "connect", lambda _: nullcontext(daemon))
    done = CliRunner().invoke(budget.app, [*flags])
    assert done.exit_code == 0, done.exception
    return done.stdout


def test_what_is_used_of_the_subscription_s_windows_is_shown(monkeypatch):
    soon = time.time() + 600
    windows = [
        {"window": "five_hour", "used": 0.2149, "resets_at": soon},
        {"window": "seven_day", "used": 0.61, "resets_at": soon + 3 * 86400},
        {"window": "seven_day_opus", "used": 1.02, "resets_at": soon},
    ]

    last = shown(monkeypatch, {**NOTHING_SPENT, "windows": windows}).splitlines()[-1]

    assert last == (
        f"Subscription: 5-hour window 21% used, resets {moment(soon)};"
        f" week 61% used, resets {moment(soon + 3 * 86400)};"
        f" week of Opus 102% used, resets {moment(soon)}"
    )


@pytest.mark.parametrize("found", [NOTHING_SPENT, {**NOTHING_SPENT, "windows": []}])
def test_an_api_key_has_no_windows_to_show(monkeypatch, found):
    assert shown(monkeypatch, found).endswith("Today: 0 fresh tokens, $0.00\n")


def test_each_budget_says_what_it_bounds():
    assert list(_OF_WHAT) == [one.name for one in fields(BudgetLimits)]
