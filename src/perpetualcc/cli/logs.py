"""`pcc logs`: a session's events as lines, past or live."""

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any

import typer

from perpetualcc.cli import completion
from perpetualcc.cli.connection import connect
from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.history import NOTHING_LEFT, last_events, refuse_broken
from perpetualcc.cli.look import hung
from perpetualcc.cli.options import Detail, FollowOption, GlobalOptions, LookedAtArgument
from perpetualcc.cli.telling import Telling
from perpetualcc.cli.which_session import the_session

app = typer.Typer(rich_markup_mode=None)

_LEVELS = ["debug", "info", "warn", "error"]


@app.command()
def logs(
    ctx: typer.Context,
    session: LookedAtArgument = None,
    tail: Annotated[int, typer.Option(min=1, help="Show the last N events")] = 50,
    follow: FollowOption = False,
    level: Annotated[
        str,
        typer.Option(
            help="From this level on: debug|info|warn|error",
            autocompletion=completion.one_of(*_LEVELS),
        ),
    ] = "info",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line")] = False,
) -> None:
    """
    Show a session's log.

    Example: pcc logs abc123 --tail 20 --follow
    """
    if level not in _LEVELS:
        raise Mistyped(f"No level is called {level!r}", hint=f"Levels: {', '.join(_LEVELS)}")
    levels = _LEVELS[_LEVELS.index(level) :]
    # Events without a line of their own are for who looks for a fault.
    detail = Detail.VERBOSE if level == "debug" else Detail.NORMAL

    def show(event: dict[str, Any]) -> None:
        if event["level"] in levels:
            _print(event, telling, as_json=as_json)

    with connect(ctx.obj) as daemon:
        meant = the_session(daemon, session, "pcc logs")
        project: str = daemon.call("session.get", session=meant)["project"]
        telling = Telling(detail, project=project)
        past = last_events(daemon, meant, tail, levels=levels)
        if not past and not daemon.call("events.tail", session=meant, count=1):
            print(NOTHING_LEFT, file=sys.stderr)
        for event in past:
            show(event)
    if follow:
        with suppress(KeyboardInterrupt):
            _follow(ctx.obj, meant, past[-1]["seq"] if past else 0, show)


def _follow(
    options: GlobalOptions, session: str, since: int, show: Callable[[dict[str, Any]], None]
) -> None:
    """Across restarts of the engine, as `pcc attach` does, until the person leaves."""
    from perpetualcc.gateway.client import ConnectionLost

    while True:
        with connect(options, undo_stop=False) as daemon, suppress(ConnectionLost):
            daemon.call("events.follow", session=session, since=since)
            for pushed in daemon.events():
                refuse_broken(pushed)
                since = pushed.data["seq"]
                show(pushed.data)


def _print(event: dict[str, object], telling: Telling, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(event, ensure_ascii=False), flush=True)
        return
    if lines := telling.lines(event):
        print("\n".join(map(hung, lines)), flush=True)
