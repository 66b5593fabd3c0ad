"""`pcc list | status | add | pause | resume | stop`."""

import sys
import textwrap
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from perpetualcc.cli import completion
from perpetualcc.cli.budget import used_up
from perpetualcc.cli.connection import connect, tell_what_is_not_taken_over
from perpetualcc.cli.later import (
    AtOption,
    ChecksOption,
    EveryOption,
    MissedOption,
    PlanOption,
    WhenOption,
    YesOption,
    begins_in_words,
    said_alike,
)
from perpetualcc.cli.look import (
    clock,
    coloured,
    fit,
    moment,
    panel,
    print_json,
    printable,
    table,
    thousands,
)
from perpetualcc.cli.options import JsonOption
from perpetualcc.cli.statuses import SHOWN, STATUSES, goes_on, parse_status
from perpetualcc.domain.clock import elapsed
from perpetualcc.domain.folders import canonical
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.texts import counted

app = typer.Typer(rich_markup_mode=None)

SessionArgument = Annotated[
    str,
    typer.Argument(
        metavar="SESSION",
        help="Id, three characters of its beginning or more, or a name",
        autocompletion=completion.sessions,
    ),
]
SessionOption = Annotated[
    str | None,
    typer.Option("--session", help="Only this session", autocompletion=completion.sessions),
]

_NEWEST = 20
"""Sessions that are listed though they are over."""
_MOST = 500
"""Sessions that are looked at."""
_STANDS = {"PAUSED": "is paused", "ERROR": "has stopped"}
_TASK_SYMBOLS = {
    "done": "✓",
    "running": "→",
    "waiting": "⏳",
    "queued": "○",
    "failed": "✗",
    "parked": "✗",
    "cancelled": "■",
    "missed": "✗",
}
_OVER = frozenset({"done", "cancelled"})
_MOST_OVER = 20
"""Tasks that are over, of those that `pcc status` lists; what is to be done is listed whole."""
_FEW = 3
"""Tasks that are named where it is said what one comes after."""


@app.command("list")
def list_sessions(
    ctx: typer.Context,
    status: Annotated[
        str | None,
        typer.Option(
            help="running, paused, rate_limited, completed, error, …",
            autocompletion=completion.one_of(*STATUSES),
        ),
    ] = None,
    project: Annotated[Path | None, typer.Option(help="Only sessions in this folder")] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=f"At most so many [default: {_NEWEST}, and what is not over]",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """
    List sessions, newest first.

    Example: pcc list --status running
    """
    wanted = None if status is None else parse_status(status).value
    with connect(ctx.obj) as daemon:
        sessions = daemon.call(
            "session.list",
            status=wanted,
            project=None if project is None else str(canonical(project)),
            limit=limit or _MOST,
        )
    if limit is None:
        found, sessions = sessions, _newest(sessions)
        if hidden := len(found) - len(sessions):
            told = f"{counted(hidden, 'older session')} not shown"
            print(f"note: {told}; to see more: pcc list --limit {len(found)}", file=sys.stderr)
    if as_json:
        print_json(sessions)
    elif not sessions and (status or project):
        print("No such session. See all of them with: pcc list")
    elif not sessions:
        print('No sessions yet. Start one with: pcc start ./project --task "…"')
    else:
        headers = ["ID", "Name", "Status", "Current Task", "Context Tokens"]
        colours = [_colour(session) for session in sessions]
        print(table(headers, [_row(session) for session in sessions], colours=colours))


def _newest(sessions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The newest, and whatever is not over: one that repeats was started long ago."""
    older = (one for one in sessions[_NEWEST:] if one["status"] not in {"COMPLETED", "STOPPED"})
    return [*sessions[:_NEWEST], *older]


def _row(session: dict[str, Any]) -> list[str]:
    symbol, word, _ = SHOWN[SessionStatus(session["status"])]
    task = fit(session["task"], 40)
    if session["resumes_at"] is not None:
        task += f"\n{goes_on(session)}: {moment(session['resumes_at'])}"
    if session["delay"]:
        task += "".join(f"\n{line}" for line in textwrap.wrap(printable(session["delay"]), 40))
    return [session["id"], fit(session["name"], 24), f"{symbol} {word}", task, _tokens(session)]


def _tokens(session: dict[str, Any]) -> str:
    """Of the context window, once it is known; of the hard limit of a perpetual session."""
    used, limits = session["tokens"], session["perpetual"]
    if limits is None:
        window = session["context_window"]
        return f"{thousands(used)}/{thousands(window)}" if window else thousands(used)
    return f"{thousands(used)}/{thousands(limits['hard_tokens'])} ∞"


def _colour(session: dict[str, Any]) -> str:
    """Of a perpetual session's tokens: seed 001's green, yellow and red."""
    used, limits = session["tokens"], session["perpetual"]
    if limits is None:
        return ""
    if used >= limits["hard_tokens"]:
        return "red"
    return "yellow" if used >= limits["warn_tokens"] else "green"


_REASON = 600
"""Characters of a decision's reason."""


@app.command()
def status(
    ctx: typer.Context,
    session: SessionArgument,
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
        found = daemon.call("session.get", session=session)
        history = daemon.call("events.tail", session=found["id"], count=30) if show_history else []
        decisions = daemon.call("decision.list", session=found["id"]) if show_decisions else []
        answers = daemon.call("answer.list", session=found["id"]) if show_decisions else []
    if as_json:
        extra = {"history": history} if show_history else {}
        extra |= {"decisions": decisions, "answers": answers} if show_decisions else {}
        print_json({**found, **extra})
        return
    print("\n".join(_detail(found)))
    if show_history:
        from perpetualcc.cli.lines import shown

        lines = [f"  {line}" for event in history for line in shown(event)]
        print("\nHistory:", *(lines or ["  nothing is on record any more"]), sep="\n")
    if show_decisions:
        home = f"{found['project']}/"
        both = [(one["at"], _decision(one, home)) for one in decisions]
        both += [(one["at"], _answered(one, home)) for one in answers]
        lines = [f"  {line}" for _, shown_as in sorted(both) for line in shown_as]
        print("\nDecisions:", *(lines or ["  none yet"]), sep="\n")


def _detail(session: dict[str, Any]) -> list[str]:
    symbol, word, colour = SHOWN[SessionStatus(session["status"])]
    started, ended = session["created_at"], time.time()
    if word in {"Completed", "Stopped"}:
        ended = session["updated_at"]
    lines = [
        f"Session: {session['id']} ({session['name']})",
        "─" * 38,
        f"Project:     {session['project']}",
        f"Status:      {coloured(f'{symbol} {word}', colour)}"
        + (f" — {fit(session['detail'], 200)}" if session["detail"] else ""),
        f"Brain:       {brain_name(session)} (confidence threshold: {session['confidence']:g})",
        f"Started:     {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(started))}",
        f"Duration:    {elapsed(ended - started)}",
    ]
    if session["resumes_at"] is not None:
        lines.append(f"{goes_on(session) + ':':<12} {moment(session['resumes_at'])}")
    if (limits := session["perpetual"]) is not None:
        lines.append(
            f"Perpetual:   iteration {session['iteration']}, hands over at"
            f" {limits['warn_tokens']:,} / {limits['hard_tokens']:,} tokens or"
            f" {limits['warn_minutes']:g} / {limits['hard_minutes']:g} minutes"
        )
    return [*lines, "", *_tasks(session["tasks"]), "", *_figures(session), *_checkpoints(session)]


def _checkpoints(session: dict[str, Any]) -> list[str]:
    """The newest three: when, why, and how many files had been written."""
    found: list[dict[str, Any]] = session["checkpoints"]
    newest = [
        f"  {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(one['at']))}  "
        f"{fit(one['reason'], 50)} ({counted(len(one['files']), 'file')})"
        for one in found[:-4:-1]
    ]
    return [f"Checkpoints: {len(found)}", *newest]


def _tasks(tasks: list[dict[str, Any]]) -> list[str]:
    lines, over = ["Tasks:"], [one["id"] for one in tasks if one["state"] in _OVER]
    if hidden := set(over[:-_MOST_OVER]):
        lines.append(f"  … {counted(len(hidden), 'task')} before that ended; all of them: --json")
    for task in tasks:
        if task["id"] in hidden:
            continue
        after = f"  (after {_named(task['after'])})" if task["after"] else ""
        priority = f"  [priority {task['priority']}]" if task["priority"] else ""
        unattended = "" if task["lane"] == "interactive" else "  [unattended]"
        is_later = task["state"] == "queued" and (task["due"] or 0) > time.time()
        begins = f"  [begins {moment(task['due'])}]" if is_later else ""
        is_ahead = is_later or (task["state"] == "queued" and task["due"] is None)
        every = f"  [every {fit(task['every'], 40)}]" if task.get("every") and is_ahead else ""
        symbol = _TASK_SYMBOLS[task["state"]]
        lines.append(
            f"  {symbol} {task['id']}  {fit(task['prompt'], 60)}"
            f"{priority}{unattended}{begins}{every}{after}"
        )
        if task.get("when") and is_ahead:
            lines.append(f"      begins when it succeeds: {fit(task['when'], 55)}")
        if task.get("plan") in {"ask", "alone"} and task["state"] not in _OVER:
            lines.append("      planned first: its tasks come before it")
        if task.get("checks") and task["state"] not in _OVER:
            lines.append(f"      proved by: {fit('; '.join(task['checks']), 65)}")
        # What the last attempt came to is no news of the one that runs.
        if task["result"] and task["state"] not in {"queued", "running"}:
            lines.append(f"      {fit(task['result'], 76)}")
    return lines


def _named(tasks: list[str]) -> str:
    return ", ".join(tasks) if len(tasks) <= _FEW else f"{', '.join(tasks[:_FEW])}, …"


def _figures(session: dict[str, Any]) -> list[str]:
    used, window, spent = session["tokens"], session["context_window"], session["spent"]
    share = f" / {window:,} ({used * 100 // window}%) of" if window else " in"
    counts: dict[str, int] = session["counts"]
    allowed = sum(n for key, n in counts.items() if key.startswith("allow/"))
    human = counts.get("allow/person", 0)
    denied = sum(n for key, n in counts.items() if key.startswith("deny/"))
    questions = session["answered"]
    by_people = questions.get("person", 0)
    by_itself = sum(questions.values()) - by_people
    return [
        f"Token Usage: {used:,}{share} the context window",
        f"In all runs: {spent['tokens']:,} tokens that were not cached, ${spent['usd']:.2f}",
        f"Questions Answered: {by_itself + by_people} ({by_itself} auto, {by_people} human)",
        f"Tools Approved: {allowed} ({allowed - human} auto, {human} human), refused: {denied}",
        f"Runs: {session['runs']}",
    ]


def _decision(one: dict[str, Any], home: str) -> list[str]:
    at = clock(one["at"])
    mark = "✓" if one["verdict"] == "allow" else "✗"
    call = f"{one['tool']} → {fit(one['summary'], 60)}"
    return [
        f"[{at}] {mark} {call}  {one['risk']}, by {one['decided_by']}",
        *(f"           {line}" for line in _whole(one["reason"], home)),
    ]


def _answered(one: dict[str, Any], home: str) -> list[str]:
    at = clock(one["at"])
    by = f"by {one['decided_by']}, confidence {one['confidence']:.2f}"
    said = [
        f"[{at}] ? {fit(question, 60)} → {fit(answer, 40)}  {by}"
        for question, answer in one["answers"].items()
    ]
    return [*said, *(f"           {line}" for line in _whole(one["reason"], home))]


def _whole(reason: str, home: str) -> list[str]:
    """
    A reason on as many lines as it needs: what it quotes comes last, and is what counts.

    `home`: the project and a slash, which go without saying.
    """
    text = printable(" ".join(reason.replace(home, "").split()))[:_REASON]
    return textwrap.wrap(text, 90, break_on_hyphens=False, break_long_words=False) or [""]


@app.command()
def add(  # noqa: PLR0917  # one parameter an option
    ctx: typer.Context,
    session: SessionArgument,
    task: Annotated[str, typer.Argument(metavar="TASK", help="What to do")],
    priority: Annotated[int, typer.Option(help="Higher is sooner")] = 0,
    after: Annotated[
        list[str] | None,
        typer.Option(
            help="Run after this task (its id or text); repeatable", autocompletion=completion.tasks
        ),
    ] = None,
    unattended: Annotated[
        bool,
        typer.Option("--unattended", help="For a quiet hour, with the budgets of unattended work"),
    ] = False,
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
    begins = said_alike(
        at=at, every=every, missed=missed, when=when, checks=check, plan=plan, yes=yes
    )
    with connect(ctx.obj) as daemon:
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
    at = begins_in_words(added["due"], added.get("when")) + (", planned first" if plan else "")
    print(f"Added {added['id']}{at}: {fit(added['prompt'], 60)}")
    if found["status"] in _STANDS:
        stands = f"The session {_STANDS[found['status']]}, and this task with it"
        print(f"note: {stands}; go on with: pcc resume {found['id']}", file=sys.stderr)


@app.command()
def pause(ctx: typer.Context, session: SessionArgument) -> None:
    """
    Pause a session after its current operation.

    Example: pcc pause abc123
    """
    with connect(ctx.obj) as daemon:
        paused = daemon.call("session.pause", session=session)
    print(f"Paused {paused['name']} ({paused['id']}). Go on with: pcc resume {paused['id']}")


@app.command()
def resume(ctx: typer.Context, session: SessionArgument) -> None:
    """
    Resume a paused session, try again what failed, or begin what was for later.

    Example: pcc resume abc123
    """
    with connect(ctx.obj) as daemon:
        tell_what_is_not_taken_over(ctx.obj)
        resumed = daemon.call("session.resume", session=session)
        waits = used_up(daemon.call("budget.show")["budgets"])
    print(f"Resumed {resumed['name']} ({resumed['id']}). Watch it with: pcc attach {resumed['id']}")
    if resumed["status"] == SessionStatus.WAITING_INPUT:
        print(f"note: Still waiting: {resumed['detail']}", file=sys.stderr)
    elif waits:
        print(f"note: {waits}", file=sys.stderr)


@app.command()
def stop(
    ctx: typer.Context,
    session: SessionArgument,
    task: Annotated[
        str | None,
        typer.Argument(
            metavar="TASK", help="Only this task (its id or text)", autocompletion=completion.tasks
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
                print(f"Left out, as it belongs to the plan of that: {_named(parts)}")
            if left_out := given_up["left_out"]:
                print(f"Left out, as it comes after that: {_named(left_out)}")
            return
        stopped = daemon.call("session.stop", session=session)
    print(f"Stopped {stopped['name']} ({stopped['id']})")


def brain_name(session: dict[str, Any]) -> str:
    return "rule-based" if session["brain"] == "none" else str(session["brain"])


def session_panel(session: dict[str, Any]) -> str:
    """The box at the top of `pcc start` and `pcc attach`."""
    word = SHOWN[SessionStatus(session["status"])][1]
    begins_now = session["status"] == SessionStatus.IDLE and not session["delay"]
    return panel(
        f"PerpetualCC Session: {session['name']}",
        [
            f"Project: {session['project']}",
            f"Brain: {brain_name(session)}",
            f"Status: {'Running' if begins_now else word}",
        ],
    )
