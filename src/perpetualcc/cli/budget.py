"""`pcc budget`: what may be spent, what was, and how to change it."""

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import typer

from perpetualcc.cli import completion
from perpetualcc.cli.connection import connect
from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.look import print_json, table, tell
from perpetualcc.cli.options import JsonOption
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.times import moment
from perpetualcc.human.answers import NUMBER

app = typer.Typer(
    help="Show and change what may be spent.",
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
)


@app.callback()
def show(
    ctx: typer.Context,
    as_json: JsonOption = False,
) -> None:
    """
    Show every budget and what of it is used today.

    Example: pcc budget
    """
    if ctx.invoked_subcommand is not None:
        return
    with connect(ctx.obj) as daemon:
        found = daemon.call("budget.show")
    if as_json:
        print_json(found)
        return
    columns = ["Budget", "Of what", "Allowed", "Used", "Share"]
    print(table(columns, [_row(one) for one in found["budgets"]]))
    today = found["today"]
    print(f"Today: {today['tokens']:,} fresh tokens, ${today['usd']:.2f}")
    if windows := found.get("windows"):
        print(f"Subscription: {'; '.join(map(_window, windows))}")


_OF_WHAT = {
    "tokens_per_day": "all work, a day",
    "unattended_tokens_per_day": "unattended work, a day",
    "usd_per_day": "all work, a day",
    "task_tokens": "one unattended task",
    "task_minutes": "one unattended task",
    "run_tokens": "one run of Claude Code",
    "run_usd": "one run of Claude Code",
    "weekly_share": "left to you by unattended work",
}


_WINDOWS = {
    "five_hour": "5-hour window",
    "seven_day": "week",
    "overage": "paid credits",
    "overage_included": "week of single models",
}


def _window(one: Mapping[str, Any]) -> str:
    kind = one["window"].removeprefix("seven_day_")
    name = _WINDOWS.get(kind) or f"week of {kind.replace('_', ' ').capitalize()}"
    return f"{name} {one['used']:.0%} used, resets {moment(one['resets_at'])}"


_OF_ALL = ("tokens_per_day", "usd_per_day")
"""What every session waits for."""


def used_up(budgets: Iterable[Mapping[str, Any]]) -> str:
    """What a person should know who wants something done now; empty: there is money for it."""
    told = (nothing_left(one) for one in budgets if one["name"] in _OF_ALL)
    return next(filter(None, told), "")


def nothing_left(one: Mapping[str, Any], week_resets: float | None = None) -> str:
    """
    What waits for a budget that is used up, and until when; empty: something is left of it.

    `week_resets`: UTC epoch seconds, where it is known.
    """
    name, allowed, used = one["name"], one["allowed"], one["used"]
    is_week = name == "weekly_share"  # what is set is left to the person; the rest may be used
    most = 1 - allowed if is_week else allowed
    if not allowed or used is None or used < most:
        return ""
    who = "Work" if name in _OF_ALL else "Unattended work"
    day = "for midnight"
    week = f"until the week resets, {moment(week_resets)}" if week_resets else "for the next week"
    return (
        f"The budget {name} is used up: {_amount(used)} of {_amount(most)}. {who} waits"
        f" {week if is_week else day}, or until you change it: pcc budget set {name} …"
    )


def of_one_unattended(budgets: Iterable[Mapping[str, Any]]) -> str:
    """What one task may use when nobody waits for it; empty: as much as it likes."""
    allowed = {one["name"]: one["allowed"] for one in budgets}
    units = {"task_minutes": "minutes", "task_tokens": "fresh tokens"}
    parts = [f"{_amount(allowed[name])} {unit}" for name, unit in units.items() if allowed[name]]
    if not parts:
        return ""
    most, more = " and ".join(parts), "more with: pcc budget set task_minutes …"
    return f"Nobody waits for it: after {most} a task is parked for you; {more}"


_TIMES = {"": 1.0, "k": 1e3, "m": 1e6}


def _number(typed: str) -> float:
    """Raises Mistyped for what is no number."""
    found = re.fullmatch(rf"([-+]?{NUMBER}(?:e\d+)?)\s*([km]?)", typed.strip().lower())
    if found is None:
        raise Mistyped(f"{typed!r} is no number", hint="Such as 500000, 500k, 2M or 2.50")
    return float(re.sub(r"[,_ ]", "", found[1])) * _TIMES[found[2]]


def _amount(number: float) -> str:
    """Whole from a million on, where `g` would write `1e+09`."""
    return f"{number:,g}" if number < 1e6 else f"{number:,.0f}"


def _limit(name: str, allowed: float) -> str:
    return "no limit" if not allowed and name != "weekly_share" else _amount(allowed)


def _row(one: dict[str, Any]) -> list[str]:
    allowed, used = one["allowed"], one["used"]
    is_left = one["name"] == "weekly_share"  # to the person: the rest may be used
    share = f"{used / (1 - allowed if is_left else allowed):.0%}" if used is not None else ""
    decimals = 2 if is_left or "usd" in one["name"] else 0
    return [
        one["name"],
        _OF_WHAT.get(one["name"], ""),
        _limit(one["name"], allowed),
        "" if used is None else f"{used:,.{decimals}f}",
        share,
    ]


# A negative number is a value that makes no sense, not an option.
@app.command("set", context_settings={"ignore_unknown_options": True})
def set_budget(
    ctx: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="BUDGET",
            help="A name that `pcc budget` shows",
            autocompletion=completion.budgets,
        ),
    ],
    value: Annotated[
        str, typer.Argument(metavar="NUMBER", help="Such as 500000, 500k or 2M; 0: no limit")
    ],
) -> None:
    """
    Change a budget. It counts at once; what waited for it goes on.

    Example: pcc budget set unattended_tokens_per_day 2000000
    """
    from perpetualcc.sessions.budget import BudgetLimits, with_limit

    number = _number(value)
    try:
        with_limit(BudgetLimits(), name, number)
    except PerpetualError as slip:
        raise Mistyped(slip.message, hint=slip.hint) from None
    with connect(ctx.obj) as daemon:
        changed = daemon.call("budget.set", name=name, value=number)
        found = daemon.call("budget.show")
    print(f"{name} = {_limit(name, changed['allowed'])}")
    resets = {one["window"]: one["resets_at"] for one in found.get("windows", [])}
    for one in found["budgets"]:
        if one["name"] == name and (told := nothing_left(one, resets.get("seven_day"))):
            tell(f"note: {told}")
