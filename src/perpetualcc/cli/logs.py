"""`pcc logs`: a session's events as lines, past or live."""

import json
import sys
from typing import Annotated

import typer

from perpetualcc.cli import completion
from perpetualcc.cli.connection import connect
from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.history import NOTHING_LEFT, last_events, refuse_broken
from perpetualcc.cli.lines import shown
from perpetualcc.cli.options import Detail
from perpetualcc.cli.sessions import SessionArgument

app = typer.Typer(rich_markup_mode=None)

_LEVELS = ["debug", "info", "warn", "error"]


@app.command()
def logs(
    ctx: typer.Context,
    session: SessionArgument,
    tail: Annotated[int, typer.Option(min=1, help="Show the last N events")] = 50,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on, live")] = False,
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
    with connect(ctx.obj) as daemon:
        past = last_events(daemon, session, tail, levels=levels)
        if not past and not daemon.call("events.tail", session=session, count=1):
            print(NOTHING_LEFT, file=sys.stderr)
        for event in past:
            _print(event, detail, as_json=as_json)
        if not follow:
            return
        since = past[-1]["seq"] if past else 0
        daemon.call("events.follow", session=session, since=since)
        try:
            for pushed in daemon.events():
                refuse_broken(pushed)
                if pushed.data["level"] in levels:
                    _print(pushed.data, detail, as_json=as_json)
        except KeyboardInterrupt:
            return


def _print(event: dict[str, object], detail: Detail, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(event, ensure_ascii=False), flush=True)
        return
    if lines := shown(event, detail):
        print("\n".join(lines), flush=True)
