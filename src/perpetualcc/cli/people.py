"""`pcc pending` and `pcc respond`: what waits for a person."""

import json
import time
from typing import Annotated, Any

import typer

from perpetualcc.cli.connection import connect
from perpetualcc.cli.look import duration, fit, table
from perpetualcc.domain.errors import PerpetualError

app = typer.Typer(rich_markup_mode=None)

_TYPES = {"permission": "Perm.", "question": "Q&A", "error": "Error", "review": "Review"}


@app.command()
def pending(
    ctx: typer.Context,
    session: Annotated[str | None, typer.Option(help="Only this session")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Output as JSON")] = False,
) -> None:
    """
    List what waits for a person.

    Example: pcc pending --session abc123
    """
    with connect(ctx.obj) as daemon:
        waiting = daemon.call("escalation.list", session=session)
    if as_json:
        print(json.dumps(waiting, indent=2, ensure_ascii=False))
        return
    if not waiting:
        print("Nothing waits for you.")
        return
    print("Pending Human Decisions:")
    print(table(["#", "Session", "Type", "Question", "Waiting"], [_row(one) for one in waiting]))
    print(f'\nRespond with: pcc respond {waiting[0]["number"]} "…"')


def _row(one: dict[str, Any]) -> list[str]:
    waited = f"{duration(time.time() - one['raised_at'])} ago"
    return [
        str(one["number"]),
        one["session"],
        _TYPES.get(one["type"], one["type"]),
        fit(one["title"], 50),
        waited,
    ]


@app.command()
def respond(
    ctx: typer.Context,
    number: Annotated[int, typer.Argument(help="The number that `pcc pending` shows")],
    answer: Annotated[str | None, typer.Argument(help="The answer to a question")] = None,
    approve: Annotated[bool, typer.Option("--approve", help="Let it happen")] = False,
    deny: Annotated[bool, typer.Option("--deny", help="Do not let it happen")] = False,
) -> None:
    """
    Answer what waits for a person.

    Example: pcc respond 1 "Use PostgreSQL, it's our standard"
    """
    if approve and deny:
        raise PerpetualError("--approve and --deny contradict each other", hint="Choose one")
    if answer is None and not approve and not deny:
        raise PerpetualError(
            "There is no answer", hint=f'pcc respond {number} "…", --approve or --deny'
        )
    verdict = None if not (approve or deny) else approve
    with connect(ctx.obj) as daemon:
        daemon.call("escalation.respond", number=number, text=answer, approve=verdict)
    print(f"Answered request {number}.")
