"""`pcc notifications`: what was sent to people, with receipts."""

import time
from typing import Annotated, Any

import typer

from perpetualcc.cli.connection import connect
from perpetualcc.cli.look import fit, print_json, table
from perpetualcc.cli.options import JsonOption
from perpetualcc.domain.times import clock, moment

app = typer.Typer(rich_markup_mode=None)


@app.command()
def notifications(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option(min=1, help="At most so many, newest first")] = 20,
    as_json: JsonOption = False,
) -> None:
    """
    List what was sent to people, with receipts.

    Example: pcc notifications --json
    """
    with connect(ctx.obj) as daemon:
        sent = daemon.call("notification.list", limit=limit)
    if as_json:
        print_json(sent)
    elif not sent:
        print("Nothing was sent yet. Try it with: pcc notify test")
    else:
        headers = ["#", "When", "Through", "State", "What"]
        print(table(headers, [_row(one) for one in sent]))


_STATES = {"moot": "not sent"}
"""Where it is not the same word; what it failed with, or why it did not leave, is below."""

_SOON = 30.0
"""Seconds: what waits longer waits for the end of the quiet hours, no longer for its like."""


def _row(one: dict[str, Any]) -> list[str]:
    state = _STATES.get(one["state"], str(one["state"]))
    if state == "queued" and one["problem"]:
        state = f"again {moment(one['due'])}"
    elif state == "queued" and one["due"] - time.time() > _SOON:
        state = f"at {moment(one['due'])}"
    what = fit(one["title"], 50)
    if one["problem"]:
        what += f"\n{fit(one['problem'], 50)}"
    return [
        str(one["id"]),
        clock(one["created_at"]),
        one["channel"],
        state,
        what,
    ]
