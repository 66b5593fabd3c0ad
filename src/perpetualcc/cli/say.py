"""`pcc say`: a word to a Claude at work, which goes on working."""

import sys
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from perpetualcc.cli import completion
from perpetualcc.cli.connection import connect
from perpetualcc.cli.ending import Mistyped
from perpetualcc.cli.look import one_line, print_json
from perpetualcc.cli.options import GlobalOptions, JsonOption
from perpetualcc.cli.typist import only_a_person
from perpetualcc.cli.which_session import the_session
from perpetualcc.domain.session_status import SessionStatus
from perpetualcc.domain.texts import cut
from perpetualcc.domain.times import moment
from perpetualcc.domain.words import LONGEST

if TYPE_CHECKING:
    from perpetualcc.gateway.client import Client

app = typer.Typer(rich_markup_mode=None)

_S = SessionStatus
_NOT_OVER = tuple(one for one in _S if one not in {_S.COMPLETED, _S.STOPPED})
_TRIES = 3
"""With the same key: it is said once, however often the daemon goes away meanwhile."""


def _sessions(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """For the first word; the second is what is said."""
    offered = completion.sessions(*_NOT_OVER)
    return [] if ctx.params.get("words") else offered(ctx, incomplete)


@app.command()
def say(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SESSION] TEXT",
            help=f"The session's id or name, unless there is only one, and what to say (at most"
            f" {LONGEST:,} characters); - reads it from the standard input",
            show_default=False,
            autocompletion=_sessions,
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """
    Say something to a Claude at work, without stopping it.

    It reaches Claude at its next step; where nothing runs, with the prompt the work goes on with.

    Example: pcc say abc123 "Use the v2 endpoint, not v1"
    """
    session, text = _meant(words or [])
    only_a_person("speaks to a session: what is said counts as theirs")
    found = _said(ctx.obj, session, sys.stdin.read(LONGEST * 8) if text == "-" else text)
    if as_json:
        print_json(found)
        return
    print(f"Said to {found['name']}: {cut(one_line(found['text']), 60)}")
    print(outlook(found))


def _meant(words: list[str]) -> tuple[str | None, str]:
    """The session, if one is named, and the text."""
    match words:
        case [text]:
            return None, text
        case [session, text]:
            return session, text
        case []:
            raise Mistyped("There is nothing to say", hint='pcc say SESSION "…"')
        case _:
            raise Mistyped(
                "What to say is one text, and these are several",
                hint=f'Put it in quotes: pcc say {words[0]} "{" ".join(words[1:])}"',
            )


def _said(options: GlobalOptions, session: str | None, text: str) -> dict[str, Any]:
    from perpetualcc.gateway.client import ConnectionLost

    key = new_key()
    for left in reversed(range(_TRIES)):
        try:
            with connect(options) as daemon:
                session = session or _the_only_one(daemon, text)
                return say_to(daemon, session, text, key)
        except ConnectionLost:
            if not left:
                raise
    raise AssertionError


def _the_only_one(daemon: "Client", text: str) -> str:
    """Raises Mistyped: it can be several, or the text names a session and says nothing to it."""
    found = daemon.call("session.list", status=None, project=None, limit=100)
    if any(text in {one["id"], one["name"]} for one in found):
        raise Mistyped("There is nothing to say", hint=f'pcc say {text} "…"')
    try:
        return the_session(daemon, None, "pcc say")
    except Mistyped as error:
        is_named = str(error.hint).startswith("pcc say")
        raise Mistyped(
            error.message, hint=f'{error.hint} "…"' if is_named else error.hint
        ) from None


def new_key() -> str:
    return str(uuid.uuid4())


def say_to(daemon: "Client", session: str, text: str, key: str) -> dict[str, Any]:
    """Twice with one key is once. Raises PerpetualError: nobody is there, or it is too long."""
    found: dict[str, Any] = daemon.call("session.say", session=session, text=text, key=key)
    return found


def outlook(said: Mapping[str, Any]) -> str:
    """When it reaches Claude, in a sentence, and what to type where that depends on a person."""
    session, detail = said["session"], one_line(str(said["detail"]))
    answer = detail or f"see what it asks with: pcc pending --session {session}"
    match said["status"]:
        case _S.WAITING_INPUT if said["is_at_work"]:
            return f"It reaches Claude at its next step, once that is free: {answer}"
        case _S.WAITING_INPUT:
            return f"It waits until the session goes on: {answer}"
        case _S.RATE_LIMITED:
            until = f" until {moment(said['resumes_at'])}" if said["resumes_at"] else ""
            return f"It waits until the session goes on (limit{until})."
        case _S.PAUSED | _S.ERROR:
            return f"It waits until the session goes on: pcc resume {session}"
        case _ if said["is_at_work"]:
            return "It reaches Claude at its next step."
        case _ if said["resumes_at"]:
            return f"It waits until the session goes on ({moment(said['resumes_at'])})."
        case _:
            return "It waits for the session's next run, and is a part of its prompt."
