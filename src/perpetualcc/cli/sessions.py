"""`pcc list | status | add | pause | resume | stop`."""

import shlex
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from perpetualcc.cli import completion
from perpetualcc.cli.connection import connect
from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.later import (
    AtOption,
    ChecksOption,
    EveryOption,
    MissedOption,
    PlanOption,
    UnattendedOption,
    WhenOption,
    YesOption,
    begins_in_words,
    said_alike,
)
from perpetualcc.cli.look import fit, hung, print_json, table, tell
from perpetualcc.cli.options import JsonOption, LookedAtArgument, session_argument
from perpetualcc.cli.session_page import decision_lines, page, row, row_colour
from perpetualcc.cli.statuses import STATUSES, is_scheduled, parse_status
from perpetualcc.cli.takeover import take_over, tell_what_is_not_taken_over
from perpetualcc.cli.which_session import the_session
from perpetualcc.domain.folders import canonical
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.texts import counted, first_few
from perpetualcc.domain.times import moment

app = typer.Typer(rich_markup_mode=None)


_NEWEST = 20
"""Sessions that are listed though they are over."""
_MOST = 500
"""Sessions that are looked at."""
_S = SessionStatus
_LEFT = (_S.IDLE, _S.PROCESSING, _S.WAITING_INPUT, _S.RATE_LIMITED, _S.PAUSED, _S.ERROR)
"""What sessions are that are not over."""
_AT_WORK = (_S.IDLE, _S.PROCESSING, _S.WAITING_INPUT, _S.RATE_LIMITED)
_HELD_UP = (_S.IDLE, _S.RATE_LIMITED, _S.PAUSED, _S.ERROR)
_OPEN = ("queued", "running", "waiting")
_STANDS = {"PAUSED": "is paused", "ERROR": "has stopped"}


@app.command("list")
def list_sessions(
    ctx: typer.Context,
    status: Annotated[
        str | None,
        typer.Option(
            help="running, scheduled, paused, completed, error, …",
            autocompletion=completion.one_of(*STATUSES),
        ),
    ] = None,
    project: Annotated[Path | None, typer.Option(help="Only sessions in this folder")] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=f"So many at most, and what is not over [default: {_NEWEST}]",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """
    List sessions: what is alive, then what stopped working, then what is over; newest first.

    Example: pcc list --status running
    """
    wanted = None if status is None else parse_status(status).value
    with connect(ctx.obj) as daemon:
        sessions = daemon.call(
            "session.list",
            status=wanted,
            project=None if project is None else str(canonical(project)),
            limit=max(limit or 0, _MOST),
        )
    if status is not None and status.lower() == "scheduled":
        sessions = [one for one in sessions if is_scheduled(one)]
    found, sessions = sessions, _newest(sessions, limit or _NEWEST)
    if limit is None and (hidden := len(found) - len(sessions)):
        told = f"{counted(hidden, 'older session')} not shown"
        tell(f"note: {told}; to see more: pcc list --limit {len(found)}")
    if as_json:
        print_json(sessions)
    elif not sessions and (status or project):
        print("No such session. See all of them with: pcc list")
    elif not sessions:
        print('No sessions yet. Start one with: pcc start ./project --task "…"')
    else:
        headers = ["ID", "Name", "Status", "Current Task", "Context Tokens"]
        colours = [row_colour(session) for session in sessions]
        is_placed = len({session["project"] for session in sessions}) > 1
        rows = [row(session, is_placed=is_placed) for session in sessions]
        print(table(headers, rows, colours=colours))


def _newest(sessions: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """The first so many, and whatever is not over."""
    more = (one for one in sessions[most:] if one["status"] not in {"COMPLETED", "STOPPED"})
    return [*sessions[:most], *more]


@app.command()
def status(
    ctx: typer.Context,
    session: LookedAtArgument = None,
    show_history: Annotated[
        bool, typer.Option("--show-history", help="Show recent event history")
    ] = False,
    show_decisions: Annotated[
        bool, typer.Option("--show-decisions", help="Show the decisions made")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """
    Show one session in detail.

    Example: pcc status abc123 --show-decisions
    """
    with connect(ctx.obj) as daemon:
        found = daemon.call("session.get", session=the_session(daemon, session, "pcc status"))
        history = daemon.call("events.tail", session=found["id"], count=30) if show_history else []
        decisions = daemon.call("decision.list", session=found["id"]) if show_decisions else []
        answers = daemon.call("answer.list", session=found["id"]) if show_decisions else []
        said = daemon.call("word.list", session=found["id"]) if show_decisions else []
    if as_json:
        extra = {"history": history} if show_history else {}
        if show_decisions:
            extra |= {"decisions": decisions, "answers": answers, "said": said}
        print_json({**found, **extra})
        return
    print("\n".join(map(hung, page(found))))
    if show_history:
        from perpetualcc.cli.telling import Telling

        telling = Telling(project=found["project"])
        lines = [hung(f"  {line}") for event in history for line in telling.lines(event)]
        print("\nHistory:", *(lines or ["  nothing is on record any more"]), sep="\n")
    if show_decisions:
        lines = [hung(f"  {line}") for line in decision_lines(found, decisions, answers, said)]
        print("\nDecisions:", *(lines or ["  none yet"]), sep="\n")


@app.command()
def add(  # noqa: PLR0917  # one parameter an option
    ctx: typer.Context,
    session: Annotated[str, session_argument(*_LEFT, _S.COMPLETED)],
    task: Annotated[str, typer.Argument(metavar="TASK", help="What to do")],
    priority: Annotated[int, typer.Option(help="Higher is sooner")] = 0,
    after: Annotated[
        list[str] | None,
        typer.Option(
            help="Run after this task: its number in pcc status, or how its id or text begins;"
            " repeatable",
            autocompletion=completion.tasks,
        ),
    ] = None,
    unattended: UnattendedOption = False,
    at: AtOption = None,
    every: EveryOption = None,
    missed: MissedOption = None,
    when: WhenOption = None,
    check: ChecksOption = None,
    plan: PlanOption = False,
    yes: YesOption = False,
) -> None:
    """
    Add a task to a session's queue.

    Example: pcc add abc123 "Deploy to staging" --priority 10
    """
    if not task.strip():
        again = f'pcc add {shlex.quote(session)} "…"'
        raise Mistyped("The task is empty", hint=f"Say what to do: {again}")
    begins = said_alike(
        at=at, every=every, missed=missed, when=when, checks=check, plan=plan, yes=yes
    )
    from perpetualcc.cli.budget import of_one_unattended  # `pcc list` does without

    with connect(ctx.obj, is_work=True) as daemon:
        added = daemon.call(
            "task.add",
            session=session,
            prompt=task,
            priority=priority,
            after=after or [],
            unattended=unattended,
            **begins,
        )
        found = daemon.call("session.get", session=session)
        budgets = daemon.call("budget.show")["budgets"] if added["due"] or unattended else ()
    at = begins_in_words(added["due"], added.get("when")) + (", planned first" if plan else "")
    print(f"Added {added['id']}{at}: {fit(added['prompt'], 60)}")
    if budgets and (note := of_one_unattended(budgets)):
        tell(f"note: {note}")
    if found["status"] in _STANDS:
        stands = f"The session {_STANDS[found['status']]}, and this task with it"
        tell(f"note: {stands}; go on with: pcc resume {found['id']}")


@app.command()
def pause(
    ctx: typer.Context,
    session: Annotated[
        str | None, session_argument(*_AT_WORK, or_else="the only one at work")
    ] = None,
) -> None:
    """
    Pause a session after its current operation.

    Example: pcc pause abc123
    """
    with connect(ctx.obj) as daemon:
        meant = the_session(daemon, session, "pcc pause", *_AT_WORK)
        before = daemon.call("session.get", session=meant)
        paused = daemon.call("session.pause", session=before["id"])
    who = f"{paused['name']} ({paused['id']})"
    told = f"{who} is paused already" if before["status"] == _S.PAUSED else f"Paused {who}"
    print(f"{told}. Go on with: pcc resume {paused['id']}")


@app.command()
def resume(
    ctx: typer.Context,
    session: Annotated[
        str | None, session_argument(*_HELD_UP, or_else="the only one that is held up")
    ] = None,
) -> None:
    """
    Resume a paused session, try again what failed, or begin what was for later.

    Example: pcc resume abc123
    """
    from perpetualcc.cli.budget import used_up  # `pcc list` does without

    take_over(ctx.obj)
    with connect(ctx.obj, is_work=True) as daemon:
        tell_what_is_not_taken_over(ctx.obj)
        meant = the_session(daemon, session, "pcc resume", *_HELD_UP)
        resumed = daemon.call("session.resume", session=meant)
        waits = used_up(daemon.call("budget.show")["budgets"])
    who, at = f"{resumed['name']} ({resumed['id']})", resumed["resumes_at"]
    if resumed["status"] == _S.IDLE and at is not None and at > time.time():
        begins = begins_in_words(at, None)
        print(f"Resumed {who}{begins}. Begin it now with: pcc resume {resumed['id']}")
    else:
        print(f"Resumed {who}. Watch it with: pcc attach {resumed['id']}")
    if resumed["status"] == SessionStatus.WAITING_INPUT:
        tell(f"note: Still waiting: {resumed['detail']}")
    elif waits:
        tell(f"note: {waits}")


@app.command()
def stop(
    ctx: typer.Context,
    session: Annotated[str, session_argument(*_LEFT)],
    task: Annotated[
        str | None,
        typer.Argument(
            metavar="TASK",
            help="Only this task: its number in pcc status, or how its id or text begins",
            autocompletion=completion.tasks,
        ),
    ] = None,
) -> None:
    """
    Stop a session for good: its tasks are cancelled, its files stay. Or only one of its tasks.

    What comes after that task, or is left of its plan, is left out, too. What repeats ends with the
    time that is next.

    Example: pcc stop abc123
    """
    with connect(ctx.obj) as daemon:
        if task is not None:
            given_up = daemon.call("task.stop", session=session, task=task)
            print(f"Stopped {given_up['id']}: {fit(given_up['prompt'], 60)}")
            if parts := given_up["parts"]:
                print(f"Left out, as it belongs to the plan of that: {first_few(parts)}")
            if left_out := given_up["left_out"]:
                print(f"Left out, as it comes after that: {first_few(left_out)}")
            return
        found = daemon.call("session.get", session=session)
        is_over = found["status"] not in _LEFT
        if not is_over:
            daemon.call("session.stop", session=found["id"])
    who = f"{found['name']} ({found['id']})"
    ended = f"{found['status'].lower()} already, {moment(found['updated_at'])}"
    left = [fit(one["prompt"], 40) for one in found["tasks"] if one["state"] in _OPEN]
    told = f"; left undone: {first_few(left)}" if left else ""
    print(f"{who} was {ended}" if is_over else f"Stopped {who}{told}")
