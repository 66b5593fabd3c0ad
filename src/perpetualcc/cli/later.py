"""What `pcc start` and `pcc add` say alike: when a task begins, its plan, and its proof."""

from typing import Annotated, Any

import typer

from perpetualcc.cli import completion
from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.look import fit, moment
from perpetualcc.domain.errors import PerpetualError

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

    Raises Mistyped for what is no time, or none ahead, and for what is no rule.
    """
    if yes and not plan:
        raise Mistyped("--yes is about a plan", hint="Say --plan --yes")
    if missed is not None and every is None:
        raise Mistyped("--missed is about what repeats", hint='Say when: --every "weekday at 2am"')
    try:
        due = _due_of(at)
        _check_rule(every, missed)
    except PerpetualError as slip:
        raise Mistyped(slip.message, hint=slip.hint) from None
    planned = ("alone" if yes else "ask") if plan else None
    return {
        "due": due, "every": every, "missed": missed, "when": when, "checks": checks,
        "plan": planned,
    }  # fmt: skip


def _due_of(at: str | None) -> float | None:
    """UTC epoch seconds."""
    if at is None:
        return None
    from perpetualcc.config.clock import wall_clock
    from perpetualcc.deferred.when import parse_when

    return parse_when(at, wall_clock().now())


def _check_rule(every: str | None, missed: str | None) -> None:
    if every is None:
        return
    from perpetualcc.deferred.repeat import ONCE, Repeated

    Repeated(every, missed or ONCE).check()


def begins_in_words(due: float | None, condition: str | None) -> str:
    """What follows the name of something that begins later; empty: it begins now."""
    if condition:
        return f", begins when it succeeds: {fit(condition, 60)}"
    return f", begins {moment(due)}" if due else ""
