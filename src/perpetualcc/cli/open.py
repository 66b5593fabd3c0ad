"""`pcc open`: a session's conversation in Claude Code itself, in this terminal."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from perpetualcc.cli.connection import connect
from perpetualcc.cli.look import printable, tell
from perpetualcc.cli.options import GlobalOptions, session_argument
from perpetualcc.cli.patience import said_if_long
from perpetualcc.cli.typist import only_a_person
from perpetualcc.cli.which_session import the_session
from perpetualcc.domain.errors import PerpetualError
from perpetualcc.domain.session_status import SessionStatus

app = typer.Typer(rich_markup_mode=None)

_S = SessionStatus
_GOES_ON = frozenset({_S.IDLE, _S.PROCESSING, _S.WAITING_INPUT, _S.RATE_LIMITED})
"""Those that would go on with the conversation below one's hands."""
_LOOK = 0.3
"""Seconds between two looks whether its current operation is over."""


@app.command("open")
def open_session(
    ctx: typer.Context,
    session: Annotated[
        str | None, session_argument(or_else="the only one that is not over")
    ] = None,
) -> None:
    """
    Go on with a session yourself: its conversation, in Claude Code, in this terminal.

    It is paused meanwhile. When you leave Claude Code it goes on where you left, if you say so.

    Example: pcc open dark-mode
    """
    from perpetualcc.claude.binary import chosen_claude
    from perpetualcc.config.file import load_config

    only_a_person("takes a session over")
    if not sys.stdin.isatty():
        raise PerpetualError("Claude Code needs a terminal", hint="Type it in one")
    binary = chosen_claude(load_config().claude.path)
    with connect(ctx.obj) as daemon:
        found = daemon.call("session.get", session=the_session(daemon, session, "pcc open"))
        _refuse_without_conversation(found)
        is_ours = SessionStatus(found["status"]) in _GOES_ON
        if is_ours:
            daemon.call("session.pause", session=found["id"])
    _wait_until_it_rests(ctx.obj, found)
    if is_ours:
        print(f"Paused {_who(found)}; it goes on when you leave Claude Code and say so")
    _in_claude_code(binary, found)
    _go_on(ctx.obj, found["id"], asks=is_ours)


def _refuse_without_conversation(session: dict[str, Any]) -> None:
    from perpetualcc.claude.transcripts import transcript_of
    from perpetualcc.config import environment
    from perpetualcc.domain.errors import ProjectGoneError

    if not session["conversation"]:
        raise PerpetualError(
            f"Session {session['name']!r} has no conversation yet",
            hint=f"Watch it begin: pcc attach {session['id']}",
        )
    if not Path(session["project"]).is_dir():
        raise ProjectGoneError(Path(session["project"]))
    if transcript_of(session["conversation"], environment()) is None:
        raise PerpetualError(
            f"The conversation {session['conversation']} is not among those of this terminal's"
            " Claude Code",
            hint="Was the daemon started with another CLAUDE_CONFIG_DIR or HOME?",
        )


def _wait_until_it_rests(options: GlobalOptions, session: dict[str, Any]) -> None:
    """Two that write one conversation would tear it."""
    with said_if_long("Waiting until its current operation is over"), connect(options) as daemon:
        while any(
            one["id"] == session["id"]
            for one in daemon.call("folder.at_work", folder=session["project"])
        ):
            time.sleep(_LOOK)


def _in_claude_code(binary: Path, session: dict[str, Any]) -> None:
    """A Ctrl+C is Claude Code's: Python would kill it for ours."""
    before = signal.signal(signal.SIGINT, lambda _number, _frame: None)
    try:
        subprocess.call([binary, "--resume", session["conversation"]], cwd=session["project"])
    finally:
        signal.signal(signal.SIGINT, before)


def _go_on(options: GlobalOptions, session: str, *, asks: bool) -> None:
    """It may have been resumed, or stopped, from elsewhere meanwhile."""
    with connect(options) as daemon:
        now = daemon.call("session.get", session=session)
        if now["status"] != _S.PAUSED:
            return
        if asks and typer.confirm(f"Let {printable(now['name'])} go on?", default=True):
            resumed = daemon.call("session.resume", session=session)
            print(f"Resumed {_who(now)}. Watch it with: pcc attach {session}")
            if resumed["status"] == _S.WAITING_INPUT:
                tell(f"note: Still waiting: {resumed['detail']}")
            return
    print(f"{_who(now)} is paused. Go on with: pcc resume {session}")


def _who(session: dict[str, Any]) -> str:
    return f"{printable(session['name'])} ({session['id']})"
