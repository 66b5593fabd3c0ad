"""What `pcc start` and `pcc add` say alike: when a task begins, its plan, and its proof."""

from pathlib import Path
from typing import Annotated, Any

import typer

from perpetualcc.cli import completion
from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.look import fit
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.times import moment

UnattendedOption = Annotated[
    bool,
    typer.Option("--unattended", help="For a quiet hour, with the budgets of unattended work"),
]
AtOption = Annotated[
    str | None,
    typer.Option(
        "--at",
        metavar="WHEN",
        help='Begin then, unattended: 23:00, "tomorrow at 9am", "friday 18:30", "in 2 hours"',
    ),
]
EveryOption = Annotated[
    str | None,
    typer.Option(
        "--every",
        metavar="WHEN",
        help='Again and again, unattended: "weekday at 2am", "6 hours", "0 2 * * 1-5"',
    ),
]
MissedOption = Annotated[
    str | None,
    typer.Option(
        "--missed",
        metavar="HOW",
        help="What passed of --every is made up for: once, all, skip, or up to so late: 2h"
        " [default: once]",
        autocompletion=completion.one_of("once", "all", "skip"),
    ),
]

WhenOption = Annotated[
    str | None,
    typer.Option(
        "--when",
        metavar="COMMAND",
        help='Begin, unattended, when this succeeds: "ls inbox/*.md"; looked at every minute,'
        " or at the times of --every",
    ),
]
ChecksOption = Annotated[
    list[str] | None,
    typer.Option(
        "--check",
        metavar="COMMAND",
        help='Proves a task done: "make test" must succeed, or Claude goes on; repeatable',
    ),
]


PlanOption = Annotated[
    bool,
    typer.Option(
        "--plan",
        help="Claude cuts it into tasks first, changing nothing; begun when you agree",
    ),
]
YesOption = Annotated[
    bool,
    typer.Option("--yes", help="With --plan: do not ask, unless its checks are more than LOW"),
]


def said_alike(
    *,
    at: str | None,
    every: str | None,
    missed: str | None,
    when: str | None,
    checks: list[str] | None,
    plan: bool,
    yes: bool,
) -> dict[str, Any]:
    """
    The parameters that `session.start` and `task.add` share.

    Raises Mistyped for what is no time, or none ahead, no rule, no command, or said twice.
    """
    if yes and not plan:
        raise Mistyped("--yes is about a plan", hint="Say --plan --yes")
    said: dict[str, Any] = {
        "due": None, "every": every, "missed": missed, "when": when, "checks": checks,
        "plan": ("alone" if yes else "ask") if plan else None,
    }  # fmt: skip
    if (at, every, missed, when, checks) == (None,) * 5:
        return said
    from perpetualcc.config.clock import wall_clock
    from perpetualcc.daemon.beginnings import beginning_of
    from perpetualcc.deferred.when import parse_when

    now = wall_clock().now()
    try:
        said["due"] = None if at is None else parse_when(at, now)
        beginning_of({**said, "unattended": False}, now)  # what the engine would refuse
    except PerpetualError as slip:
        raise Mistyped(slip.message, hint=slip.hint) from None
    return said


def refuse_other_plans(
    said: dict[str, Any], *, is_perpetual: bool, requirements: Path | None
) -> None:
    """Raises Mistyped for --plan beside what is planned otherwise."""
    from perpetualcc.daemon.beginnings import check_plannable

    try:
        check_plannable(said, is_perpetual=is_perpetual, requirements=requirements)
    except PerpetualError as slip:
        raise Mistyped(slip.message, hint=slip.hint) from None


def begins_in_words(due: float | None, condition: str | None) -> str:
    """What follows the name of something that begins later; empty: it begins now."""
    if condition:
        return f", begins when it succeeds: {fit(condition, 60)}"
    return f", begins {moment(due)}" if due else ""
